/**
 * Gathers calls of one operation that are made at the same time, and carries them out in one
 * transaction: they share its round trips and its wait for the disk. A call that comes alone is
 * carried out alone, at once.
 */

/** Of one transaction. More would delay the first ones, and hold their locks longer. */
const MAX_CALLS = 64;
/** Transactions at the same time. While they are under way, further calls gather. */
const MAX_TRANSACTIONS = 2;

interface GatheringParts<Call, Result> {
  /** One result for each call, in order. */
  readonly carryOut: (calls: readonly Call[]) => Promise<readonly Result[]>;
  /** Calls with the same lock are never in two transactions at once: one would wait. */
  readonly lockOf: (call: Call) => string;
  /** An error that another attempt would meet, too. */
  readonly isFinal: (error: unknown) => boolean;
}

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly lock: string;
  readonly resolve: (result: Result | PromiseLike<Result>) => void;
  readonly reject: (error: unknown) => void;
}

export class Gathering<Call, Result> {
  readonly #parts: GatheringParts<Call, Result>;
  #waiting: Waiting<Call, Result>[] = [];
  readonly #locked = new Set<string>();
  #transactions = 0;
  #isStarting = false;

  constructor(parts: GatheringParts<Call, Result>) {
    this.#parts = parts;
  }

  call(call: Call): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, lock: this.#parts.lockOf(call), resolve, reject });
      this.#startSoon();
    });
  }

  /** After this turn of the event loop, which may bring more calls. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    process.nextTick(() => {
      this.#isStarting = false;
      while (this.#transactions < MAX_TRANSACTIONS && this.#start());
    });
  }

  /** False if no call can be carried out now. */
  #start(): boolean {
    const group: Waiting<Call, Result>[] = [];
    const left: Waiting<Call, Result>[] = [];
    for (const one of this.#waiting) {
      const fits = group.length < MAX_CALLS && !this.#locked.has(one.lock);
      (fits ? group : left).push(one);
    }
    if (group.length === 0) return false;
    this.#waiting = left;
    this.#transactions += 1;
    const locks = new Set(group.map(({ lock }) => lock));
    for (const lock of locks) this.#locked.add(lock);
    void this.#carryOut(group).finally(() => {
      this.#transactions -= 1;
      for (const lock of locks) this.#locked.delete(lock);
      this.#startSoon();
    });
    return true;
  }

  async #carryOut(group: readonly Waiting<Call, Result>[]): Promise<void> {
    const { carryOut, isFinal } = this.#parts;
    try {
      const results = await carryOut(group.map(({ call }) => call));
      for (const [i, { resolve }] of group.entries()) {
        const result = results[i];
        if (result === undefined) throw new Error('an operation has fewer results than calls');
        resolve(result);
      }
    } catch (error) {
      if (group.length === 1 || isFinal(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      // None has taken effect: each alone, so that only the faulty one fails.
      for (const one of group) await this.#carryOut([one]);
    }
  }
}
