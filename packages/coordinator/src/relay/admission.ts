/**
 * Limits how many calls a member may have running at once; further calls wait in the member's own
 * queue.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { SharedSlots, SlotDemand } from '../limits/shared-slots.js';
import { shuttingDown } from '../run/failure.js';

/**
 * A longer queue refuses further calls: an immediate error is better than waiting behind a thousand
 * others.
 */
const MAX_LINE = 1_000;

interface Ticket {
  enter(): void;
  fail(error: unknown): void;
}

/** Exists while a member has a running call. */
interface Gate {
  inside: number;
  /** The last limit passed in: a change also applies to calls that already wait. */
  limit: number;
  readonly line: Set<Ticket>;
}

interface AdmissionParts {
  /** The default of members. */
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the coordinator stops: then all waiting calls end. */
  readonly closing: AbortSignal;
  /** Null: no other coordinator runs calls of the members. */
  readonly slots: SharedSlots | null;
}

export class Admission {
  readonly #limit: number;
  readonly #waitMs: number;
  readonly #closing: AbortSignal;
  readonly #slots: SharedSlots | null;
  readonly #gates = new Map<string, Gate>();

  constructor({ limit, waitMs, closing, slots }: AdmissionParts) {
    this.#limit = limit;
    this.#waitMs = waitMs;
    this.#closing = closing;
    this.#slots = slots;
    slots?.serve({
      demandOf: (memberId) => this.#demandOf(memberId),
      changed: (memberId) => this.#admit(memberId, this.#gates.get(memberId)),
      failed: (memberId, error) => {
        for (const ticket of this.#gates.get(memberId)?.line ?? []) ticket.fail(error);
      },
    });
  }

  /**
   * Resolves when the member may start one more call, or returns null if that is now; every `enter`
   * needs one `leave`. `limit` is the member's own; null means the default.
   */
  enter(memberId: string, signal: AbortSignal, limit: number | null = null): Promise<void> | null {
    const gate = this.#gateOf(memberId);
    gate.limit = limit ?? this.#limit;
    this.#admit(memberId, gate);
    if (gate.inside >= this.#most(memberId, gate)) {
      const queued = this.#queue(memberId, gate, signal);
      this.#slots?.wanted(memberId);
      return queued;
    }
    gate.inside += 1;
    this.#slots?.entered(memberId);
    return null;
  }

  leave(memberId: string): void {
    const gate = this.#gateOf(memberId);
    gate.inside -= 1;
    this.#admit(memberId, gate);
    this.#forgetIdle(memberId, gate);
    this.#slots?.left(memberId);
  }

  /** How many calls of the member may run here. */
  #most(memberId: string, { limit }: Gate): number {
    return this.#slots === null ? limit : Math.min(limit, this.#slots.of(memberId));
  }

  /** Admits waiting calls, oldest first. */
  #admit(memberId: string, gate: Gate | undefined): void {
    if (gate === undefined || gate.line.size === 0) return;
    const most = this.#most(memberId, gate);
    for (const ticket of gate.line) {
      if (gate.inside >= most) return;
      gate.inside += 1;
      this.#slots?.entered(memberId);
      ticket.enter();
    }
  }

  #forgetIdle(memberId: string, { inside, line }: Gate): void {
    if (inside <= 0 && line.size === 0) this.#gates.delete(memberId);
  }

  #demandOf(memberId: string): SlotDemand | null {
    const gate = this.#gates.get(memberId);
    if (gate === undefined) return null;
    return { limit: gate.limit, running: gate.inside, waiting: gate.line.size };
  }

  #gateOf(memberId: string): Gate {
    const known = this.#gates.get(memberId);
    if (known !== undefined) return known;
    const gate: Gate = { inside: 0, limit: this.#limit, line: new Set() };
    this.#gates.set(memberId, gate);
    return gate;
  }

  #queue(memberId: string, gate: Gate, signal: AbortSignal): Promise<void> {
    const { line, limit } = gate;
    if (line.size >= MAX_LINE) {
      const message = `${line.size} of your calls already wait. Try again in 1 seconds.`;
      throw new ApiError('queue_full', message);
    }
    return new Promise((resolve, reject) => {
      const quit = (): void =>
        settle(() => reject(this.#closing.aborted ? shuttingDown() : this.#tooLong(limit)));
      const timer = setTimeout(quit, this.#waitMs);
      const ticket: Ticket = {
        enter: () => settle(resolve),
        fail: (error) => settle(() => reject(error)),
      };
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', quit);
        this.#closing.removeEventListener('abort', quit);
        line.delete(ticket);
        act();
        this.#forgetIdle(memberId, gate);
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
