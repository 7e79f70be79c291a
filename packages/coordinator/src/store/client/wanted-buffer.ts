/**
 * Models that members asked for in vain, on their way to the database. No request waits for it, and
 * a member who asks for a million names costs a look into a map for each.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import { isWantable, MAX_WANTED_A_DAY, wantedId } from '../../core/access/wanted-model.js';
import type { AskedModel, AskedOn } from '../port.js';

const DAY_MS = 86_400_000;

const FLUSH_INTERVAL_MS = 5_000;
/** Rows of one operation: more would block SQLite's only writer. */
const FLUSH_ROWS = 200;
/** Further ones are lost until these are written. */
export const MAX_BUFFERED_ASKS = 2_000;

interface WantedBufferOptions {
  readonly write: (asked: readonly AskedOn[]) => Promise<void>;
  /** Unix ms. */
  readonly now: () => number;
}

export class WantedBuffer {
  readonly #options: WantedBufferOptions;
  /** The first millisecond of the day, in UTC. */
  #day = 0;
  /** By member, what they asked for on that day, written or not. */
  #ofDay = new Map<string, Set<string>>();
  #waiting: AskedOn[] = [];
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> | null = null;

  constructor(options: WantedBufferOptions) {
    this.#options = options;
  }

  add({ memberId, model }: AskedModel): void {
    const now = this.#options.now();
    const day = now - (now % DAY_MS);
    if (day !== this.#day) this.#ofDay.clear();
    this.#day = day;
    const known = this.#ofDay.get(memberId) ?? new Set();
    if (known.size >= MAX_WANTED_A_DAY || this.#waiting.length >= MAX_BUFFERED_ASKS) return;
    const id = wantedId(model);
    if (known.has(id) || !isWantable(id)) return;
    this.#ofDay.set(memberId, known.add(id));
    this.#waiting.push({ memberId, model: id, day });
    this.#flushLater();
  }

  /** Writes what waits; what the database cannot take now waits for the next flush. */
  flush(): Promise<void> {
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = null;
      if (this.#waiting.length > 0) this.#flushLater();
    });
    return this.#flushing;
  }

  /** The last flush. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.flush();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.splice(0, FLUSH_ROWS);
      try {
        await this.#options.write(rows);
      } catch (error) {
        // What the database refuses for itself, it would refuse again.
        if (!(error instanceof ApiError)) continue;
        this.#waiting.unshift(...rows);
        return;
      }
    }
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.flush();
    }, FLUSH_INTERVAL_MS).unref();
  }
}
