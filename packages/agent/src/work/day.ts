/**
 * The last 24 hours of this machine, a value a minute: its cards, the slots in use, and the use of
 * its cards by other programs. Kept in memory and, now and then, in a file; told when the owner
 * asks.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { DAY_LIMITS, GPUS_DAY } from '@inference-gateway/shared/protocol/gpu-asks';
import type { DayCard, Measured } from '@inference-gateway/shared/protocol/gpu-asks';
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';
import { readingOf } from '../hardware/gpu-status.js';
import type { GpuProcess, GpuSample } from '../hardware/gpu-sample.js';
import type { Day, DayFile } from '../state/day-file.js';
import type { Answerer } from './answers.js';

const { stepMs: STEP_MS, steps: STEPS, cards: MAX_CARDS } = DAY_LIMITS;

/** A killed process loses at most the minutes of this interval. */
const WRITE_EVERY_MS = 600_000;

interface DayOptions {
  /** Null: the minutes are lost when the agent ends. */
  readonly file: DayFile | null;
  /** The hardware as known at this moment. */
  readonly host: () => AgentHost;
  /** Whether the cards are sampled. */
  readonly watches: boolean;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn'>;
}

export class MachineDay {
  /** The questions that it answers. */
  readonly topics: ReadonlyMap<string, Answerer> = new Map([[GPUS_DAY, () => this.#answer()]]);
  readonly #options: DayOptions;
  readonly #cards: CardMeters[] = [];
  readonly #slots = { own: new Meter(100), others: new Meter(100) };
  readonly #programs = new Meter();
  readonly #busy = { own: 0, others: 0 };
  readonly #firstMinute: number;
  /** The current one, in minutes since 1970. */
  #minute: number;
  #reckonedAt: number;
  #writtenAt: number;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: DayOptions) {
    this.#options = options;
    this.#minute = this.#now();
    this.#firstMinute = this.#minute;
    this.#reckonedAt = options.clock.steady();
    this.#writtenAt = this.#reckonedAt;
    this.#await();
  }

  /** Continues the minutes of an earlier process; those between are unknown. */
  async restore(): Promise<void> {
    const { file, logger } = this.#options;
    try {
      const found = await file?.read();
      if (found !== undefined && found !== null) this.#take(found);
    } catch (error) {
      const { message: reason } = error as Error;
      logger.warn({ reason }, 'the last 24 hours cannot be read: they begin anew');
    }
  }

  sampled({ cards }: GpuSample): void {
    this.#turn();
    for (const [index, load] of cards.slice(0, MAX_CARDS).entries()) {
      this.#cardAt(index).add(readingOf(load));
    }
  }

  /** Programs on the cards that are none of the model servers; null: unknown. */
  saw(programs: readonly GpuProcess[] | null): void {
    this.#turn();
    const used = (programs ?? []).flatMap(({ usePercent }) => usePercent ?? []);
    const isKnown = programs !== null && (programs.length === 0 || used.length > 0);
    const sum = used.reduce((all, percent) => all + percent, 0);
    if (isKnown) this.#programs.add(Math.min(sum, MAX_PROGRAMS_PERCENT));
  }

  /** A run begins, of the owner's or of others. Returns what is called at its end. */
  took(isOwn: boolean, slots: number): () => void {
    const whose = isOwn ? 'own' : 'others';
    const change = (by: number): void => {
      this.#turn();
      this.#reckon();
      this.#busy[whose] += by;
    };
    change(slots);
    return () => change(-slots);
  }

  /** From the first minute in which something was measured to the last one that is over. */
  view(): Day {
    this.#turn();
    const count = Math.min(STEPS, this.#minute - this.#firstKnown());
    const first = this.#minute - count;
    const kept = this.#cards.map((card) => card.view(first, count));
    const last = kept.findLastIndex(isMeasured);
    const cards = kept.slice(0, last + 1);
    const { gpus } = this.#options.host();
    const known = gpus.length === cards.length ? gpus : [];
    return {
      cards: cards.map((card, index) => {
        const { name = null, vram_mib: memory = null } = known[index] ?? {};
        return { name, memory_mib: memory, ...card };
      }),
      day: {
        first_at: first * STEP_MS,
        watches: this.#options.watches,
        own_slots: this.#slots.own.view(first, count),
        others_slots: this.#slots.others.view(first, count),
        programs_percent: this.#programs.view(first, count),
      },
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#write();
  }

  async *#answer(): ReturnType<Answerer> {
    const { cards, day } = this.view();
    for (const card of cards) yield { card };
    return { day };
  }

  #cardAt(index: number): CardMeters {
    const card = this.#cards[index] ?? new CardMeters();
    this.#cards[index] = card;
    return card;
  }

  get #meters(): readonly Meter[] {
    const cards = this.#cards.flatMap((card) => card.meters);
    return [...cards, this.#slots.own, this.#slots.others, this.#programs];
  }

  #now(): number {
    return Math.floor(this.#options.clock.now() / STEP_MS);
  }

  /** Ends the current minute if it is over. What was not measured between is unknown. */
  #turn(): void {
    const minute = this.#now();
    if (minute === this.#minute) return;
    this.#reckon();
    const isSetBack = minute < this.#minute;
    // After the clock was set back, what seems to lie ahead is dropped.
    const from = isSetBack ? minute : Math.max(this.#minute + 1, minute - STEPS);
    const to = isSetBack ? Math.min(this.#minute + 1, minute + STEPS) : minute;
    for (const meter of this.#meters) {
      meter.end(this.#minute);
      for (let one = from; one < to; one += 1) meter.forget(one);
    }
    this.#minute = minute;
  }

  /** Counts the slots in use since the last call. */
  #reckon(): void {
    const now = this.#options.clock.steady();
    const ms = now - this.#reckonedAt;
    this.#reckonedAt = now;
    if (ms <= 0) return;
    this.#slots.own.add(this.#busy.own, ms);
    this.#slots.others.add(this.#busy.others, ms);
  }

  #firstKnown(): number {
    const meters = this.#meters;
    for (let one = this.#minute - STEPS; one < this.#minute; one += 1) {
      if (meters.some((meter) => meter.knows(one))) return one;
    }
    return this.#minute;
  }

  #take({ cards, day }: Day): void {
    const first = Math.floor(day.first_at / STEP_MS);
    const before = this.#firstMinute;
    for (const [index, card] of cards.entries()) this.#cardAt(index).take(card, first, before);
    this.#slots.own.take(day.own_slots, first, before);
    this.#slots.others.take(day.others_slots, first, before);
    this.#programs.take(day.programs_percent, first, before);
  }

  #await(): void {
    const leftMs = STEP_MS - (this.#options.clock.now() % STEP_MS);
    this.#timer = setTimeout(() => {
      this.#turn();
      const now = this.#options.clock.steady();
      if (now - this.#writtenAt >= WRITE_EVERY_MS) void this.#write();
      this.#await();
    }, leftMs).unref();
  }

  /** Writes are serial; after one that failed the next one writes everything. */
  #write(): Promise<void> {
    const { file, logger, clock } = this.#options;
    this.#writtenAt = clock.steady();
    if (file === null) return Promise.resolve();
    this.#writing = this.#writing
      .then(() => file.write(this.view()))
      .catch((error: unknown) => {
        const { message: reason } = error as Error;
        logger.warn({ reason }, 'the last 24 hours cannot be written');
      });
    return this.#writing;
  }
}

