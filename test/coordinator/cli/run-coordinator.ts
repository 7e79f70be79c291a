/** Runs the real `gateway-coordinator`. */
import type { ChildProcess } from 'node:child_process';
import { runProgram, startProgram } from '../../support/program.js';
import { runCommand } from '../../support/run-command.js';
import type { Finished, RunOptions } from '../../support/program.js';

export type Run = Finished;
export type { RunOptions };

/** Runs a command to its end, as `runCommand` does. */
export function runCoordinator(args: readonly string[], options?: RunOptions): Promise<Run> {
  return runCommand('gateway-coordinator', args, options);
}

/** Runs a command to its end in its own process. */
export function runAlone(args: readonly string[], options?: RunOptions): Promise<Run> {
  return runProgram('gateway-coordinator', args, options);
}

export interface StartedCoordinator {
  readonly process: ChildProcess;
  readonly address: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits for the end of the process and returns its exit code. */
  readonly ended: () => Promise<number | null>;
}

/** Runs `start` on a free port and waits until it is ready; the test's end kills it. */
export async function startCoordinatorProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedCoordinator> {
  const program = startProgram('gateway-coordinator', ['start', '--port', '0', ...args], { env });
  const address = await program.printed(/^listening on (\S+)\n/);
  return {
    process: program.child,
    address,
    stdout: () => program.output.stdout,
    stderr: () => program.output.stderr,
    ended: async () => (await program.finished).code,
  };
}
