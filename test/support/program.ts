/** Runs the real programs in separate processes; those still running after the test are killed. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { programFile } from './bundled-programs.js';
import type { ProgramName } from './bundled-programs.js';
import { until } from './until.js';

/** A start takes a second, or several on a machine that runs many tests at once. */
const START_TIMEOUT_MS = 30_000;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProgram {
  readonly child: ChildProcessWithoutNullStreams;
  /** Grows as the program prints. */
  readonly output: { stdout: string; stderr: string };
  readonly finished: Promise<Finished>;
  /** Resolves with the first group of the pattern once stdout matches it. */
  printed(pattern: RegExp): Promise<string>;
}

/** A program that its caller must end. */
export interface OpenProgram extends RunningProgram {
  kill(): Promise<void>;
}

/** A test script that changes something and then runs a program. */
export interface Script {
  readonly file: URL;
  /** Arguments of the script; the program's follow. */
  readonly args: readonly string[];
}

export interface RunOptions {
  /** Runs instead of the program's own file. */
  readonly script?: Script | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed; null leaves stdin open for the test to write. */
  readonly input?: string | null;
}

/** Starts a program whose environment is only PATH and `env`. */
export function startProgram(
  name: ProgramName,
  args: readonly string[],
  options?: RunOptions,
): RunningProgram {
  const program = openProgram(name, args, options);
  onTestFinished(() => program.kill());
  return program;
}

/** The same beyond one test: the caller must end it. */
export function openProgram(
  name: ProgramName,
  args: readonly string[],
  { script = ownScript(name), env = {}, input = '' }: RunOptions = {},
): OpenProgram {
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
  const kill = async (): Promise<void> => {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await finished;
  };
  const printed = async (pattern: RegExp): Promise<string> => {
    await until(() => pattern.test(output.stdout) || hasEnded({ child }), {
      timeoutMs: START_TIMEOUT_MS,
    });
    const match = pattern.exec(output.stdout);
    if (match === null) throw new Error(`${name} ended: ${output.stderr}`);
    return match[1] ?? '';
  };
  return { child, output, finished, printed, kill };
}

export function hasEnded({ child }: Pick<RunningProgram, 'child'>): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function ownScript(name: ProgramName): Script {
  return { file: pathToFileURL(programFile(name)), args: [] };
}

/** Runs a program to its end. */
export function runProgram(
  name: ProgramName,
  args: readonly string[],
  options?: RunOptions,
): Promise<Finished> {
  return startProgram(name, args, options).finished;
}
