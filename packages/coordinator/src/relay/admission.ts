/**
 * Limits how many calls a member may have running at once; further calls wait in the member's own
 * queue.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { shuttingDown } from '../run/failure.js';

/**
 * A longer queue refuses further calls: an immediate error is better than waiting behind a thousand
 * others.
 */
const MAX_LINE = 1_000;

interface Ticket {
  enter(): void;
}

/** Exists while a member has a running call. */
interface Gate {
  inside: number;
  /** The last limit passed in: a change also applies to calls that already wait. */
  limit: number;
  readonly line: Set<Ticket>;
}

export class Admission {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #closing: AbortSignal;
  readonly #gates = new Map<string, Gate>();

  /** `closing` is aborted when the coordinator stops: then all waiting calls end. */
  constructor(limit: number, waitMs: number, closing: AbortSignal) {
    this.#limit = limit;
    this.#waitMs = waitMs;
    this.#closing = closing;
  }

  /**
   * Resolves when the member may start one more call, or returns null if that is now; every `enter`
   * needs one `leave`. `limit` is the member's own; null means the default.
   */
  enter(memberId: string, signal: AbortSignal, limit: number | null = null): Promise<void> | null {
    const gate = this.#gateOf(memberId);
    gate.limit = limit ?? this.#limit;
    admit(gate);
    if (gate.inside >= gate.limit) return this.#queue(gate, signal);
    gate.inside += 1;
    return null;
  }

  leave(memberId: string): void {
    const gate = this.#gateOf(memberId);
    gate.inside -= 1;
    admit(gate);
    if (gate.inside <= 0) this.#gates.delete(memberId);
  }

  #gateOf(memberId: string): Gate {
    const known = this.#gates.get(memberId);
    if (known !== undefined) return known;
    const gate: Gate = { inside: 0, limit: this.#limit, line: new Set() };
    this.#gates.set(memberId, gate);
    return gate;
  }

  #queue(gate: Gate, signal: AbortSignal): Promise<void> {
    const { line, limit } = gate;
    if (line.size >= MAX_LINE) {
      const message = `${line.size} of your calls already wait. Try again in 1 seconds.`;
      throw new ApiError('queue_full', message);
    }
    return new Promise((resolve, reject) => {
      const quit = (): void =>
        settle(() => reject(this.#closing.aborted ? shuttingDown() : this.#tooLong(limit)));
      const timer = setTimeout(quit, this.#waitMs);
      const ticket: Ticket = { enter: () => settle(resolve) };
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', quit);
        this.#closing.removeEventListener('abort', quit);
        line.delete(ticket);
        act();
      };
      signal.addEventListener('abort', quit, { once: true });
      this.#closing.addEventListener('abort', quit, { once: true });
      line.add(ticket);
    });
  }

  #tooLong(limit: number): ApiError {
    const message =
      `You may have ${limit} calls under way, and none ended within ` +
      `${Math.round(this.#waitMs / 1000)} s. Send fewer at once.`;
    return new ApiError('capacity_exhausted', message);
  }
}

/** Admits waiting calls, oldest first, up to the limit. */
function admit(gate: Gate): void {
  for (const ticket of gate.line) {
    if (gate.inside >= gate.limit) return;
    gate.inside += 1;
    ticket.enter();
  }
}
