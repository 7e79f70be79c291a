/**
 * The use of this machine, now and today: public names, models and amounts, never prompts or
 * outputs.
 */
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import type { GpuSample } from '../hardware/gpu-sample.js';
import type { TodayFile, DayRow, Sums } from '../state/today-file.js';
import { EnergyMeter } from './energy.js';
import type { ClaimView } from './held-claims.js';
import { RunRecord } from './run-record.js';
import type { RunOutcome, Use } from './run-record.js';
import { LiveObjects } from '@inference-gateway/shared/live-objects';

/** The maximum number of claims. */
const MAX_ENDED_JOBS = 256;

export interface LedgerOptions {
  /** Null: today's sums are lost when the agent ends. */
  readonly file: TodayFile | null;
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Clock;
  readonly writeEveryMs?: number;
}

interface RunPlace {
  readonly slots?: number;
  readonly isHere?: boolean;
}

export class Ledger {
  readonly today: DayBook;
  /** By service, since the agent started. */
  readonly tally = new Tally();
  readonly #clock: Clock;
  readonly #energy: EnergyMeter;
  readonly #running = new LiveObjects<RunRecord>();
  /** By claim: jobs whose answers may wait for confirmation. The oldest is dropped first. */
  readonly #endedJobs = new Map<string, { readonly use: Use; readonly day: string }>();

  constructor({ clock, ...rest }: LedgerOptions) {
    this.#clock = clock;
    this.#energy = new EnergyMeter(clock.steady);
    this.today = new DayBook({ ...rest, now: clock.now });
  }

  /**
   * A run begins. The record reports its own end. `isHere`: its model server runs on this machine,
   * and so on its cards.
   */
  begin(open: Message<'OPEN'>, { slots = 1, isHere = true }: RunPlace = {}): RunRecord {
    const record = new RunRecord({
      open,
      slots,
      since: this.#clock.now(),
      clock: this.#clock.steady,
      ended: (record, outcome) => {
        if (isHere) this.#energy.end(record);
        this.#ended(record, outcome);
      },
    });
    if (isHere) this.#energy.begin(record);
    this.#running.add(record);
    return record;
  }

  /** Every current run, and every answer that waits for confirmation. */
  now(claims: readonly ClaimView[]): Use[] {
    this.#energy.reckon();
    const running = this.#running.all().map(({ use }) => use);
    const waiting = claims.filter(({ phase }) => phase === 'spooled');
    return [...running, ...waiting.map((claim) => this.#useOf(claim))];
  }

  sampled(sample: GpuSample): void {
    this.#energy.sampled(sample);
  }

  /** A job's answer was unused: its tokens do not count, but its time does. */
  unused(claimId: string): void {
    const ended = this.#endedJobs.get(claimId);
    if (ended === undefined) return;
    const { use, day } = ended;
    this.#endedJobs.set(claimId, {
      day,
      use: { ...use, promptTokens: null, completionTokens: null },
    });
    if (day === this.today.day) this.today.takeBack(use);
  }

  #ended(record: RunRecord, outcome: RunOutcome): void {
    this.#running.delete(record);
    const { use } = record;
    this.today.add(use, outcome);
    this.tally.add(use, outcome);
    if (use.claimId !== null) this.#keep(use.claimId, use);
  }

  #keep(claimId: string, use: Use): void {
    this.#endedJobs.delete(claimId);
    this.#endedJobs.set(claimId, { use, day: this.today.day });
    const [oldest] = this.#endedJobs.keys();
    if (this.#endedJobs.size > MAX_ENDED_JOBS && oldest !== undefined) {
      this.#endedJobs.delete(oldest);
    }
  }

  /** Of an earlier process's run only the facts stored with its answer are known. */
  #useOf({ bytes, ...facts }: ClaimView): Use {
    const ended = this.#endedJobs.get(facts.claimId);
    if (ended !== undefined) return { ...ended.use, bytes };
    return {
      ...facts,
      id: facts.jobId,
      kind: 'job',
      serviceId: null,
      promptTokens: null,
      completionTokens: null,
      estimated: false,
      seconds: null,
      energyWh: null,
      bytes,
    };
  }
}

// Today's sums, by this machine's calendar: they restart at midnight and survive a restart of the
// agent.

/** A killed process loses at most the sums of this interval. */
const WRITE_EVERY_MS = 60_000;

interface DayBookOptions {
  /** Null: the sums are lost when the agent ends. */
  readonly file: TodayFile | null;
  readonly logger: Pick<Logger, 'warn'>;
  /** Unix ms. */
  readonly now: () => number;
  readonly writeEveryMs?: number;
}

