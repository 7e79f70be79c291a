/**
 * How fast a provider has been with a model: exponential averages of its calls. All times come from
 * the coordinator's own clock; only the number of tokens is the agent's report.
 */

/** The weight of the newest call: after five calls, two thirds of an average are new. */
const ALPHA = 0.2;
/** A shorter answer comes in too few chunks to measure its speed. */
const MIN_TOKENS = 8;
/** No card is this fast: the count is wrong, and the speed is ignored. */
const MAX_TOKENS_PER_SECOND = 1_000_000;

/** Null values are not measured yet. All values assume that the card has no other work. */
export interface Pace {
  readonly tokensPerSecond: number | null;
  /** Time to the first byte of an answer, with the model loaded. */
  readonly firstByteMs: number | null;
  /** Additional time if the model must be loaded first. */
  readonly loadMs: number | null;
  readonly secondsPerImage: number | null;
  /** Time of a whole call, whatever its answer is, with the model loaded. */
  readonly callMs: number | null;
  /** Monotonic ms of the last call that was measured. */
  readonly measuredAt: number | null;
}

export const UNMEASURED: Pace = {
  tokensPerSecond: null,
  firstByteMs: null,
  loadMs: null,
  secondsPerImage: null,
  callMs: null,
  measuredAt: null,
};

/** Measurements of an answered call. */
export interface Measured {
  /**
   * Whether the answer was streamed as it was generated: then its first byte is not also its last.
   */
  readonly streamed: boolean;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** Completion tokens; 0 if the answer is not text or they were not counted. */
  readonly tokens: number;
  readonly images: number;
}

/** A measured call and the conditions it ran under. */
export interface Run extends Measured {
  /** Whether the model was loaded when the call arrived; null if its server does not report it. */
  readonly wasLoaded: boolean | null;
  /** Calls running on the card when this one began. */
  readonly otherCalls: number;
}

/** `nowMs` is monotonic. */
export function learn(pace: Pace, run: Run, nowMs: number): Pace {
  const { firstByteMs, totalMs, tokens, images } = run;
  if (![firstByteMs, totalMs, tokens, images].every(isCount) || totalMs < firstByteMs) return pace;
  return run.wasLoaded === false ? learnLoad(pace, run, nowMs) : learnWarm(pace, run, nowMs);
}

/**
 * The factor by which this many other calls slow a call down, as if the card served them in turns.
 * A server that batches does better; expecting batching of all loses a third of the throughput if a
 * server does not batch, and the reverse error costs a seventh (`npm run bench -- schedule`).
 */
export function crowding(otherCalls: number): number {
  return 1 + otherCalls;
}

function learnWarm(pace: Pace, run: Run, measuredAt: number): Pace {
  const alone = 1 / crowding(run.otherCalls);
  const { tokens, images, streamed, totalMs } = run;
  // For an answer that comes whole and is counted in units, the first byte says nothing about its
  // start.
  const tellsFirstByte = streamed || (tokens === 0 && images === 0);
  const firstByteMs = tellsFirstByte
    ? average(pace.firstByteMs, run.firstByteMs * alone)
    : pace.firstByteMs;
  const makingMs = (totalMs - (streamed ? run.firstByteMs : 0)) * alone;
  const tokensPerSecond =
    images === 0 && tokens >= MIN_TOKENS
      ? average(pace.tokensPerSecond, believable((tokens / makingMs) * 1000))
      : pace.tokensPerSecond;
  const secondsPerImage =
    images > 0 ? average(pace.secondsPerImage, makingMs / 1000 / images) : pace.secondsPerImage;
  const callMs = average(pace.callMs, totalMs * alone);
  return { tokensPerSecond, firstByteMs, loadMs: pace.loadMs, secondsPerImage, callMs, measuredAt };
}

/** The extra time of a cold call over a warm one. A cold call measures nothing else. */
function learnLoad(pace: Pace, run: Run, nowMs: number): Pace {
  const warmMs = (run.streamed ? (pace.firstByteMs ?? 0) : makingMsOf(pace, run)) ?? 0;
  const overMs = Math.max(0, run.firstByteMs - warmMs * crowding(run.otherCalls));
  return { ...pace, loadMs: average(pace.loadMs, overMs), measuredAt: nowMs };
}

/** Time to generate an answer of this size, as far as measured; null if nothing is. */
function makingMsOf({ tokensPerSecond, secondsPerImage, firstByteMs }: Pace, run: Run) {
  if (run.images > 0) return secondsPerImage === null ? null : secondsPerImage * run.images * 1000;
  if (run.tokens === 0) return firstByteMs;
  return tokensPerSecond === null ? null : (run.tokens / tokensPerSecond) * 1000;
}

function average(before: number | null, measured: number | null): number | null {
  if (measured === null) return before;
  return before === null ? measured : before + ALPHA * (measured - before);
}

function believable(tokensPerSecond: number): number | null {
  return tokensPerSecond <= MAX_TOKENS_PER_SECOND ? tokensPerSecond : null;
}

function isCount(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}
