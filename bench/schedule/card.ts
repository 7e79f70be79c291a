/**
 * A simulated card with one model: it loads, reads the prompt, and makes tokens, and the calls that
 * are under way on it slow each other down.
 */

export interface CardSpec {
  readonly id: string;
  readonly slots: number;
  /** Of one call that has the card to itself. */
  readonly tokensPerSecond: number;
  readonly promptTokensPerSecond: number;
  /** By how much each further call makes all of them longer: 1 shares the card, 0 costs nothing. */
  readonly slowdown: number;
  readonly loadMs: number;
  /** The model is put out of memory after this long without a call. */
  readonly unloadAfterMs: number;
  /** Conversations whose prompts it remembers. */
  readonly cachedPrompts: number;
  /** It is not there before. */
  readonly joinsAtMs: number;
  /** Of its calls, each n-th fails; 0: none does. */
  readonly failsEvery: number;
  readonly failsAfterMs: number;
  /** Its speed at a time, as a share of its normal speed. */
  readonly speedAt: (nowMs: number) => number;
}

export const CARD: Omit<CardSpec, 'id'> = {
  slots: 4,
  tokensPerSecond: 40,
  promptTokensPerSecond: 1_000,
  slowdown: 0.5,
  loadMs: 0,
  unloadAfterMs: Number.POSITIVE_INFINITY,
  cachedPrompts: 8,
  joinsAtMs: 0,
  failsEvery: 0,
  failsAfterMs: 0,
  speedAt: () => 1,
};

export interface SimulatedCall {
  readonly atMs: number;
  readonly promptTokens: number;
  /** Of the prompt, what the turn before had: a card that remembers it need not read it. */
  readonly sharedTokens: number;
  readonly tokens: number;
  readonly conversation: string;
}

/** A running call. Its remaining work is in ms of a card of its own. */
export interface Running {
  readonly call: SimulatedCall;
  readonly startedAt: number;
  readonly hitsCache: boolean;
  readonly fails: boolean;
  loadLeft: number;
  promptLeft: number;
  makingLeft: number;
  firstByteAt: number | null;
}

export class Card {
  readonly spec: CardSpec;
  loads = 0;
  #calls = 0;
  readonly #running = new Set<Running>();
  /** The conversation that was used last is at the end. */
  readonly #prompts = new Set<string>();
  #now = 0;
  /** Null while the model was never loaded. */
  #usedAt: number | null;

  constructor(spec: CardSpec, isLoaded: boolean) {
    this.spec = spec;
    this.#usedAt = isLoaded ? 0 : null;
  }

  get busy(): number {
    return this.#running.size;
  }

  isThere(now: number): boolean {
    return now >= this.spec.joinsAtMs;
  }

  isLoaded(now: number): boolean {
    if (this.busy > 0) return this.#loadLeft() === 0;
    return this.#usedAt !== null && now - this.#usedAt < this.spec.unloadAfterMs;
  }

  start(call: SimulatedCall, now: number): Running {
    this.advance(now);
    const { promptTokensPerSecond, tokensPerSecond, failsEvery, failsAfterMs } = this.spec;
    this.#calls += 1;
    const fails = failsEvery > 0 && this.#calls % failsEvery === 0;
    const hitsCache = this.#prompts.has(call.conversation) && call.sharedTokens > 0;
    const unread = call.promptTokens - (hitsCache ? call.sharedTokens : 0);
    const running: Running = {
      call,
      startedAt: now,
      hitsCache,
      fails,
      loadLeft: this.#startLoading(now),
      promptLeft: fails ? failsAfterMs : (unread / promptTokensPerSecond) * 1_000,
      makingLeft: fails ? 0 : (call.tokens / tokensPerSecond) * 1_000,
      firstByteAt: null,
    };
    this.#running.add(running);
    this.#remember(call.conversation);
    return running;
  }

  /** When the next call enters another phase or ends, if nothing else happens; infinite: never. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const one of this.#running) next = Math.min(next, this.#now + this.#phaseMs(one));
    return next;
  }

  /** Advances to `now`, which is at most `nextAt`; returns the calls that have ended. */
  advance(now: number): Running[] {
    const passed = now - this.#now;
    const shares = this.#share();
    this.#now = now;
    for (const one of this.#running) pass(one, passed, shares);
    const ended = [...this.#running].filter(isDone);
    for (const one of this.#running) if (isAnswering(one)) one.firstByteAt ??= now;
    for (const one of ended) this.#running.delete(one);
    if (ended.length > 0) this.#usedAt = now;
    return ended;
  }

  #phaseMs(one: Running): number {
    if (one.loadLeft > 0) return one.loadLeft;
    return (one.promptLeft > 0 ? one.promptLeft : one.makingLeft) / this.#share();
  }

  /** The current speed of a call, relative to one that has the card to itself. */
  #share(): number {
    const { slowdown, speedAt } = this.spec;
    return speedAt(this.#now) / (1 + slowdown * Math.max(0, this.busy - 1));
  }

  /** A call that comes while the model is loaded for another waits for the same load. */
  #startLoading(now: number): number {
    if (this.isLoaded(now)) return 0;
    if (this.busy > 0) return this.#loadLeft();
    this.loads += 1;
    this.#prompts.clear();
    return this.spec.loadMs;
  }

  #loadLeft(): number {
    return Math.max(0, ...[...this.#running].map(({ loadLeft }) => loadLeft));
  }

  #remember(conversation: string): void {
    this.#prompts.delete(conversation);
    this.#prompts.add(conversation);
    const [oldest] = this.#prompts;
    if (this.#prompts.size > this.spec.cachedPrompts && oldest !== undefined) {
      this.#prompts.delete(oldest);
    }
  }
}

/** Rounding leaves less than this of a phase. */
const NOTHING_MS = 1e-6;

function pass(one: Running, passedMs: number, share: number): void {
  if (one.loadLeft > 0) one.loadLeft = less(one.loadLeft, passedMs);
  else if (one.promptLeft > 0) one.promptLeft = less(one.promptLeft, passedMs * share);
  else one.makingLeft = less(one.makingLeft, passedMs * share);
}

function less(left: number, passed: number): number {
  return left - passed < NOTHING_MS ? 0 : left - passed;
}

function isAnswering({ loadLeft, promptLeft, fails }: Running): boolean {
  return loadLeft === 0 && promptLeft === 0 && !fails;
}

function isDone({ loadLeft, promptLeft, makingLeft }: Running): boolean {
  return loadLeft === 0 && promptLeft === 0 && makingLeft === 0;
}
