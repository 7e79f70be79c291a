/**
 * Converts audio between formats: the interface for backends. `ffmpeg.ts` implements it with the
 * ffmpeg of the owner's machine, `built-in-converter.ts` without.
 */
import { createReadStream } from 'node:fs';
import { open, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import { LocalFailure } from '../backends/backend.js';
import { openScratchFolder } from './scratch-folder.js';

/**
 * `wav` is PCM of 16 bits, `opus` is Opus in Ogg, `wav16k` is `wav` with the sample rate of speech
 * models.
 */
export type SoundTarget = 'wav' | 'opus' | 'wav16k';

/** A file that exists until `dispose`. */
export interface Converted {
  readonly contentType: string;
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
  /** Removes the file. */
  dispose(): Promise<void>;
}

/** The sound is broken or too long; the message says which, and is sent to the coordinator. */
export class ConversionError extends LocalFailure {
  constructor(why: string, options?: ErrorOptions) {
    super('LOCAL_ERROR', `the sound could not be converted: ${why}.`, options);
    this.name = 'ConversionError';
  }
}

/** The sound may be valid, but this machine has no decoder for it. */
export class UnknownSoundError extends ConversionError {
  /** Such as `MP4 with ALAC`. */
  readonly what: string;

  constructor(what: string) {
    super(`it is ${what}, which is not decoded on this machine`);
    this.name = 'UnknownSoundError';
    this.what = what;
  }
}

export interface AudioConverter {
  /** False: its build has no encoder for `opus`. */
  readonly makesOpus?: boolean;
  /**
   * Throws a `ConversionError`, another `LocalFailure`, the signal's abort reason, or an error of
   * reading the input. No files are left then.
   */
  convert(
    input: AsyncIterable<Uint8Array>,
    to: SoundTarget,
    signal: AbortSignal,
  ): Promise<Converted>;
}

/** More than any upload, and half an hour of speech as WAV. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;
export const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;
export const CONVERT_TIMEOUT_MS = 120_000;

/** The names of the files in a conversion's folder. */
export const INPUT = 'input';
export const OUTPUT = 'output';

const CONTENT_TYPES = { wav: 'audio/wav', opus: 'audio/ogg', wav16k: 'audio/wav' } as const;

/** One conversion in its own folder, which already contains the input, and an empty output. */
export interface Conversion {
  readonly folder: string;
  /** Detected from its first bytes; null if the format is unknown. */
  readonly format: MediaFormat | null;
  readonly to: SoundTarget;
  readonly signal: AbortSignal;
}

/**
 * Saves the input, lets `work` fill the output, and returns that. Throws as `AudioConverter` does.
 */
export async function convertInFolder(
  { input, to, signal }: Pick<Conversion, 'to' | 'signal'> & { input: AsyncIterable<Uint8Array> },
  work: (conversion: Conversion) => Promise<void>,
): Promise<Converted> {
  const { path: folder, remove } = await openScratchFolder();
  try {
    const format = await save(input, join(folder, INPUT), signal);
    // The writer of the output finds the file, and keeps its mode.
    await writeFile(join(folder, OUTPUT), '', { mode: 0o600 });
    await work({ folder, format, to, signal });
    await rm(join(folder, INPUT), { force: true });
    const { size: bytes } = await stat(join(folder, OUTPUT));
    if (bytes >= MAX_OUTPUT_BYTES) {
      throw new ConversionError(`it makes more than ${MAX_OUTPUT_BYTES} bytes`);
    }
    const read = () => piecesOf(join(folder, OUTPUT));
    return { contentType: CONTENT_TYPES[to], bytes, read, dispose: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Opened only when it is read, so that an unread file is not left open. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** Writes the input to its file, and detects its format from its first bytes. */
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
