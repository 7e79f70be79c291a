/**
 * How fast a provider has been with a model: exponential averages of what its calls took. Only the
 * coordinator's own clock is believed; nothing here is what an agent says of itself but the number
 * of tokens.
 */

/** The weight of the newest call: after five calls two thirds of an average are new. */
const ALPHA = 0.2;
/** A shorter answer comes in so few pieces that its speed is chance. */
const MIN_TOKENS = 8;
/** More than any card makes: a wrong count, and no speed. */
const MAX_TOKENS_PER_SECOND = 1_000_000;

/** Null is what has not been measured yet. All of it is as if the card had nothing else to do. */
export interface Pace {
  readonly tokensPerSecond: number | null;
  /** To the first byte of an answer, with the model in memory. */
  readonly firstByteMs: number | null;
  /** What it takes longer where the model must be loaded first. */
  readonly loadMs: number | null;
  readonly secondsPerImage: number | null;
  /** Monotonic ms of the last call that told something. */
  readonly measuredAt: number | null;
}

export const UNMEASURED: Pace = {
  tokensPerSecond: null,
  firstByteMs: null,
  loadMs: null,
  secondsPerImage: null,
  measuredAt: null,
};

/** What a call that was answered took. */
export interface Measured {
  /** Whether the answer came as it was made, so that its first byte is not also its last. */
  readonly streamed: boolean;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** Completion tokens; 0 where the answer is none of words, or they were not counted. */
  readonly tokens: number;
  readonly images: number;
}

/** The same, and what it met. */
export interface Run extends Measured {
  /** Whether the model was in memory when the call came; null if its server does not tell. */
  readonly wasLoaded: boolean | null;
  /** Calls that were under way on the card when this one began. */
  readonly otherCalls: number;
}

/** `nowMs` is monotonic. */
export function learn(pace: Pace, run: Run, nowMs: number): Pace {
  const { firstByteMs, totalMs, tokens, images } = run;
  if (![firstByteMs, totalMs, tokens, images].every(isCount) || totalMs < firstByteMs) return pace;
  return run.wasLoaded === false ? learnLoad(pace, run, nowMs) : learnWarm(pace, run, nowMs);
}

/**
 * How much longer a call takes on a card with so many others, as if they took turns. A server that
 * batches does better; to expect that of all loses a third of the throughput where one does not,
 * and the other way round it is a seventh (`npm run bench -- schedule`).
 */
export function crowding(otherCalls: number): number {
  return 1 + otherCalls;
}

function learnWarm(pace: Pace, run: Run, nowMs: number): Pace {
  const alone = 1 / crowding(run.otherCalls);
  const { tokens, images, streamed, totalMs } = run;
  // An answer that comes whole tells nothing of its beginning where it is counted in units.
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
  return { ...pace, tokensPerSecond, firstByteMs, secondsPerImage, measuredAt: nowMs };
}

/** What a cold call took longer than a warm one would have. It tells nothing else. */
function learnLoad(pace: Pace, run: Run, nowMs: number): Pace {
  const warmMs = (run.streamed ? (pace.firstByteMs ?? 0) : makingMsOf(pace, run)) ?? 0;
  const overMs = Math.max(0, run.firstByteMs - warmMs * crowding(run.otherCalls));
  return { ...pace, loadMs: average(pace.loadMs, overMs), measuredAt: nowMs };
}

/** What an answer of this size takes by what is known; null if nothing is. */
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