class DayBook {
  readonly #options: DayBookOptions;
  #day: Day;
  #sums = new DaySums();
  #isWritten = true;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: DayBookOptions) {
    this.#options = options;
    this.#day = dayOf(options.now());
  }

  get day(): string {
    this.#turnPage();
    return this.#day.date;
  }

  get rows(): readonly DayRow[] {
    this.#turnPage();
    return this.#sums.rows;
  }

  get total(): Sums {
    this.#turnPage();
    return this.#sums.total;
  }

  /** Restores the sums of earlier processes of today. */
  async restore(): Promise<void> {
    const { file, logger } = this.#options;
    try {
      const found = await file?.read();
      this.#turnPage();
      if (found?.day === this.#day.date) this.#sums = new DaySums(found.rows);
    } catch (error) {
      const { message: reason } = error as Error;
      logger.warn({ reason }, "today's sums cannot be read: they begin anew");
    }
  }

  /** A run counts on the day on which it ends. */
  add(use: Use, outcome: RunOutcome): void {
    this.#turnPage();
    this.#sums.add(use, outcome);
    this.#changed();
  }

  /** The tokens of a run that ended today no longer count. */
  takeBack(use: Use): void {
    this.#sums.takeBack(use);
    this.#changed();
  }

  #changed(): void {
    this.#isWritten = false;
    const { writeEveryMs = WRITE_EVERY_MS } = this.#options;
    this.#timer ??= setTimeout(() => void this.#write(), writeEveryMs).unref();
  }

  /** Writes unsaved sums to disk. */
  async close(): Promise<void> {
    await this.#write();
  }

  #turnPage(): void {
    const now = this.#options.now();
    if (now >= this.#day.beginsAt && now < this.#day.endsAt) return;
    this.#day = dayOf(now);
    this.#sums = new DaySums();
  }

  /** Writes are serial. */
  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeNow());
    return this.#writing;
  }

  /** After a failed write the sums are written with the next run. */
  async #writeNow(): Promise<void> {
    const { file, logger } = this.#options;
    if (this.#isWritten || file === null) return;
    this.#isWritten = true;
    try {
      await file.write({ day: this.#day.date, rows: this.#sums.rows });
    } catch (error) {
      this.#isWritten = false;
      logger.warn({ reason: (error as Error).message }, "today's sums cannot be written");
    }
  }
}

/** A day in this machine's time zone, in Unix ms. */
interface Day {
  readonly date: string;
  readonly beginsAt: number;
  readonly endsAt: number;
}

function dayOf(atMs: number): Day {
  const at = new Date(atMs);
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()];
  return {
    date: [year, twoDigits(month + 1), twoDigits(day)].join('-'),
    beginsAt: new Date(year, month, day).getTime(),
    endsAt: new Date(year, month, day + 1).getTime(),
  };
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}

/** Totals per service since the agent started: counters that only grow. */
export class Tally {
  readonly #requests = new Map<string, number>();
  readonly #sums = new Map<string, Mutable<Sums>>();

  add(use: Use, outcome: RunOutcome): void {
    const { serviceId, kind } = use;
    if (serviceId === null) return;
    const key = keyOf(serviceId, kind, outcome);
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const sums = this.#sums.get(serviceId) ?? { ...NO_SUMS };
    this.#sums.set(serviceId, sums);
    addTo(sums, sumsOf(use, outcome));
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

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

// The sums of one day, one row per caller and model.

/** Further callers and models share one row. */
export const MAX_DAY_ROWS = 1_000;

const NO_SUMS: Sums = {
  requests: 0,
  failed: 0,
  promptTokens: 0,
  completionTokens: 0,
  estimated: 0,
  seconds: 0,
  energyWh: null,
};

const REST = { caller: null, own: null, model: null };
const REST_KEY = JSON.stringify(Object.values(REST));

class DaySums {
  readonly #rows = new Map<string, Mutable<DayRow>>();

  constructor(rows: readonly DayRow[] = []) {
    for (const row of rows) this.#count(row, row);
  }

  /** The longest first. */
  get rows(): readonly DayRow[] {
    const rows = Array.from(this.#rows.values(), (row) => ({ ...row }));
    return rows.toSorted((a, b) => b.seconds - a.seconds);
  }

  get total(): Sums {
    const total = { ...NO_SUMS };
    for (const row of this.#rows.values()) addTo(total, row);
    return total;
  }

  add(use: Use, outcome: RunOutcome): void {
    this.#count(use, sumsOf(use, outcome));
  }

  takeBack({ caller, own, model, promptTokens, completionTokens, estimated }: Use): void {
    const tokens = {
      promptTokens: -(promptTokens ?? 0),
      completionTokens: -(completionTokens ?? 0),
      estimated: estimated ? -1 : 0,
    };
    this.#count({ caller, own, model }, { ...NO_SUMS, ...tokens });
  }

  #count({ caller, own, model }: Pick<DayRow, 'caller' | 'own' | 'model'>, sums: Sums): void {
    const key = JSON.stringify([caller, own, model]);
    const known = this.#rows.get(key);
    if (known !== undefined) return addTo(known, sums);
    const isRest = this.#rows.size >= MAX_DAY_ROWS - 1;
    const who = isRest ? REST : { caller, own, model };
    const row = (isRest ? this.#rows.get(REST_KEY) : undefined) ?? { ...who, ...NO_SUMS };
    this.#rows.set(isRest ? REST_KEY : key, row);
    return addTo(row, sums);
  }
}

function sumsOf(
  use: Pick<Use, 'promptTokens' | 'completionTokens' | 'estimated' | 'seconds' | 'energyWh'>,
  outcome: RunOutcome,
): Sums {
  return {
    requests: 1,
    failed: outcome === 'failed' ? 1 : 0,
    promptTokens: use.promptTokens ?? 0,
    completionTokens: use.completionTokens ?? 0,
    estimated: use.estimated ? 1 : 0,
    seconds: use.seconds ?? 0,
    energyWh: use.energyWh,
  };
}

function addTo(sums: Mutable<Sums>, more: Sums): void {
  sums.requests += more.requests;
  sums.failed += more.failed;
  sums.promptTokens += more.promptTokens;
  sums.completionTokens += more.completionTokens;
  sums.estimated += more.estimated;
  sums.seconds += more.seconds;
  if (more.energyWh !== null) sums.energyWh = (sums.energyWh ?? 0) + more.energyWh;
}
