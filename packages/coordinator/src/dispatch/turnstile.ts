/**
 * How many calls a member may have under way at once; further ones wait in the member's own line.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { shuttingDown } from './failure.js';

/** Longer lines are refused: whoever waits behind a thousand others is better told so. */
const MAX_LINE = 1_000;

interface Ticket {
  enter(): void;
}

export class Turnstile {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #closing: AbortSignal;
  readonly #inside = new Map<string, number>();
  readonly #lines = new Map<string, Set<Ticket>>();

  /** `closing` is aborted when the coordinator stops: nobody waits any longer. */
  constructor(limit: number, waitMs: number, closing: AbortSignal) {
    this.#limit = limit;
    this.#waitMs = waitMs;
    this.#closing = closing;
  }

  /** Resolves when the member may start one more call; every entry is followed by one `leave`. */
  async enter(memberId: string, signal: AbortSignal): Promise<void> {
    const inside = this.#inside.get(memberId) ?? 0;
    if (inside < this.#limit) this.#inside.set(memberId, inside + 1);
    else await this.#queue(memberId, signal);
  }

  leave(memberId: string): void {
    const next = this.#lines.get(memberId)?.values().next().value;
    if (next !== undefined) return next.enter();
    const inside = (this.#inside.get(memberId) ?? 1) - 1;
    if (inside > 0) this.#inside.set(memberId, inside);
    else this.#inside.delete(memberId);
    return undefined;
  }

  #queue(memberId: string, signal: AbortSignal): Promise<void> {
    const line = this.#lines.get(memberId) ?? new Set();
    if (line.size >= MAX_LINE) {
      const message = `${line.size} of your calls already wait. Try again in 1 seconds.`;
      throw new ApiError('queue_full', message);
    }
    this.#lines.set(memberId, line);
    return new Promise((resolve, reject) => {
      const quit = (): void =>
        settle(() => reject(this.#closing.aborted ? shuttingDown() : this.#tooLong()));
      const timer = setTimeout(quit, this.#waitMs);
      const ticket: Ticket = { enter: () => settle(resolve) };
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', quit);
        this.#closing.removeEventListener('abort', quit);
        line.delete(ticket);
        if (line.size === 0) this.#lines.delete(memberId);
        act();
      };
      signal.addEventListener('abort', quit, { once: true });
      this.#closing.addEventListener('abort', quit, { once: true });
      line.add(ticket);
    });
  }

  #tooLong(): ApiError {
    const message =
      `You have ${this.#limit} calls under way, and none ended within ` +
      `${Math.round(this.#waitMs / 1000)} s. Send fewer at once.`;
    return new ApiError('capacity_exhausted', message);
  }
}
