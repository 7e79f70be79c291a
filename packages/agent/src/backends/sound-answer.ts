/** Converts a local server's sound to the format that the caller wants. */
import { contentTypeOf, detectFormat, PCM } from '@inference-gateway/shared/media/types';
import type { MediaFormat } from '@inference-gateway/shared/media/types';
import {
  WAV_HEADER_BYTES,
  hasPlaceholderLength,
  mendWavHeader,
} from '@inference-gateway/shared/media/wav-header';
import type { AudioConverter, SoundTarget } from '../media/audio-converter.js';
import { startOf } from '../media/start-of.js';
import { LocalFailure } from './backend.js';
import type { LocalCall, MediaPart } from './backend.js';
import { leave } from './openai/answer.js';
import type { MadeFile } from './openai/answer.js';
import { inPieces, readWhole } from './bytes.js';

/** One request for sound. */
export interface SoundOrder {
  readonly call: LocalCall;
  readonly converter: AudioConverter;
  /** Null if any format is right. */
  readonly wanted: string | null;
}

export interface MadeSound {
  readonly file: () => Promise<MadeFile>;
  /** Whether it may be raw samples. */
  readonly isPcm: boolean;
}

/** The specification's default is wav, even if the server has another default. */
export function wantedFormat({ body }: LocalCall): string {
  const format = body['response_format'];
  return typeof format === 'string' ? format : 'wav';
}

/** Unchanged if it has the wanted format, else converted. */
export async function* madeSound(
  order: SoundOrder,
  made: MadeSound,
): AsyncGenerator<MediaPart, void, void> {
  const file = await made.file();
  const { start, bytes } = file;
  const { wanted, converter } = order;
  const format = detectFormat(start);
  const contentType = format === null ? null : contentTypeOf(format, 'audio');
  if (format === null || contentType === null) {
    const isPcm = wanted === 'pcm' && made.isPcm && start.length > 0;
    if (isPcm) return yield { contentType: PCM, revisedPrompt: null, bytes };
    await leave(file);
    throw noSound(start);
  }
  const to = conversionOf(format, start, wanted);
  if (to !== null) return yield* converted(converter, bytes, order);
  const sized = format === 'wav' ? sizedWav(bytes) : bytes;
  return yield { contentType, revisedPrompt: null, bytes: sized };
}

/** Null if no conversion is needed. Ogg may also contain Vorbis. */
function conversionOf(
  format: MediaFormat,
  start: Buffer,
  wanted: string | null,
): SoundTarget | null {
  if (wanted === null || format === wanted) return null;
  if (wanted === 'opus') return format === 'ogg' && start.includes('OpusHead') ? null : 'opus';
  // AAC comes raw or in MP4.
  if (wanted === 'aac' && format === 'mp4') return null;
  return format === 'wav' ? null : 'wav';
}

async function* converted(
  converter: AudioConverter,
  bytes: AsyncIterable<Uint8Array>,
  { wanted, call }: SoundOrder,
): AsyncGenerator<MediaPart, void, void> {
  const file = await converter.convert(bytes, wanted === 'opus' ? 'opus' : 'wav', call.signal);
  try {
    yield { contentType: file.contentType, revisedPrompt: null, bytes: file.read() };
  } finally {
    await file.dispose();
  }
}

function noSound(start: Buffer): LocalFailure {
  const what = start.length === 0 ? 'nothing' : 'something that is no sound';
  return new LocalFailure('LOCAL_ERROR', `the local server answered ${what}.`);
}

// A WAV as it leaves the agent: with true lengths in its header. Kokoro and servers that pipe
// through ffmpeg write 0xFFFFFFFF there, even if the whole file exists before its first byte is
// sent; most players then show no length, or refuse the file.

/** Over twenty minutes of speech at 24 kHz, far more than the longest input makes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Most headers are short: the following bytes need not wait until the longest header could fit. */
const LOOKS = [64, 512, WAV_HEADER_BYTES];

/**
 * Streamed if its header can be true. Else it is held until its end; throws a `LocalFailure` if it
 * is too long for that.
 */
export async function* sizedWav(wav: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = wav;
  for (const count of LOOKS) {
    const begun = await startOf(bytes, count);
    bytes = begun.bytes;
    if (!hasPlaceholderLength(begun.start)) return yield* bytes;
  }
  const whole = await readWhole(bytes, MAX_HELD_BYTES);
  const mended = mendWavHeader(whole.subarray(0, WAV_HEADER_BYTES), whole.length);
  if (mended !== null) whole.set(mended);
  return yield* inPieces(whole);
}
