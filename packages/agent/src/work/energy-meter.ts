/**
 * What the cards take, shared equally among the runs under way at that moment. Runs of a second
 * come and go between two samples, so it is reckoned at each beginning and end, too, with the power
 * of the last sample.
 */
import type { GpuSample } from '../hardware/gpu-sample.js';

/** A sample says nothing of what comes so long after it: the machine may have slept. */
const BELIEVED_MS = 5_000;

/** Whoever is under way. */
export interface EnergyUser {
  /** Null while no card has told its power. */
  joules: number | null;
}

export class EnergyMeter {
  readonly #clock: () => number;
  readonly #users = new Set<EnergyUser>();
  #watts: number | null = null;
  #sampledAt = 0;
  #reckonedAt = 0;

  /** The clock is in ms and never set back. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  begin(user: EnergyUser): void {
    this.reckon();
    this.#users.add(user);
  }

  end(user: EnergyUser): void {
    this.reckon();
    this.#users.delete(user);
  }

  sampled(sample: GpuSample): void {
    this.reckon();
    this.#sampledAt = this.#clock();
    this.#watts = wattsOf(sample);
  }

  /** Gives each its share of what was taken since the last time. */
  reckon(): void {
    const now = this.#clock();
    const ms = Math.min(now, this.#sampledAt + BELIEVED_MS) - this.#reckonedAt;
    this.#reckonedAt = now;
    if (this.#watts === null || ms <= 0) return;
    const share = (this.#watts * ms) / 1_000 / this.#users.size;
    for (const user of this.#users) user.joules = (user.joules ?? 0) + share;
  }
}

/** Of all cards that tell; null where none does. */
function wattsOf({ cards }: GpuSample): number | null {
  const known = cards.flatMap(({ powerWatts }) => (powerWatts === null ? [] : [powerWatts]));
  return known.length === 0 ? null : known.reduce((sum, watts) => sum + watts, 0);
}
