/**
 * The queue of calls that wait for a slot. A slot on a member's own machine goes to that member's
 * calls first; then members take turns, and each member's own calls keep their order. A call that
 * no provider can serve now does not block others.
 */
import type { ProviderScope } from '../core/access/caller.js';

export interface Waiting {
  readonly memberId: string;
  /**
   * Calls with the same key wait for the same thing: if one finds nothing, the others need not
   * search.
   */
  readonly key: string;
  /**
   * Starts the call if it can, on any machine or only on its caller's own; true if it no longer
   * needs to wait.
   */
  tryStart(where: ProviderScope): boolean;
}

export class WaitingLine {
  /** In the order of turns: a member who was served moves to the end. */
  readonly #members = new Map<string, Set<Waiting>>();
  readonly #waitingByKey = new Map<string, number>();
  readonly #around: (serve: () => void) => void;
  #wakePending = false;

  /** `around` wraps each pass over the whole queue. */
  constructor(around: (serve: () => void) => void = (serve) => serve()) {
    this.#around = around;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  /** Whether a call waits for the same thing: a new call must not overtake it. */
  hasWaiting(key: string): boolean {
    return this.#waitingByKey.has(key);
  }

  lengthOf(memberId: string): number {
    return this.#members.get(memberId)?.size ?? 0;
  }

  join(waiting: Waiting): void {
    const line = this.#members.get(waiting.memberId) ?? new Set();
    line.add(waiting);
    this.#members.set(waiting.memberId, line);
    this.#waitingByKey.set(waiting.key, (this.#waitingByKey.get(waiting.key) ?? 0) + 1);
  }

  leave(waiting: Waiting): void {
    const line = this.#members.get(waiting.memberId);
    if (!line?.delete(waiting)) return;
    if (line.size === 0) this.#members.delete(waiting.memberId);
    const left = (this.#waitingByKey.get(waiting.key) ?? 1) - 1;
    if (left > 0) this.#waitingByKey.set(waiting.key, left);
    else this.#waitingByKey.delete(waiting.key);
  }

  /** It has got a slot: its member moves to the end. */
  served(waiting: Waiting): void {
    this.leave(waiting);
    const { memberId } = waiting;
    const line = this.#members.get(memberId);
    if (line === undefined) return;
    this.#members.delete(memberId);
    this.#members.set(memberId, line);
  }

  /** Offers freed capacity to the queue, once for all changes of this turn of the event loop. */
  readonly wake = (): void => {
    if (this.#wakePending || this.isEmpty) return;
    this.#wakePending = true;
    queueMicrotask(() => {
      this.#wakePending = false;
      this.#around(() => this.#serve());
    });
  };

  #serve(): void {
    this.#serveOn('own');
    this.#serveOn('any');
  }

  /** Serves the members in turn, one call each, until a whole round starts nothing. */
  #serveOn(where: ProviderScope): void {
    const exhausted = new Set<string>();
    let started = true;
    while (started) {
      started = false;
      // A copy, because a served member moves to the end of the map during the loop.
      for (const line of Array.from(this.#members.values())) {
        const next = firstStarting(line, where, exhausted);
        if (next === null) continue;
        started = true;
        this.served(next);
      }
    }
  }
}

function firstStarting(
  line: ReadonlySet<Waiting>,
  where: ProviderScope,
  exhausted: Set<string>,
): Waiting | null {
  for (const waiting of line) {
    if (exhausted.has(waiting.key)) continue;
    if (waiting.tryStart(where)) return waiting;
    exhausted.add(waiting.key);
  }
  return null;
}
