/**
 * Changes the sample rate with a windowed sinc for each position that an output sample can have
 * between two input samples. Frequencies too high for the new rate are filtered out, to prevent
 * aliasing.
 */
import type { Block } from './sound.js';

/** Zeros of the sinc on each side: more make the filter steeper. */
const HALF_ZEROS = 24;
/** As a fraction of half the lower rate: higher frequencies are filtered out. */
const PASSED = 0.92;
/** Kaiser's window: about 90 dB between pass band and stop band. */
const KAISER_BETA = 9;
/** Rates without a common divisor have more positions; each then uses the nearest. */
const MAX_PHASES = 1_024;

interface Filter {
  readonly phases: number;
  readonly taps: number;
  /** One position after the other, `taps` factors each. */
  readonly factors: Float32Array;
}

/** The blocks have one or more channels and any length. */
export function* resampled(
  blocks: Iterable<Block>,
  { channels, from, to }: { readonly channels: number; readonly from: number; readonly to: number },
): Generator<Block> {
  if (from === to) return yield* blocks;
  const filter = filterOf(from, to);
  const half = filter.taps / 2;
  // As if silence preceded: the first output sample is at the first input sample.
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

/** The position of the next output sample, in whole held input samples and a fraction. */
class Place {
  readonly #step: number;
  readonly #to: number;
  /** In fractions of an input sample: `to` of them are one sample. */
  #at = 0;
  passed = 0;

  constructor(from: number, to: number) {
    const common = gcd(from, to);
    this.#step = from / common;
    this.#to = to / common;
  }

  /** The number of output samples that this many held input samples make. */
  ready(held: number, taps: number): number {
    const last = (held - taps) * this.#to + this.#to - 1;
    return last < this.#at ? 0 : Math.floor((last - this.#at) / this.#step) + 1;
  }

  /** The whole and the fraction of the output sample that is `ahead` after the next one. */
  of(ahead: number): { readonly index: number; readonly fraction: number } {
    const at = this.#at + ahead * this.#step;
    const index = Math.floor(at / this.#to);
    return { index, fraction: (at - index * this.#to) / this.#to };
  }

  /** Drops input samples that are no longer needed. */
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
  /** Relative to the input's rate. */
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
    // Normalised so that every position passes a constant unchanged.
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
