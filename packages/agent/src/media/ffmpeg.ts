/**
 * Converts audio with the ffmpeg of the owner's machine. The files are untrusted: the agent tells
 * ffmpeg which format to read, so that a disguised playlist cannot make it open addresses or other
 * files.
 */
import { execFile, spawn } from 'node:child_process';
import { resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import { killChild } from '@inference-gateway/shared/program/kill-child';
import { LocalFailure } from '../backends/backend.js';
import {
  CONVERT_TIMEOUT_MS,
  ConversionError,
  INPUT,
  MAX_OUTPUT_BYTES,
  OUTPUT,
  convertInFolder,
} from './audio-converter.js';
import type { AudioConverter, Converted, SoundTarget } from './audio-converter.js';
import { sweepScratchFolders } from './scratch-folder.js';

const FIND_TIMEOUT_MS = 5_000;

/** Null if it is not installed: `configured`, or else the one in PATH, does not run. */
export async function findFfmpeg(configured?: string | null): Promise<Ffmpeg | null> {
  await sweepScratchFolders();
  const named = configured ?? 'ffmpeg';
  const path = named.includes(sep) || named.includes('/') ? resolve(named) : named;
  const told = await answer(path, '-version').catch(() => null);
  if (told === null) return null;
  const encoders = await answer(path, '-encoders').catch(() => '');
  const version = /^ffmpeg version (\S+)/.exec(told)?.[1] ?? null;
  return new Ffmpeg(path, { makesOpus: OPUS_ENCODER.test(encoders), version });
}

const OPUS_ENCODER = /\blibopus\b/;

async function answer(path: string, question: string): Promise<string> {
  const limits = { timeout: FIND_TIMEOUT_MS, windowsHide: true };
  return (await promisify(execFile)(path, ['-hide_banner', question], limits)).stdout;
}

interface FfmpegBuild {
  readonly makesOpus?: boolean;
  readonly version?: string | null;
}

export class Ffmpeg implements AudioConverter {
  readonly path: string;
  readonly makesOpus: boolean;
  /** Null if it does not report it. */
  readonly version: string | null;

  constructor(path: string, { makesOpus = true, version = null }: FfmpegBuild = {}) {
    this.path = path;
    this.makesOpus = makesOpus;
    this.version = version;
  }

  async convert(
    input: AsyncIterable<Uint8Array>,
    to: SoundTarget,
    signal: AbortSignal,
  ): Promise<Converted> {
    if (to === 'opus' && !this.makesOpus) throw new LocalFailure('LOCAL_ERROR', NO_OPUS);
    return convertInFolder({ input, to, signal }, async ({ folder, format }) => {
      const args = [...readArgs(format), ...TARGETS[to], ...WRITE_ARGS];
      const run = { path: this.path, args, folder, limitMs: CONVERT_TIMEOUT_MS, signal };
      const complaint = await runFfmpeg(run);
      if (complaint !== null) throw failureOf(complaint);
    });
  }
}

/** ffmpeg's names of the audio formats. */
const DEMUXERS: Partial<Record<MediaFormat, string>> = {
  wav: 'wav',
  mp3: 'mp3',
  aac: 'aac',
  flac: 'flac',
  ogg: 'ogg',
  mp4: 'mov',
  webm: 'matroska',
};

const TARGETS = {
  wav: ['-c:a', 'pcm_s16le', '-f', 'wav'],
  opus: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'ogg'],
  wav16k: ['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le', '-f', 'wav'],
} as const satisfies Record<SoundTarget, readonly string[]>;

const NO_OPUS =
  'ffmpeg was built without libopus, and makes no Opus. Install a build that has libopus.';

function failureOf({ about, text }: Complaint): LocalFailure {
  if (about === 'input') return new ConversionError(text);
  return new LocalFailure(
    'LOCAL_ERROR',
    `ffmpeg failed: ${text}. See whether it runs on its machine.`,
  );
}

