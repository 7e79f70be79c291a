/** The thread that converts one sound, from file to file, and then ends. */
import { closeSync, openSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import type { SoundTarget } from '../audio-converter.js';
import { FileBytes } from './file-bytes.js';
import { readMatroska } from './matroska.js';
import type { Track } from './matroska.js';
import { readMp3 } from './mp3.js';
import { readOgg, readOpusPackets, writeOpus } from './opus.js';
import { resampled } from './resample.js';
import { BrokenSound, UnknownSound, checkedSound, mixed } from './sound.js';
import type { Sound } from './sound.js';
import { readWavSound, writeWav } from './wav.js';

export interface ConversionTask {
  readonly input: string;
  /** An existing, empty file. */
  readonly output: string;
  readonly format: MediaFormat | null;
  readonly to: SoundTarget;
  readonly limitBytes: number;
}

export type ConversionVerdict =
  | { readonly kind: 'done' }
  | { readonly kind: 'broken'; readonly why: string }
  | { readonly kind: 'unknown'; readonly what: string }
  /** A fault of the machine, such as a full disk. */
  | { readonly kind: 'failed'; readonly code: string };

/** The sample rate of speech models. */
const SPEECH_RATE = 16_000;

const verdict = await convert(workerData as ConversionTask).catch(verdictOn);
// A thread, not a window.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(verdict);

async function convert(task: ConversionTask): Promise<ConversionVerdict> {
  const file = new FileBytes(task.input);
  const output = openSync(task.output, 'r+');
  try {
    const rate = task.to === 'wav16k' ? SPEECH_RATE : null;
    const sound = checkedSound(await read(file, task.format, rate));
    if (task.to === 'opus') await writeOpus(output, sound, task.limitBytes);
    else writeWav(output, rate === null ? sound : asSpeech(sound), task.limitBytes);
    return { kind: 'done' };
  } finally {
    closeSync(output);
    file.close();
  }
}

/** At `wishedRate` if the decoder can output it directly. */
async function read(
  file: FileBytes,
  format: MediaFormat | null,
  wishedRate: number | null,
): Promise<Sound> {
  switch (format) {
    case 'wav':
      return readWavSound(file);
    case 'mp3':
      return readMp3(file);
    case 'ogg':
      return readOgg(file, wishedRate);
    case 'webm':
      return readTrack(readMatroska(file), wishedRate);
    default:
      throw new UnknownSound(`a file of the format ${format ?? 'unknown'}`);
  }
}

/** Maps the container's name of a codec to its decoder. */
async function readTrack(
  { codec, setup, packets }: Track,
  wishedRate: number | null,
): Promise<Sound> {
  switch (codec) {
    case 'A_OPUS':
      return readOpusPackets(setup, packets, wishedRate);
    default:
      throw new UnknownSound(`WebM with ${codec}`);
  }
}

function asSpeech({ blocks, sampleRate }: Sound): Sound {
  const way = { channels: 1, from: sampleRate, to: SPEECH_RATE };
  return { sampleRate: SPEECH_RATE, channels: 1, blocks: resampled(mixed(blocks, 1), way) };
}

function verdictOn(error: unknown): ConversionVerdict {
  if (error instanceof BrokenSound) return { kind: 'broken', why: error.message };
  if (error instanceof UnknownSound) return { kind: 'unknown', what: error.message };
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return { kind: 'failed', code: code ?? syscall };
  throw error;
}
