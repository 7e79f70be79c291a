/**
 * Sound from one format to another, by the ffmpeg of the owner's machine. The files come from
 * strangers: ffmpeg is told which format to read, so that a playlist in disguise cannot make it
 * open addresses or other files.
 */
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { open, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media-types';
import type { MediaFormat } from '@inference-gateway/shared/media-types';
import { LocalFailure } from '../backends/backend.js';
import { INPUT, OUTPUT } from './ffmpeg-complaint.js';
import type { Complaint } from './ffmpeg-complaint.js';
import { runFfmpeg } from './ffmpeg-process.js';
import { openScratchFolder, sweepScratchFolders } from './scratch-folder.js';

/** `wav` is PCM of 16 bits, `opus` is Opus in Ogg, `wav16k` is `wav` as speech models hear it. */
export type SoundTarget = 'wav' | 'opus' | 'wav16k';

/** A file that is there as long as it is needed. */
export interface Converted {
  readonly contentType: string;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  /** Removes the file. */
  dispose(): Promise<void>;
}

/** The sound is broken or too long; the message tells which, and goes to the coordinator. */
export class ConversionError extends LocalFailure {
  constructor(why: string, options?: ErrorOptions) {
    super('LOCAL_ERROR', `the sound could not be converted: ${why}.`, options);
    this.name = 'ConversionError';
  }
}

export interface AudioConverter {
  /** False: its build has no encoder for `opus`. */
  readonly makesOpus?: boolean;
  /**
   * Throws a `ConversionError`, another `LocalFailure`, what the signal was aborted with, or what
   * reading the input throws. Nothing is left behind then.
   */
  convert(
    input: AsyncIterable<Uint8Array>,
    to: SoundTarget,
    signal: AbortSignal,
  ): Promise<Converted>;
}

const FIND_TIMEOUT_MS = 5_000;
/** More than any upload, and half an hour of speech as WAV. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;
const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;
const CONVERT_TIMEOUT_MS = 120_000;

/** Null where it is not installed: `configured`, or else what PATH finds, does not run. */
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
  /** Null where it does not tell. */
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
    const { path: folder, remove } = await openScratchFolder();
    try {
      const format = await save(input, join(folder, INPUT), signal);
      const args = [...readArgs(format), ...TARGETS[to].args, ...WRITE_ARGS];
      const run = { path: this.path, args, folder, limitMs: CONVERT_TIMEOUT_MS, signal };
      // ffmpeg writes into the file that is there, and keeps its mode.
      await writeFile(join(folder, OUTPUT), '', { mode: 0o600 });
      const complaint = await runFfmpeg(run);
      if (complaint !== null) throw failureOf(complaint);
      await rm(join(folder, INPUT), { force: true });
      const { size: bytes } = await stat(join(folder, OUTPUT));
      if (bytes >= MAX_OUTPUT_BYTES) {
        throw new ConversionError(`it makes more than ${MAX_OUTPUT_BYTES} bytes`);
      }
      const read = () => piecesOf(join(folder, OUTPUT));
      return { contentType: TARGETS[to].contentType, bytes, read, dispose: remove };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

/** What ffmpeg calls the formats that carry sound. */
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
  wav: { contentType: 'audio/wav', args: ['-c:a', 'pcm_s16le', '-f', 'wav'] },
  opus: { contentType: 'audio/ogg', args: ['-c:a', 'libopus', '-b:a', '64k', '-f', 'ogg'] },
  wav16k: {
    contentType: 'audio/wav',
    args: ['-ac', '1', '-ar', '16000', '-c:a', 'pcm_s16le', '-f', 'wav'],
  },
} as const satisfies Record<SoundTarget, { contentType: string; args: readonly string[] }>;

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
/** Without pictures, and without what the file says of itself. */
const FIRST_SOUND = '-map 0:a:0 -map_metadata -1 -bitexact';
/** No file grows beyond what anybody takes. */
const WRITE_ARGS = ['-fs', String(MAX_OUTPUT_BYTES), `file:${OUTPUT}`];

function readArgs(format: MediaFormat | null): string[] {
  const demuxer = format === null ? undefined : DEMUXERS[format];
  if (demuxer === undefined) throw new ConversionError('it is no sound file');
  const only = `-protocol_whitelist file -format_whitelist ${demuxer} -f ${demuxer}`;
  return `${QUIET} ${only} -i file:${INPUT} ${FIRST_SOUND}`.split(' ');
}

/** Opened only when it is read, so that a file that nobody reads is not left open. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** Writes the input to its file, and tells its format by its first bytes. */
async function save(
  input: AsyncIterable<Uint8Array>,
  path: string,
  signal: AbortSignal,
): Promise<MediaFormat | null> {
  const file = await open(path, 'wx', 0o600);
  try {
    let start = Buffer.alloc(0);
    let bytes = 0;
    for await (const piece of input) {
      signal.throwIfAborted();
      bytes += piece.length;
      if (bytes > MAX_INPUT_BYTES)
        throw new ConversionError(`it has more than ${MAX_INPUT_BYTES} bytes`);
      if (start.length < DETECT_BYTES) start = Buffer.concat([start, piece]);
      await file.writeFile(piece);
    }
    return detectFormat(start);
  } finally {
    await file.close();
  }
}
