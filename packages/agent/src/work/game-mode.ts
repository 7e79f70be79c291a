/**
 * Decides from samples whether the owner of this machine uses the card. Has no clock of its own.
 */
import type { GameModeSettings } from '../config/config.js';
import type { CardLoad, GpuProcess } from '../hardware/gpu-sample.js';
import { DESKTOP_PROGRAMS, isOneOf } from '../hardware/program-names.js';

/** A sample with additional facts. */
export interface CardReading {
  /** `performance.now()`, like all times here. */
  readonly at: number;
  readonly cards: readonly CardLoad[];
  /** Programs other than the configured servers; null if that is unknown. */
  readonly strangers: readonly GpuProcess[] | null;
  /** The list that they come from; several readings of the load may share one list. */
  readonly processes: readonly GpuProcess[] | null;
  /** Since when none of the agent's work runs; null while some does. */
  readonly idleSince: number | null;
}

/** The program that uses the card; no name if only the load shows it. */
export interface Intruder {
  readonly program: string | null;
}

/** Below this, a program only updates its window. */
const NOISE_PERCENT = 5;
/** The reported use is an average of the last moments and includes the agent's own work. */
const LAG_MS = 2_000;
/** A single sample may be chance. */
const SAMPLES = 2;
const FREE_AFTER_MS = 60_000;

export class GameMode {
  readonly #settings: GameModeSettings;
  #inARow = 0;
  #cards: CardReading['cards'] | null = null;
  #processes: CardReading['processes'] = null;
  #intruder: Intruder | null = null;
  #seenAt = 0;

  constructor(settings: GameModeSettings) {
    this.#settings = settings;
  }

  see(reading: CardReading): void {
    const stranger = this.#strangerIn(reading);
    if (this.#isRetold(reading, stranger)) return;
    this.#cards = reading.cards;
    this.#processes = reading.processes;
    const intruder = stranger === null ? this.#loadIn(reading) : { program: stranger.name };
    this.#judge(reading, intruder);
  }

  /** Null: the card is free. */
  intruderAt(now: number): Intruder | null {
    return this.#intruder !== null && now < this.#freeAt ? this.#intruder : null;
  }

  /**
   * A repeated reading is no second sign of use, nor of its end. Only memory counts each time: it
   * stays held, and a game must be noticed before the next list comes.
   */
  #isRetold({ cards, processes }: CardReading, stranger: GpuProcess | null): boolean {
    if (stranger === null) return cards === this.#cards;
    return processes === this.#processes && !this.#holdsMemory(stranger);
  }

  #judge(reading: CardReading, seen: Intruder | null): void {
    this.#inARow = seen === null ? 0 : this.#inARow + 1;
    const wasBusy = this.intruderAt(reading.at) !== null;
    if (seen === null || (this.#inARow < SAMPLES && !wasBusy)) return;
    this.#seenAt = reading.at;
    // A load alone must not replace a known name.
    if (!wasBusy || seen.program !== null) this.#intruder = seen;
  }

  get #freeAt(): number {
    return this.#seenAt + FREE_AFTER_MS;
  }

  /** A program that holds memory takes precedence over one that only computes. */
  #strangerIn({ strangers }: CardReading): GpuProcess | null {
    const taking = strangers?.filter((one) => this.#takesCard(one)) ?? [];
    return taking.find((one) => this.#holdsMemory(one)) ?? taking[0] ?? null;
  }

  #loadIn({ at, cards, idleSince }: CardReading): Intruder | null {
    const isIdle = idleSince !== null && at - idleSince > LAG_MS;
    const { usePercent: limit } = this.#settings;
    const isLoaded = cards.some(({ usePercent }) => usePercent !== null && usePercent > limit);
    return isIdle && isLoaded ? { program: null } : null;
  }

  #takesCard({ name, usePercent, memoryMib }: GpuProcess): boolean {
    const { usePercent: useLimit, ignore } = this.#settings;
    if (name !== null && isOneOf(ignore, name)) return false;
    const use = usePercent ?? 0;
    // A desktop always holds memory, and draws when its owner moves a window.
    if (name !== null && isOneOf(DESKTOP_PROGRAMS, name)) return use > useLimit;
    return use >= NOISE_PERCENT || this.#holdsMemory({ memoryMib });
  }

  #holdsMemory({ memoryMib }: Pick<GpuProcess, 'memoryMib'>): boolean {
    return (memoryMib ?? 0) > this.#settings.memoryMib;
  }
}