const QUIET = '-nostdin -hide_banner -loglevel error -y';

/** Without pictures and metadata. */
const FIRST_SOUND = '-map 0:a:0 -map_metadata -1 -bitexact';

/** Limits the output's size. */
const WRITE_ARGS = ['-fs', String(MAX_OUTPUT_BYTES), `file:${OUTPUT}`];

function readArgs(format: MediaFormat | null): string[] {
  const demuxer = format === null ? undefined : DEMUXERS[format];
  if (demuxer === undefined) throw new ConversionError('it is no sound file');
  const only = `-protocol_whitelist file -format_whitelist ${demuxer} -f ${demuxer}`;
  return `${QUIET} ${only} -i file:${INPUT} ${FIRST_SOUND}`.split(' ');
}

// One run of ffmpeg, with a time limit; its messages are used only if it fails.
interface FfmpegRun {
  readonly path: string;
  readonly args: readonly string[];
  /** Its working folder, so that its arguments and messages contain no folder of this machine. */
  readonly folder: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Null on success, else its complaint. Throws a `LocalFailure` if it could not run, or the signal's
 * abort reason.
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

/** How long another process that it started may keep its stderr open after its exit. */
const EXIT_GRACE_MS = 500;

/**
 * If ffmpeg is a script that starts the real one, both are stopped: they form one process group.
 */
const HAS_GROUPS = process.platform !== 'win32';

type Child = ReturnType<typeof spawn>;

function kill(child: Child): void {
  if (!HAS_GROUPS || child.pid === undefined) return killChild(child);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The whole group has exited already.
  }
}

/** Waits for the process's exit, so that its files can also be removed on Windows. */
function exitCode(child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    // Its message would contain the program's path.
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

// Whether the sound or this machine is the cause of ffmpeg's failure.

interface Complaint {
  /**
   * Only an `input` complaint is the caller's fault; another machine may succeed where this one
   * failed.
   */
  readonly about: 'input' | 'machine';
  /** One line, without full stop and without paths of this machine. */
  readonly text: string;
}

/**
 * Complaints about the machine are searched first, because they often come with complaints about a
 * damaged sound. All others count as the machine's, so that no caller is refused for a fault that
 * is not theirs.
 */
export function readComplaint(told: string, code: number): Complaint {
  const lines = told.trim().split('\n').toReversed();
  const ofMachine = lines.find((line) => OF_MACHINE.test(line));
  const ofInput = lines.find((line) => OF_INPUT.test(line));
  if (ofMachine === undefined && ofInput !== undefined) {
    return { about: 'input', text: tidy(ofInput) };
  }
  return { about: 'machine', text: tidy(ofMachine ?? lines[0] ?? '') || `exit code ${code}` };
}

/** Messages of ffmpeg 4 to 7 about disk, memory, permissions and missing parts of the build. */
const OF_MACHINE = new RegExp(
  'no space left|quota exceeded|file too large|read-only file system|too many open files' +
    '|permission denied|operation not permitted|no such file|cannot allocate|out of memory' +
    '|unknown (?:en|de)coder|(?:en|de)coder .*not found|unrecognized option|unknown input format' +
    `|error writing|error muxing|could not write|write_frame|write_trailer|file:${OUTPUT}`,
  'i',
);

const OF_INPUT = new RegExp(`file:${INPUT}|matches no streams|invalid data found|decod`, 'i');

const MAX_LINE_CHARACTERS = 300;

/** The component in front of a message: `[mov @ 0x55f] moov atom not found`. */
const ADDRESS = /^\[[^\]]* @ 0x[^\]]*\]\s*/;

const ABSOLUTE_PATH = /(?<![\w.])(?:[a-z]:)?[/\\][^\s:'"]+/gi;

function tidy(line: string): string {
  const short = line.trim().slice(0, MAX_LINE_CHARACTERS);
  return short.replace(ADDRESS, '').replace(ABSOLUTE_PATH, '(a path)').replace(/\.+$/, '');
}
