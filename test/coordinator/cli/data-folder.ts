/** A data folder for the commands of one test, with what they have in common. */
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runAlone, runCoordinator } from './run-coordinator.js';
import type { Run, RunOptions } from './run-coordinator.js';

export interface DataFolder {
  readonly path: string;
  /**
   * Runs a command, given as it is typed, on this folder, in a process of its own if it has an
   * input or a script.
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
  const run = (command: string, options?: RunOptions): Promise<Run> =>
    runCoordinator(words(command), options);
  const output = async (command: string, options?: RunOptions): Promise<string> => {
    const { code, stdout, stderr } = await run(command, options);
    if (code !== 0) throw new Error(`"${command}" exited ${code}: ${stderr}`);
    return stdout.trimEnd();
  };
  return {
    path,
    run,
    alone: (command, options) => runAlone(words(command), options),
    output,
    json: async (command) => JSON.parse(await output(`${command} --json`)),
  };
}
