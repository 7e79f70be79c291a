/** What each service has done since the agent started: counters that only grow. */
import type { Sums } from '../state/today-file.js';
import { NO_SUMS, plus, sumsOf } from './day-sums.js';
import type { RunOutcome, Use } from './run-record.js';

export class Tally {
  readonly #requests = new Map<string, number>();
  readonly #sums = new Map<string, Sums>();

  add(use: Use, outcome: RunOutcome): void {
    const { serviceId, kind } = use;
    if (serviceId === null) return;
    const key = keyOf(serviceId, kind, outcome);
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    this.#sums.set(serviceId, plus(this.sums(serviceId), sumsOf(use, outcome)));
  }

  requests(serviceId: string, kind: Use['kind'], outcome: RunOutcome): number {
    return this.#requests.get(keyOf(serviceId, kind, outcome)) ?? 0;
  }

  sums(serviceId: string): Sums {
    return this.#sums.get(serviceId) ?? NO_SUMS;
  }
}

function keyOf(serviceId: string, kind: Use['kind'], outcome: RunOutcome): string {
  return `${kind} ${outcome} ${serviceId}`;
}
