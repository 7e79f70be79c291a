/** Today's sums, by this machine's calendar: they begin anew at midnight and outlive the agent. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { DayRow, Sums, TodayFile } from '../state/today-file.js';
import { DaySums } from './day-sums.js';
import type { RunOutcome, Use } from './run-record.js';

/** A process that is killed forgets what it did in this time at most. */
const WRITE_EVERY_MS = 60_000;

export interface DayBookOptions {
  /** Null: the sums end with the agent. */
  readonly file: TodayFile | null;
  readonly logger: Pick<Logger, 'warn'>;
  /** Unix ms. */
  readonly wallClock: () => number;
  readonly writeEveryMs?: number;
}

export class DayBook {
  readonly #options: DayBookOptions;
  #day: string;
  #sums = new DaySums();
  #isWritten = true;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: DayBookOptions) {
    this.#options = options;
    this.#day = dayOf(options.wallClock());
  }

  get day(): string {
    this.#turnPage();
    return this.#day;
  }

  get rows(): readonly DayRow[] {
    this.#turnPage();
    return this.#sums.rows;
  }

  get total(): Sums {
    this.#turnPage();
    return this.#sums.total;
  }

  /** Takes up what earlier processes did today. */
  async restore(): Promise<void> {
    const { file, logger } = this.#options;
    try {
      const found = await file?.read();
      this.#turnPage();
      if (found?.day === this.#day) this.#sums = new DaySums(found.rows);
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

  /** The tokens of a run that ended today do not count after all. */
  takeBack(use: Use): void {
    this.#sums.takeBack(use);
    this.#changed();
  }

  #changed(): void {
    this.#isWritten = false;
    const { writeEveryMs = WRITE_EVERY_MS } = this.#options;
    this.#timer ??= setTimeout(() => void this.#write(), writeEveryMs).unref();
  }

  /** Brings to disk what is not there yet. */
  async close(): Promise<void> {
    await this.#write();
  }

  #turnPage(): void {
    const day = dayOf(this.#options.wallClock());
    if (day === this.#day) return;
    this.#day = day;
    this.#sums = new DaySums();
  }

  /** One after the other. */
  #write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writeNow());
    return this.#writing;
  }

  /** What the disk does not take goes there with the next run. */
  async #writeNow(): Promise<void> {
    const { file, logger } = this.#options;
    if (this.#isWritten || file === null) return;
    this.#isWritten = true;
    try {
      await file.write({ day: this.#day, rows: this.#sums.rows });
    } catch (error) {
      this.#isWritten = false;
      logger.warn({ reason: (error as Error).message }, "today's sums cannot be written");
    }
  }
}

/** As a calendar on this machine's wall has it. */
function dayOf(atMs: number): string {
  const at = new Date(atMs);
  return [at.getFullYear(), twoDigits(at.getMonth() + 1), twoDigits(at.getDate())].join('-');
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
