/** A data folder for the commands of one test, with what they have in common. */
import { join } from 'node:path';
import { manyCommands } from '../../support/many-commands.js';
import type { ManyCommands } from '../../support/many-commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runCoordinator } from './run-coordinator.js';
import type { Run, RunOptions } from './run-coordinator.js';

export interface DataFolder {
  readonly path: string;
  /**
   * Runs a command, given as it is typed, on this folder: in one process with the others of the
   * test, or alone where it has an input, an environment or a script of its own.
   */
  run(command: string, options?: RunOptions): Promise<Run>;
  /** Runs a command in a process of its own, for tests of what that does. */
  alone(command: string, options?: RunOptions): Promise<Run>;
  /** Runs a command that must succeed, and returns what it printed. */
  output(command: string, options?: RunOptions): Promise<string>;
  /** The same for a command that prints JSON. */
  json(command: string): Promise<unknown>;
}

export async function dataFolder(): Promise<DataFolder> {
  const path = join(await temporaryFolder(), 'data');
  const words = (command: string): string[] => [...command.split(' '), '--data', path];
  let many: ManyCommands | undefined;
  const alone = (command: string, options?: RunOptions): Promise<Run> =>
    runCoordinator(words(command), options);
  const run = (command: string, options?: RunOptions): Promise<Run> => {
    if (options !== undefined) return alone(command, options);
    many ??= manyCommands('gateway-coordinator');
    return many.run(words(command));
  };
  const output = async (command: string, options?: RunOptions): Promise<string> => {
    const { code, stdout, stderr } = await run(command, options);
    if (code !== 0) throw new Error(`"${command}" exited ${code}: ${stderr}`);
    return stdout.trimEnd();
  };
  return {
    path,
    run,
    alone,
    output,
    json: async (command) => JSON.parse(await output(`${command} --json`)),
  };
}
