/**
 * Whether the owner of this machine uses the card: a judgement of samples, without a clock of its
 * own.
 */
import type { GameModeSettings } from '../config/config.js';
import type { CardLoad, GpuProcess } from '../hardware/gpu-sample.js';
import { DESKTOP_PROGRAMS, isOneOf } from '../hardware/program-names.js';

/** A sample, and what is known of it. */
export interface CardReading {
  /** `performance.now()`, like all times here. */
  readonly at: number;
  readonly cards: readonly CardLoad[];
  /** Programs that are none of the configured servers; null where that cannot be told. */
  readonly strangers: readonly GpuProcess[] | null;
  /** The list that they are of; one list may be told with several readings of the load. */
  readonly processes: readonly GpuProcess[] | null;
  /** Since when nothing of ours runs; null while something does. */
  readonly idleSince: number | null;
}

/** What takes the card; without a name where only its load tells of it. */
export interface Intruder {
  readonly program: string | null;
}

/** Below this a program only keeps a window up to date. */
const NOISE_PERCENT = 5;
/** The use that is told is a mean of the last moments, our own work's among it. */
const LAG_MS = 2_000;
/** One sample may be chance. */
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
   * What is told a second time is no second sign, and no sign of its end. Only memory counts each
   * time: it is held on and on, and a game is to be noticed before the next list comes.
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
    // A load alone must not hide the name that is known.
    if (!wasBusy || seen.program !== null) this.#intruder = seen;
  }

  get #freeAt(): number {
    return this.#seenAt + FREE_AFTER_MS;
  }

  /** One that holds memory counts before one that only computes. */
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
    // A desktop always holds memory, and draws whatever its owner moves.
    if (name !== null && isOneOf(DESKTOP_PROGRAMS, name)) return use > useLimit;
    return use >= NOISE_PERCENT || this.#holdsMemory({ memoryMib });
  }

  #holdsMemory({ memoryMib }: Pick<GpuProcess, 'memoryMib'>): boolean {
    return (memoryMib ?? 0) > this.#settings.memoryMib;
  }
}
