/** One run of ffmpeg: bounded in time, and heard only where it fails. */
import { spawn } from 'node:child_process';
import { killChild } from '@inference-gateway/shared/program/kill-child';
import { LocalFailure } from '../backends/backend.js';
import { readComplaint } from './ffmpeg-complaint.js';
import type { Complaint } from './ffmpeg-complaint.js';

export interface FfmpegRun {
  readonly path: string;
  readonly args: readonly string[];
  /** It runs there, so that its arguments and messages name no folder of this machine. */
  readonly folder: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Null where it did well, else what it complained of. Throws a `LocalFailure` where it could not
 * do its work, or what the signal was aborted with.
 */
export async function runFfmpeg(run: FfmpegRun): Promise<Complaint | null> {
  const { path, args, folder, limitMs, signal } = run;
  signal.throwIfAborted();
  const child = spawn(path, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: HAS_GROUPS,
    windowsHide: true,
  });
  const stop = (): void => kill(child);
  const timer = setTimeout(stop, limitMs);
  signal.addEventListener('abort', stop, { once: true });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(-MAX_TOLD_CHARACTERS);
  });
  try {
    const code = await exitCode(child);
    return code === 0 ? null : readComplaint(told, code);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const MAX_TOLD_CHARACTERS = 4_096;
/** So long may something else that it started keep its messages open once it is gone. */
const EXIT_GRACE_MS = 500;
/** Where ffmpeg is a script that starts the real one, both are stopped: they are one group. */
const HAS_GROUPS = process.platform !== 'win32';

type Child = ReturnType<typeof spawn>;

function kill(child: Child): void {
  if (!HAS_GROUPS || child.pid === undefined) return killChild(child);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of them are gone already.
  }
}

/** Waits until the process is gone, so that its files can be removed on Windows, too. */
function exitCode(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    // Its message would name the program's path.
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(failure(`could not be started (${error.code ?? error.name})`));
    });
    let grace: NodeJS.Timeout | undefined;
    child.once('exit', () => {
      grace = setTimeout(() => {
        kill(child);
        child.stderr?.destroy();
      }, EXIT_GRACE_MS);
    });
    child.once('close', (code) => {
      clearTimeout(grace);
      if (code === null) reject(failure('was stopped, or took too long'));
      else resolve(code);
    });
  });
}

function failure(what: string): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `ffmpeg ${what}. See whether it runs on its machine.`);
}
