/** The commands of a program, read from its own command tree, so that tests leave none out. */
import * as agent from '@inference-gateway/agent/cli/program';
import * as coordinator from '@inference-gateway/coordinator/cli/program';
import type { ProgramName } from './bundled-programs.js';

const CREATE = {
  'gateway-agent': agent.createProgram,
  'gateway-coordinator': coordinator.createProgram,
};

type Command = ReturnType<typeof agent.createProgram>;

export interface TreeCommand {
  /** The words of the command: `key create`. */
  readonly name: string;
  readonly command: Command;
}

/** The commands that do something; a noun alone does nothing. */
export function leafCommands(name: ProgramName): TreeCommand[] {
  return below(CREATE[name]()).filter(({ command }) => command.commands.length === 0);
}

/** The nouns, which need a verb. */
export function nounCommands(name: ProgramName): TreeCommand[] {
  return below(CREATE[name]()).filter(({ command }) => command.commands.length > 0);
}

function below(command: Command, words: readonly string[] = []): TreeCommand[] {
  return command.commands.flatMap((one) => {
    const path = [...words, one.name()];
    return [{ name: path.join(' '), command: one }, ...below(one, path)];
  });
}

/** The example command line of its help, without the program's name. */
export function exampleOf({ command }: TreeCommand): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return /Example:\n {2}\S+ (.*)/.exec(help)?.[1] ?? '';
}
