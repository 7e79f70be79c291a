/**
 * A fleet in one process: any number of homes, each with its own socket. One seed determines their
 * properties and their behaviour.
 */
import type { Tongue } from './card.js';
import type { WorkCounts } from './home-work.js';
import type { EnrolledHome } from './enroll-homes.js';
import { Home } from './home.js';
import { Random } from './random.js';

interface FleetOptions {
  /** Of the coordinator. */
  readonly origin: string;
  readonly seed: number;
  readonly tongue?: Tongue;
}

/** How often each thing has happened since the fleet was made. */
export interface FleetCounts extends Readonly<WorkCounts> {
  /** Links that were welcomed, and the codes with which they ended. */
  readonly links: number;
  readonly ends: Readonly<Record<number, number>>;
}

const WORDS = ['the ', 'quick ', 'brown ', 'fox ', 'jumps ', 'over ', 'a ', 'lazy ', 'dog. '];

/** The default words of answers, the same for all homes. */
export const words: Tongue = (index) => WORDS[index % WORDS.length] ?? '';

export class Fleet {
  readonly homes: readonly Home[];
  readonly #counts: WorkCounts = { opened: 0, answered: 0, failed: 0, canceled: 0 };
  readonly #ends: Record<number, number> = {};
  #links = 0;

  constructor(enrolled: readonly EnrolledHome[], options: FleetOptions) {
    const { origin, seed, tongue = words } = options;
    this.homes = enrolled.map(({ plan, token }, index) => {
      const random = new Random(seed, index);
      const onLink = (change: 'up' | number): void => this.#onLink(change);
      return new Home({ plan, token, origin, random, tongue, counts: this.#counts, onLink });
    });
  }

  /** Homes whose link is welcomed. */
  get online(): number {
    return this.homes.filter(({ isOnline }) => isOnline).length;
  }

  get counts(): FleetCounts {
    return { ...this.#counts, links: this.#links, ends: { ...this.#ends } };
  }

  /** All dial at this moment, sleeping homes included. */
  wakeAll(): void {
    for (const home of this.homes) home.wake();
  }

  /** Every line is cut at this moment; each home comes back when its back-off says so. */
  dropAll(): void {
    for (const home of this.homes) home.drop();
  }

  sleepAll(): void {
    for (const home of this.homes) home.sleep();
  }

  /** Homes no longer leave by themselves, and those that are away come back now. */
  settle(): void {
    for (const home of this.homes) home.settle();
  }

  #onLink(change: 'up' | number): void {
    if (change === 'up') this.#links += 1;
    else this.#ends[change] = (this.#ends[change] ?? 0) + 1;
  }
}
