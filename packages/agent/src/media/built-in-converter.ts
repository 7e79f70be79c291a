/**
 * Converts audio without ffmpeg: with decoders and an encoder in WebAssembly and TypeScript
 * (`codecs/`). The files are untrusted: each conversion runs in its own thread, with limits of
 * memory and time, and a crash affects only that conversion.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LocalFailure } from '../backends/backend.js';
import {
  CONVERT_TIMEOUT_MS,
  ConversionError,
  INPUT,
  MAX_OUTPUT_BYTES,
  OUTPUT,
  UnknownSoundError,
  convertInFolder,
} from './audio-converter.js';
import type { AudioConverter, Conversion, Converted, SoundTarget } from './audio-converter.js';
import type { ConversionTask, ConversionVerdict } from './codecs/conversion-worker.js';
import { CONVERSION_WORKER } from '../own-files.js';

/** Maximum number of threads in this process: model servers need the processor, too. */
const MAX_AT_ONCE = 2;
/** Maximum number of conversions that wait for a thread. */
const MAX_WAITING = 256;
/** For JavaScript; the memory of each WebAssembly module has its own limit. */
const MEMORY_MIB = 128;
const STACK_MIB = 4;

export interface BuiltInOptions {
  readonly limitMs?: number;
  readonly workerFile?: URL;
}

export class BuiltInConverter implements AudioConverter {
  readonly #limitMs: number;
  readonly #workerFile: URL;

  constructor({
    limitMs = CONVERT_TIMEOUT_MS,
    workerFile = CONVERSION_WORKER,
  }: BuiltInOptions = {}) {
    this.#limitMs = limitMs;
    this.#workerFile = workerFile;
  }

  convert(
    input: AsyncIterable<Uint8Array>,
    to: SoundTarget,
    signal: AbortSignal,
  ): Promise<Converted> {
    return convertInFolder({ input, to, signal }, async (conversion) => {
      if (conversion.format === null) throw new ConversionError('it is no sound file');
      await threads.enter(signal);
      try {
        const verdict = await this.#run(conversion);
        if (verdict.kind === 'broken') throw new ConversionError(verdict.why);
        if (verdict.kind === 'unknown') throw new UnknownSoundError(verdict.what);
        if (verdict.kind === 'failed') throw failure(verdict.code);
      } finally {
        threads.leave();
      }
    });
  }

  /** Waits until the thread has ended, so that its files can be removed. */
  async #run({ folder, format, to, signal }: Conversion): Promise<ConversionVerdict> {
    signal.throwIfAborted();
    const task: ConversionTask = {
      input: join(folder, INPUT),
      output: join(folder, OUTPUT),
      format,
      to,
      limitBytes: MAX_OUTPUT_BYTES,
    };
    const worker = new Worker(this.#workerFile, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB, stackSizeMb: STACK_MIB },
      // The decoders' warnings are discarded.
      stdout: true,
      stderr: true,
      env: {},
    });
    const done = new AbortController();
    try {
      return await new Promise<ConversionVerdict>((resolve, reject) => {
        const late = setTimeout(() => resolve(broken('it takes too long')), this.#limitMs);
        const stop = (): void => reject(signal.reason as Error);
        signal.addEventListener('abort', stop, { once: true });
        done.signal.addEventListener('abort', () => {
          clearTimeout(late);
          signal.removeEventListener('abort', stop);
        });
        worker.once('message', resolve);
        worker.once('error', (error) => resolve(verdictOn(error)));
        worker.once('exit', () => resolve(broken('its decoder ended')));
      });
    } finally {
      done.abort();
      await worker.terminate();
    }
  }
}

/** Uses the machine's ffmpeg if it is present and has the encoder, else the built-in converter. */
export function converterOf(ffmpeg: AudioConverter | null): AudioConverter {
  if (ffmpeg === null) return BUILT_IN;
  if (ffmpeg.makesOpus !== false) return ffmpeg;
  return {
    convert: (input, to, signal) => (to === 'opus' ? BUILT_IN : ffmpeg).convert(input, to, signal),
  };
}

const BUILT_IN = new BuiltInConverter();

function failure(code: string): LocalFailure {
  const message = `the converter of sounds cannot use its files (${code}). See its machine's disk.`;
  return new LocalFailure('LOCAL_ERROR', message);
}

function broken(why: string): ConversionVerdict {
  return { kind: 'broken', why };
}

/** If a decoder crashes on a file, or needs far too much memory, the file is at fault. */
function verdictOn(error: unknown): ConversionVerdict {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return broken('it takes too much memory');
  return broken('its decoder failed');
}

/** The threads of all converters of this process. */
const threads = {
  free: MAX_AT_ONCE,
  waiting: [] as (() => void)[],

  /** Throws a `LocalFailure` if too many wait, or the signal's abort reason. */
  async enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.free > 0) {
      this.free -= 1;
      return;
    }
    if (this.waiting.length >= MAX_WAITING) {
      const message = `${MAX_WAITING} sounds wait to be converted here. Try again later.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = (): void => {
        this.waiting.splice(this.waiting.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.push(begin);
    });
  },

  leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.free += 1;
    else next();
  },
};
