/** One run of ffmpeg: bounded in time, and heard only where it fails. */
import { spawn } from 'node:child_process';
import { LocalFailure } from '../backends/backend.js';

export interface FfmpegRun {
  readonly path: string;
  readonly args: readonly string[];
  /** It runs there, so that its arguments and messages name no folder of this machine. */
  readonly folder: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Null where it did well, else what it said of the file. Throws a `LocalFailure` where it could not
 * do its work, or what the signal was aborted with.
 */
export async function runFfmpeg(run: FfmpegRun): Promise<string | null> {
  const { path, args, folder, limitMs, signal } = run;
  signal.throwIfAborted();
  const child = spawn(path, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  });
  const stop = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(stop, limitMs);
  signal.addEventListener('abort', stop, { once: true });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-MAX_TOLD_CHARACTERS);
  });
  try {
    const code = await exitCode(child);
    return code === 0 ? null : lastLine(told) || `exit code ${code}`;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const MAX_TOLD_CHARACTERS = 4_096;
const MAX_LINE_CHARACTERS = 300;

/** Waits until the process is gone, so that its files can be removed on Windows, too. */
function exitCode(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    // Its message would name the program's path.
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(failure(`could not be started (${error.code ?? error.name})`));
    });
    child.once('close', (code) => {
      if (code === null) reject(failure('was stopped, or took too long'));
      else resolve(code);
    });
  });
}

function failure(what: string): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `ffmpeg ${what}. See whether it runs on its machine.`);
}

/** Without the address of the part that speaks: `[mov @ 0x55f] moov atom not found`. */
function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1) ?? '';
  return line.replace(/^\[[^\]]* @ 0x[^\]]*\]\s*/, '').slice(0, MAX_LINE_CHARACTERS);
}
