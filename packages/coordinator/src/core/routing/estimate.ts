/** When a provider would have answered: what the matcher compares. */
import { crowding } from './pace.js';
import type { Pace } from './pace.js';

/** An answer of average length. Only its proportion to the rest counts. */
const TYPICAL_TOKENS = 256;
/** Of a model that its server says is not loaded, while nobody has measured it. */
const DEFAULT_LOAD_MS = 20_000;
/** Where nobody is measured at all: then it weighs beside the loading, and all get the same. */
const DEFAULT_BEST: Best = { firstByteMs: 500, makingMs: 5_000 };
/** What was measured this long ago counts half: a card that was slow once gets another chance. */
export const HALF_LIFE_MS = 30 * 60_000;
/** Who has only failed is not infinitely bad. */
const MIN_SUCCESS = 0.05;

/** The part of a candidate that tells how fast it answers. */
export interface Paced {
  readonly model: { readonly loaded: boolean | null };
  readonly pace: Pace;
  /** Since something was last measured. */
  readonly paceAgeMs: number;
  /** Calls under way on its card. */
  readonly busySlots: number;
  /** Of its last calls, from 0 to 1. */
  readonly failureShare: number;
}

/** The best that is known among the candidates of a call. */
export interface Best {
  readonly firstByteMs: number;
  readonly makingMs: number;
}

/**
 * In ms: load + first byte + an average answer at its speed, longer by what else its card does, and
 * divided by its share of successes. Who is not measured yet counts as the best that is known, so
 * that it is tried and measured soon.
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

/** Where the server does not tell, the model is taken to be there. */
function loadMs({ model, pace }: Paced): number {
  return model.loaded === false ? (pace.loadMs ?? DEFAULT_LOAD_MS) : 0;
}

/** An average answer, once it has begun. */
function makingMsOf({ tokensPerSecond, secondsPerImage }: Pace): number | null {
  if (secondsPerImage !== null) return secondsPerImage * 1000;
  return tokensPerSecond === null ? null : (TYPICAL_TOKENS / tokensPerSecond) * 1000;
}

/** From what was measured towards the best that is known, as the measure fades. */
function believed(measured: number | null, best: number, trust: number): number {
  return measured === null ? best : best + (measured - best) * trust;
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}
