/**
 * Runs the real programs as processes of their own; whatever still runs is killed after the test.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from './until.js';

/** Starting takes a second; on a machine that runs many tests at once, several. */
const START_TIMEOUT_MS = 30_000;

export type ProgramName = 'gateway-agent' | 'gateway-coordinator';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly child: ChildProcess;
  /** Grows as the program prints. */
  readonly output: { stdout: string; stderr: string };
  readonly finished: Promise<Finished>;
  /** Resolves with the first group of the pattern once stdout matches it. */
  printed(pattern: RegExp): Promise<string>;
}

/** A script of the tests that runs a program after having changed something about it. */
export interface Script {
  readonly file: URL;
  /** For the script; the program's own come behind them. */
  readonly args: readonly string[];
}

export interface RunOptions {
  /** Runs it in place of the program's own file. */
  readonly script?: Script | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** For stdin, which is closed behind it; null leaves it open for the test to write. */
  readonly input?: string | null;
}

/** Starts a program in an environment that holds nothing but PATH and what is given. */
export function startProgram(
  name: ProgramName,
  args: readonly string[],
  { script = ownScript(name), env = {}, input = '' }: RunOptions = {},
): RunningProgram {
  const child = spawn(process.execPath, [fileURLToPath(script.file), ...script.args, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  if (input !== null) child.stdin.end(input);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const finished = new Promise<Finished>((done) => {
    child.once('close', (code) => done({ code, ...output }));
  });
  onTestFinished(async () => {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await finished;
  });
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const printed = async (pattern: RegExp): Promise<string> => {
    await until(() => pattern.test(output.stdout) || hasEnded(), { timeoutMs: START_TIMEOUT_MS });
    const match = pattern.exec(output.stdout);
    if (match === null) throw new Error(`${name} ended: ${output.stderr}`);
    return match[1] ?? '';
  };
  return { child, output, finished, printed };
}

function ownScript(name: ProgramName): Script {
  const path = `../../packages/${name.replace('gateway-', '')}/bin/${name}.js`;
  return { file: new URL(path, import.meta.url), args: [] };
}

/** Runs a program to its end. */
export function runProgram(
  name: ProgramName,
  args: readonly string[],
  options?: RunOptions,
): Promise<Finished> {
  return startProgram(name, args, options).finished;
}
