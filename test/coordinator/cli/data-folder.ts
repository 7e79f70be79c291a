/** A data folder for the commands of one test, with what they have in common. */
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runCoordinator } from './run-coordinator.js';
import type { Run, RunOptions } from './run-coordinator.js';

export interface DataFolder {
  readonly path: string;
  /** Runs a command, given as it is typed, on this folder. */
  run(command: string, options?: RunOptions): Promise<Run>;
  /** Runs a command that must succeed, and returns what it printed. */
  output(command: string, options?: RunOptions): Promise<string>;
  /** The same for a command that prints JSON. */
  json(command: string): Promise<unknown>;
}

export async function dataFolder(): Promise<DataFolder> {
  const path = join(await temporaryFolder(), 'data');
  const run = (command: string, options: RunOptions = {}): Promise<Run> =>
    runCoordinator([...command.split(' '), '--data', path], options);
  const output = async (command: string, options: RunOptions = {}): Promise<string> => {
    const { code, stdout, stderr } = await run(command, options);
    if (code !== 0) throw new Error(`"${command}" exited ${code}: ${stderr}`);
    return stdout.trimEnd();
  };
  return {
    path,
    run,
    output,
    json: async (command) => JSON.parse(await output(`${command} --json`)),
  };
}
