/**
 * The cards' energy, shared among the current runs by their slots. Runs of a second come and go
 * between two samples, so it is computed at each beginning and end of a run, too: a sample's power
 * counts until the next sample. What the cards take when idle is in it.
 */
import { LiveObjects } from '@inference-gateway/shared/live-objects';
import type { GpuSample } from '../hardware/gpu-sample.js';

/** A sample does not count for later times than this: the machine may have slept. */
const BELIEVED_MS = 5_000;

/** A current run on this machine. */
export interface EnergyUser {
  /** Slots in use: its part of the energy. */
  readonly slots: number;
  /** Its part so far of what all cards took. Null until a card has reported its power. */
  joules: number | null;
  /**
   * Whether `joules` may be told as the energy of this run: its whole time was measured, and on the
   * only card. Which of several cards a server uses is not known.
   */
  isMeasured: boolean;
}

export class EnergyMeter {
  readonly #clock: () => number;
  readonly #users = new LiveObjects<EnergyUser>();
  /** Of all users. */
  #slots = 0;
  #watts: number | null = null;
  /** The most cards of a sample: one that came in two parts has too few. */
  #cards = 0;
  #sampledAt = 0;
  #reckonedAt = 0;

  /** The clock is in ms and monotonic. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  begin(user: EnergyUser): void {
    this.reckon();
    this.#users.add(user);
    this.#slots += user.slots;
  }

  end(user: EnergyUser): void {
    this.reckon();
    this.#users.delete(user);
    this.#slots -= user.slots;
  }

  sampled(sample: GpuSample): void {
    this.reckon();
    this.#sampledAt = this.#clock();
    this.#watts = wattsOf(sample);
    this.#cards = Math.max(this.#cards, sample.cards.length);
  }

  /** Gives each run its share of the energy since the last call. */
  reckon(): void {
    const now = this.#clock();
    const from = this.#reckonedAt;
    this.#reckonedAt = now;
    if (this.#slots === 0 || now <= from) return;
    const until = this.#watts === null ? from : Math.min(now, this.#sampledAt + BELIEVED_MS);
    const isMeasured = until === now && this.#cards === 1;
    const measuredMs = Math.max(0, until - from);
    const share = ((this.#watts ?? 0) * measuredMs) / 1_000 / this.#slots;
    for (const user of this.#users.all()) {
      if (measuredMs > 0) user.joules = (user.joules ?? 0) + share * user.slots;
      user.isMeasured &&= isMeasured;
    }
  }
}

/** Total of all cards that report power; null if none does. */
function wattsOf({ cards }: GpuSample): number | null {
  const known = cards.flatMap(({ powerWatts }) => (powerWatts === null ? [] : [powerWatts]));
  return known.length === 0 ? null : known.reduce((sum, watts) => sum + watts, 0);
}

/**
 * Joules as a run's last message tells them: two digits, because sensors are exact to a twentieth,
 * and nobody shall read more of the owner's card from them. Null if they are not known.
 */
export function toldJoules({ joules, isMeasured }: Pick<EnergyUser, 'joules' | 'isMeasured'>) {
  return joules !== null && joules > 0 && isMeasured ? Number(joules.toPrecision(2)) : null;
}
