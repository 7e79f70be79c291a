/**
 * The processes of a bench: started with a line that says that they are ready, and all stopped at
 * the end.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const READY_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 10_000;
const LOG_TAIL_CHARACTERS = 2_000;

const running: ChildProcess[] = [];

export interface Command {
  /** Node runs it, unless `program` says otherwise. */
  readonly args: readonly string[];
  readonly program?: string;
  /** The line of stdout that says that it is ready; its first group is handed on. */
  readonly ready: RegExp;
  readonly env?: Readonly<Record<string, string>>;
  /** Where its log goes, as with a real installation. */
  readonly log: string;
}

export interface Started {
  readonly pid: number;
  readonly ready: string;
}

/** Starts a process and waits until it is ready. */
export async function start(command: Command): Promise<Started> {
  const child = spawn(command.program ?? process.execPath, command.args, {
    env: { ...process.env, ...command.env },
    stdio: ['ignore', 'pipe', openSync(command.log, 'a')],
  });
  running.push(child);
  const ready = await readyLine(child, command);
  return { pid: child.pid ?? 0, ready };
}

/** Runs a command to its end; its stdout, trimmed. */
export async function runToEnd(args: readonly string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: 'pipe' });
  let output = '';
  let talk = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (talk += text));
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`"${args.join(' ')}" exited ${String(code)}: ${talk}`);
  return output.trim();
}

/** The newest first, so that no process loses a server that it still uses. */
export async function stopAll(): Promise<void> {
  for (const child of running.splice(0).toReversed()) await stop(child);
}

/** A file of the repository, from its root. */
export function repositoryFile(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(force);
}

function readyLine(child: ChildProcess, { args, ready, log }: Command): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      const lastLines = readFileSync(log, 'utf8').slice(-LOG_TAIL_CHARACTERS);
      reject(new Error(`"${args.join(' ')}" ${reason}. Its log ends:\n${lastLines}`));
    };
    const late = setTimeout(() => fail('was not ready in time'), READY_TIMEOUT_MS);
    const onExit = (code: number | null): void => fail(`exited ${String(code)}`);
    child.once('error', (error) => fail(error.message)).once('exit', onExit);
    if (child.stdout === null) return;
    // The pipe stays read, so that a talkative program never waits for us.
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = ready.exec(line);
      if (match === null) return;
      clearTimeout(late);
      child.off('exit', onExit);
      resolve(match[1] ?? '');
    });
  });
}
