/** The real `gateway-coordinator` as a process of its own. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from '../../support/until.js';

const PROGRAM = fileURLToPath(
  new URL('../../../packages/coordinator/bin/gateway-coordinator.js', import.meta.url),
);

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a command to its end. */
export async function runCoordinator(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Run> {
  const child = launch(args, options.env);
  child.stdin.end(options.input ?? '');
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

export interface StartedCoordinator {
  readonly process: ChildProcess;
  readonly address: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Waits for its end and returns its exit code. */
  readonly ended: () => Promise<number | null>;
}

/** Runs `start` on a free port and waits until it is ready; it is killed with the test. */
export async function startCoordinatorProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<StartedCoordinator> {
  const child = launch(['start', '--port', '0', ...args], env);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const closed = once(child, 'close') as Promise<[number | null]>;
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const address = await until(() => /^listening on (\S+)\n/.exec(stdout)?.[1], {
    timeoutMs: 15_000,
  });
  const ended = (): Promise<number | null> => closed.then(([code]) => code);
  return { process: child, address, stdout: () => stdout, stderr: () => stderr, ended };
}

function launch(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GATEWAY_'));
  return spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: 'pipe',
  });
}