/** All cards of a machine in full use. */
const MAX_PROGRAMS_PERCENT = 1_600;

type CardDay = Omit<DayCard, 'name' | 'memory_mib'>;

/** What is measured of one card. */
class CardMeters {
  readonly #meters: Readonly<Record<keyof CardDay, Meter>> = {
    use_percent: new Meter(),
    memory_used_mib: new Meter(),
    temperature_c: new Meter(),
    power_watts: new Meter(),
  };

  get meters(): readonly Meter[] {
    return Object.values(this.#meters);
  }

  add(reading: ReturnType<typeof readingOf>): void {
    for (const name of CARD_MEASURES) this.#meters[name].add(reading[name]);
  }

  view(first: number, count: number): CardDay {
    const of = (name: keyof CardDay): Measured => this.#meters[name].view(first, count);
    return {
      use_percent: of('use_percent'),
      memory_used_mib: of('memory_used_mib'),
      temperature_c: of('temperature_c'),
      power_watts: of('power_watts'),
    };
  }

  take(card: CardDay, first: number, before: number): void {
    for (const name of CARD_MEASURES) this.#meters[name].take(card[name], first, before);
  }
}

const CARD_MEASURES = ['use_percent', 'memory_used_mib', 'temperature_c', 'power_watts'] as const;

/** Whether a card told anything. */
function isMeasured(card: CardDay): boolean {
  return CARD_MEASURES.some((name) => card[name].mean.some((value) => value !== null));
}

/** Mean and maximum of one quantity in each minute of a day: a ring; NaN is unknown. */
class Meter {
  readonly #means = new Float32Array(STEPS).fill(NaN);
  readonly #maxima = new Float32Array(STEPS).fill(NaN);
  readonly #parts: number;
  // Of the current minute.
  #sum = 0;
  #weight = 0;
  #max = NaN;

  /** Values are rounded to this part of one. */
  constructor(parts = 1) {
    this.#parts = parts;
  }

  add(value: number | null, weight = 1): void {
    if (value === null) return;
    this.#sum += value * weight;
    this.#weight += weight;
    this.#max = Number.isNaN(this.#max) ? value : Math.max(this.#max, value);
  }

  /** Of this minute, which is over. */
  end(minute: number): void {
    this.#set(minute, this.#weight === 0 ? NaN : this.#sum / this.#weight, this.#max);
    this.#sum = 0;
    this.#weight = 0;
    this.#max = NaN;
  }

  forget(minute: number): void {
    this.#set(minute, NaN, NaN);
  }

  knows(minute: number): boolean {
    return !Number.isNaN(this.#means[minute % STEPS]);
  }

  view(first: number, count: number): Measured {
    return {
      mean: this.#read(this.#means, first, count),
      max: this.#read(this.#maxima, first, count),
    };
  }

  /** The minutes of an earlier process, as far as they are of the day before this minute. */
  take({ mean, max }: Measured, first: number, before: number): void {
    for (const [index, value] of mean.entries()) {
      const minute = first + index;
      if (minute < before && minute >= before - STEPS) {
        this.#set(minute, value ?? NaN, max[index] ?? NaN);
      }
    }
  }

  #set(minute: number, mean: number, max: number): void {
    this.#means[minute % STEPS] = mean;
    this.#maxima[minute % STEPS] = max;
  }

  #read(ring: Float32Array, first: number, count: number): (number | null)[] {
    return Array.from({ length: count }, (_, index) => {
      const value = ring[(first + index) % STEPS] ?? NaN;
      return Number.isNaN(value) ? null : Math.round(value * this.#parts) / this.#parts;
    });
  }
}
