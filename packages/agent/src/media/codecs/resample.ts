/**
 * Samples at another rate: a windowed sinc for each of the positions that an output sample can have
 * between two input samples. What the new rate cannot hold is filtered out, or it would come back
 * as another tone.
 */
import type { Block } from './sound.js';

/** Zeros of the sinc to each side: the more, the steeper the filter. */
const HALF_ZEROS = 24;
/** Of the lower rate's half: what lies above is filtered. */
const PASSED = 0.92;
/** Kaiser's window: about 90 dB between what passes and what does not. */
const KAISER_BETA = 9;
/** Rates without a common measure have more positions; each then takes the nearest. */
const MAX_PHASES = 1_024;

interface Filter {
  readonly phases: number;
  readonly taps: number;
  /** One after the other, each of `taps` factors. */
  readonly factors: Float32Array;
}

/** The blocks have one channel or more; each is as long as it comes. */
export function* resampled(
  blocks: Iterable<Block>,
  { channels, from, to }: { readonly channels: number; readonly from: number; readonly to: number },
): Generator<Block> {
  if (from === to) return yield* blocks;
  const filter = filterOf(from, to);
  const half = filter.taps / 2;
  // As if silence came before: the first output sample is at the first input sample.
  let held: Float32Array[] = Array.from({ length: channels }, () => new Float32Array(half - 1));
  const place = new Place(from, to);
  let inputs = 0;
  for (const block of blocks) {
    inputs += block[0]?.length ?? 0;
    held = held.map((channel, i) => joined(channel, block[i] ?? new Float32Array(0)));
    const ready = place.ready(held[0]?.length ?? 0, filter.taps);
    const made = held.map((channel) => filtered(channel, { filter, place, count: ready }));
    held = place.pass(held, ready);
    if (ready > 0) yield made;
  }
  // As if silence followed, until each input sample has had its output samples.
  const left = Math.ceil((inputs * to) / from) - place.passed;
  if (left <= 0) return;
  const silence = new Float32Array(filter.taps + Math.ceil((left * from) / to));
  held = held.map((channel) => joined(channel, silence));
  yield held.map((channel) => filtered(channel, { filter, place, count: left }));
}

/** Where the next output sample lies: in whole input samples of what is held, and a rest. */
class Place {
  readonly #step: number;
  readonly #to: number;
  /** In parts of an input sample, `to` of which are one. */
  #at = 0;
  passed = 0;

  constructor(from: number, to: number) {
    const common = gcd(from, to);
    this.#step = from / common;
    this.#to = to / common;
  }

  /** How many output samples so many held input samples make. */
  ready(held: number, taps: number): number {
    const last = (held - taps) * this.#to + this.#to - 1;
    return last < this.#at ? 0 : Math.floor((last - this.#at) / this.#step) + 1;
  }

  /** The whole and the fraction of the output sample that comes `ahead` after the next one. */
  of(ahead: number): { readonly index: number; readonly fraction: number } {
    const at = this.#at + ahead * this.#step;
    const index = Math.floor(at / this.#to);
    return { index, fraction: (at - index * this.#to) / this.#to };
  }

  /** Lets go of the input samples that nothing needs any more. */
  pass(held: readonly Float32Array[], count: number): Float32Array[] {
    this.passed += count;
    const { index } = this.of(count);
    this.#at += count * this.#step - index * this.#to;
    return held.map((channel) => channel.slice(index));
  }
}

function filtered(
  input: Float32Array,
  { filter, place, count }: { filter: Filter; place: Place; count: number },
): Float32Array {
  const { phases, taps, factors } = filter;
  const output = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const { index, fraction } = place.of(i);
    let phase = Math.round(fraction * phases);
    const from = phase === phases ? index + 1 : index;
    if (phase === phases) phase = 0;
    const first = phase * taps;
    let sum = 0;
    for (let tap = 0; tap < taps; tap++)
      sum += (input[from + tap] ?? 0) * (factors[first + tap] ?? 0);
    output[i] = sum;
  }
  return output;
}

function filterOf(from: number, to: number): Filter {
  const phases = Math.min(to / gcd(from, to), MAX_PHASES);
  /** Of the input's rate. */
  const cutoff = (PASSED * Math.min(from, to)) / from;
  const half = Math.ceil(HALF_ZEROS / cutoff);
  const taps = 2 * half;
  const factors = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const distance = tap - (half - 1) - phase / phases;
      const factor = sinc(distance * cutoff) * kaiser(distance / half);
      factors[phase * taps + tap] = factor;
      sum += factor;
    }
    // Every position passes a constant as it is.
    for (let tap = 0; tap < taps; tap++) {
      const at = phase * taps + tap;
      factors[at] = (factors[at] ?? 0) / sum;
    }
  }
  return { phases, taps, factors };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

function kaiser(x: number): number {
  return Math.abs(x) >= 1 ? 0 : bessel(KAISER_BETA * Math.sqrt(1 - x * x)) / bessel(KAISER_BETA);
}

/** The modified Bessel function of order zero, as its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function joined(one: Float32Array, other: Float32Array): Float32Array {
  const all = new Float32Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
