/** How loud a sound is over its length. */
import { session } from '../../api/session.js';
import { addressOf } from '../markdown/media.js';

/** Of a file: a minute of WAV, or a quarter of an hour of Opus. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Sounds whose peaks are kept. */
const MAX_KEPT = 500;
const PEAKS = 32;
/** Decoding to fewer samples takes less memory, and as much of the shape is left. */
const SAMPLE_RATE = 8_000;
/** Samples that are looked at for each peak. */
const MAX_SAMPLES = 1_000;

type Peaks = readonly number[] | null;

const kept = new Map<string, Promise<Peaks>>();
session.watch(() => kept.clear());

/** One at a time: a page of sounds would otherwise be decoded at once. */
let last: Promise<unknown> = Promise.resolve();

/** From 0 to 1, the loudest is 1. Null if the file is too large or no sound that is known here. */
export function peaksOf(id: string): Promise<Peaks> {
  const known = kept.get(id);
  if (known !== undefined) return known;
  const asked = last.then(() => read(id)).catch(() => null);
  last = asked;
  kept.set(id, asked);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  return asked;
}

async function read(id: string): Promise<Peaks> {
  const response = await fetch(addressOf({ id }));
  const bytes = Number(response.headers.get('content-length') ?? Infinity);
  if (!response.ok || bytes > MAX_BYTES) {
    await response.body?.cancel();
    return null;
  }
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE);
  const sound = await context.decodeAudioData(await response.arrayBuffer());
  return toPeaks(sound.getChannelData(0));
}

function toPeaks(samples: Float32Array): readonly number[] {
  const width = samples.length / PEAKS;
  const stride = Math.max(1, Math.floor(width / MAX_SAMPLES));
  const peaks = Array.from({ length: PEAKS }, (_, index) => {
    let peak = 0;
    for (let at = Math.floor(index * width); at < (index + 1) * width; at += stride) {
      peak = Math.max(peak, Math.abs(samples[at] ?? 0));
    }
    return peak;
  });
  const loudest = Math.max(...peaks);
  return loudest === 0 ? peaks : peaks.map((peak) => peak / loudest);
}
