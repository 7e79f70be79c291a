/** A data folder, and functions that run commands on it, for one test. */
import { join } from 'node:path';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runAlone, runCoordinator } from './run-coordinator.js';
import type { Run, RunOptions } from './run-coordinator.js';

export interface DataFolder {
  readonly path: string;
  /** Runs a command line on this folder, in its own process if it has an input or a script. */
  run(command: string, options?: RunOptions): Promise<Run>;
  /** Runs a command in its own process, for tests of the process itself. */
  alone(command: string, options?: RunOptions): Promise<Run>;
  /** Runs a command that must succeed, and returns what it printed. */
  output(command: string, options?: RunOptions): Promise<string>;
  /** Runs a command that must succeed, with `--json`, and returns what it printed, parsed. */
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
