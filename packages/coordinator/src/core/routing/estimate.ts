/** Estimates how long a provider takes for an answer; the matcher compares these times. */
import { crowding } from './pace.js';
import type { Pace } from './pace.js';

/** An answer of average length. Only its ratio to the other times matters. */
const TYPICAL_TOKENS = 256;
/** For a model that its server reports as not loaded, until the load time is measured. */
const DEFAULT_LOAD_MS = 20_000;
/** Used if no candidate is measured: it only sets the weight of the load time, all get the same. */
const DEFAULT_BEST: Best = { firstByteMs: 500, makingMs: 5_000 };
/** A measurement of this age counts half, so a card that was slow once gets another chance. */
export const HALF_LIFE_MS = 30 * 60_000;
/** Keeps a provider that has only failed from an infinite estimate. */
const MIN_SUCCESS = 0.05;

/** The fields of a candidate that tell how fast it answers. */
export interface Paced {
  readonly model: { readonly loaded: boolean | null };
  readonly pace: Pace;
  /** Time since the last measurement. */
  readonly paceAgeMs: number;
  /** Calls running on its card. */
  readonly busySlots: number;
  /** Share of failures in its last calls, 0 to 1. */
  readonly failureShare: number;
}

/** The best known values among the candidates of a call. */
export interface Best {
  readonly firstByteMs: number;
  readonly makingMs: number;
}

/**
 * In ms: load + first byte + an average answer at its speed, scaled by the other calls on its card
 * and divided by its share of successes. A provider that is not measured yet counts as the best
 * known one, so that it is tried and measured soon.
 */
export function expectedMs(candidate: Paced, best: Best): number {
  const { pace, busySlots, failureShare } = candidate;
  const trust = 0.5 ** (candidate.paceAgeMs / HALF_LIFE_MS);
  const firstByteMs = believed(pace.firstByteMs, best.firstByteMs, trust);
  const makingMs = believed(makingMsOf(pace), best.makingMs, trust);
  const answerMs = loadMs(candidate) + (firstByteMs + makingMs) * crowding(busySlots);
  return answerMs / Math.max(MIN_SUCCESS, 1 - failureShare);
}

export function bestOf(candidates: readonly Pick<Paced, 'pace'>[]): Best {
  const known = candidates.map(({ pace }) => pace);
  return {
    firstByteMs: least(known.map((pace) => pace.firstByteMs)) ?? DEFAULT_BEST.firstByteMs,
    makingMs: least(known.map(makingMsOf)) ?? DEFAULT_BEST.makingMs,
  };
}

/** If the server does not report it, the model counts as loaded. */
function loadMs({ model, pace }: Paced): number {
  return model.loaded === false ? (pace.loadMs ?? DEFAULT_LOAD_MS) : 0;
}

/** Time to generate an average answer, after its first byte. */
function makingMsOf({ tokensPerSecond, secondsPerImage }: Pace): number | null {
  if (secondsPerImage !== null) return secondsPerImage * 1000;
  return tokensPerSecond === null ? null : (TYPICAL_TOKENS / tokensPerSecond) * 1000;
}

/** Moves from the measured value to the best known one as the measurement ages. */
function believed(measured: number | null, best: number, trust: number): number {
  return measured === null ? best : best + (measured - best) * trust;
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
