/**
 * The line of calls that wait for a slot: whoever waits for a machine of their own gets it before
 * others; then members take turns, and each member's own calls keep their order. A call that nobody
 * can serve now holds up no other.
 */
import type { ProviderScope } from '../core/access/caller.js';

export interface Waiting {
  readonly memberId: string;
  /**
   * Calls with one key wait for the same thing: where one finds nothing, the others need not
   * look.
   */
  readonly key: string;
  /**
   * Starts the call if it can, on any machine or on one of its caller's own; true when it needs to
   * wait no longer.
   */
  tryStart(where: ProviderScope): boolean;
}

export class WaitingLine {
  /** In the order of turns: a member who was served goes to the end. */
  readonly #members = new Map<string, Set<Waiting>>();
  readonly #waitingByKey = new Map<string, number>();
  readonly #around: (serve: () => void) => void;
  #wakePending = false;

  /** `around` calls what it is given, in which the whole line is looked through. */
  constructor(around: (serve: () => void) => void = (serve) => serve()) {
    this.#around = around;
  }

  /** Whether somebody waits for the same thing: a newcomer must not overtake them. */
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

  /** Offers freed capacity to the line, once for all changes of this turn of the event loop. */
  readonly wake = (): void => {
    if (this.#wakePending || this.#members.size === 0) return;
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

  /** Goes round the members, one call each, until a whole round starts nothing. */
  #serveOn(where: ProviderScope): void {
    const exhausted = new Set<string>();
    let started = true;
    while (started) {
      started = false;
      // A copy: whoever is served moves to the end of the map under the loop.
      for (const [memberId, line] of Array.from(this.#members)) {
        const next = firstStarting(line, where, exhausted);
        if (next === null) continue;
        started = true;
        this.leave(next);
        this.#moveToEnd(memberId);
      }
    }
  }

  #moveToEnd(memberId: string): void {
    const line = this.#members.get(memberId);
    if (line === undefined) return;
    this.#members.delete(memberId);
    this.#members.set(memberId, line);
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
