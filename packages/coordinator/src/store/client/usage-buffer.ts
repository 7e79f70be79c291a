/** A buffer of usage rows: no request waits for its row to be written. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { UsageRow } from '../port.js';

const FLUSH_INTERVAL_MS = 1_000;
/**
 * A row takes 1 to 2 µs of the event loop to send, and a commit as much of the database's thread as
 * 100 rows: twice as many would be seen in the p99, half as many cost a tenth more CPU time.
 */
const FLUSH_ROWS = 500;
/** About 5 MiB of memory, while the database cannot write. */
export const MAX_BUFFERED_ROWS = 10_000;

interface UsageBufferOptions {
  readonly write: (rows: readonly UsageRow[]) => Promise<void>;
  /** Called with the number of rows that are lost, and the reason. */
  readonly onLost: (rows: number, reason: string) => void;
}

export class UsageBuffer {
  readonly #options: UsageBufferOptions;
  #rows: UsageRow[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;

  constructor(options: UsageBufferOptions) {
    this.#options = options;
  }

  add(rows: readonly UsageRow[]): void {
    this.#rows.push(...rows);
    this.#dropOldest(MAX_BUFFERED_ROWS, 'the database has taken no writes for too long');
    if (this.#rows.length >= FLUSH_ROWS) void this.flush();
    else this.#flushLater();
  }

  /** Writes the buffered rows. Rows that the database cannot write now stay for the next flush. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = null;
      if (this.#rows.length > 0) this.#flushLater();
    });
    return this.#flushing;
  }

  /** The last flush: rows that cannot be written now are lost. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#dropOldest(0, 'the database took no writes at shutdown');
  }

  async #writeAll(): Promise<void> {
    while (this.#rows.length > 0) {
      const rows = this.#rows.splice(0, FLUSH_ROWS);
      const kept = await this.#write(rows);
      if (kept) continue;
      this.#rows.unshift(...rows);
      return;
    }
  }

  /** False if the rows must be written again. */
  async #write(rows: readonly UsageRow[]): Promise<boolean> {
    try {
      await this.#options.write(rows);
      return true;
    } catch (error) {
      if (error instanceof ApiError) return false;
      // The database refuses these rows themselves, and would do so again.
      this.#options.onLost(rows.length, (error as Error).message);
      return true;
    }
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, FLUSH_INTERVAL_MS).unref();
  }

  #dropOldest(limit: number, reason: string): void {
    const lost = this.#rows.length - limit;
    if (lost <= 0) return;
    this.#rows.splice(0, lost);
    this.#options.onLost(lost, reason);
  }
}
