/**
 * The interface between decoders and encoders: samples in blocks, pulled one after the other, so
 * that hours of sound are never in memory. All of it runs in the thread of `conversion-worker.ts`.
 */

/** Samples from -1 to 1: one array per channel, all of one length. */
export type Block = readonly Float32Array[];

export interface Sound {
  /** In Hz, of all blocks. */
  readonly sampleRate: number;
  /** Of all blocks. */
  readonly channels: number;
  readonly blocks: Iterable<Block>;
}

/** The file is broken, or not of the format that it claims. The text is half a sentence. */
export class BrokenSound extends Error {}

/** The file may be valid, but there is no decoder for its content. */
export class UnknownSound extends Error {}

/** From telephone to studio rates; a rate beyond these means a broken or hostile file. */
const MIN_SAMPLE_RATE = 4_000;
const MAX_SAMPLE_RATE = 192_000;
const MAX_CHANNELS = 8;
/**
 * Limit of a sound's length: a day of Opus fits into an upload, and would take minutes to decode.
 */
const MAX_SECONDS = 8 * 3_600;

/** Throws for impossible values. */
export function checkedSound(sound: Sound): Sound {
  const { sampleRate, channels } = sound;
  if (!(sampleRate >= MIN_SAMPLE_RATE && sampleRate <= MAX_SAMPLE_RATE)) {
    const range = `${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE}`;
    throw new BrokenSound(`its sample rate is ${sampleRate} Hz; ${range} are read`);
  }
  if (!(channels >= 1 && channels <= MAX_CHANNELS)) {
    throw new BrokenSound(`it has ${channels} channels; 1 to ${MAX_CHANNELS} are read`);
  }
  return { ...sound, blocks: limited(sound) };
}

function* limited({ sampleRate, blocks }: Sound): Generator<Block> {
  let left = MAX_SECONDS * sampleRate;
  for (const block of blocks) {
    left -= block[0]?.length ?? 0;
    if (left < 0) throw new BrokenSound(`it lasts longer than ${MAX_SECONDS / 3_600} hours`);
    yield block;
  }
}

/** Reduces the channels: to two by taking the first ones, to one by their mean. */
export function* mixed(blocks: Iterable<Block>, to: number): Generator<Block> {
  for (const block of blocks) yield to === 1 ? [meanOf(block)] : block.slice(0, to);
}

function meanOf(block: Block): Float32Array {
  const [first = new Float32Array(0), ...others] = block;
  if (others.length === 0) return first;
  const mean = Float32Array.from(first);
  for (const other of others) {
    for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) + (other[i] ?? 0);
  }
  for (let i = 0; i < mean.length; i++) mean[i] = (mean[i] ?? 0) / block.length;
  return mean;
}
