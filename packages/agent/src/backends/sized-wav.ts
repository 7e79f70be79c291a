/**
 * A WAV as it leaves the agent: with true lengths in its header. Kokoro and whatever pipes through
 * ffmpeg write all ones there, even where the whole was made before its first byte was sent; most
 * players then show no length, or refuse it.
 */
import {
  WAV_HEADER_BYTES,
  hasPlaceholderLength,
  mendWavHeader,
} from '@inference-gateway/shared/media/wav-header';
import { startOf } from '../media/start-of.js';
import { inPieces } from './in-pieces.js';
import { readWhole } from './read-whole.js';

/** Over twenty minutes of speech at 24 kHz, and far more than the longest input makes. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Most headers are short: what follows is not to wait for more of it than they take. */
const LOOKS = [64, 512, WAV_HEADER_BYTES];

/**
 * As it comes where its header can be true. Else it has to be held until its end; throws a
 * `LocalFailure` where that is too far away.
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
