/**
 * How long audio and video last, told from their bytes. Files come from strangers: one thread reads
 * them, whose end costs nobody else anything.
 */
import { Worker } from 'node:worker_threads';

/** A file that takes longer is not measured. */
const FILE_LIMIT_MS = 10_000;
/** From the question to the answer, the files before it included: callers wait for it. */
const WAIT_LIMIT_MS = 5_000;
/** Files that wait; further ones are not measured. */
const MAX_WAITING = 256;
const MEMORY_MIB = 128;
const WORKER_FILE = new URL('./duration-worker.js', import.meta.url);

export interface Measurement {
  readonly path: string;
  readonly contentType: string;
}

interface Pending extends Measurement {
  readonly resolve: (seconds: number | null) => void;
}

export class DurationMeter {
  readonly #limitMs: number;
  readonly #waiting: Pending[] = [];
  #underWay: Pending | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(limitMs = FILE_LIMIT_MS) {
    this.#limitMs = limitMs;
  }

  /** Null where it cannot be told. Never rejects. */
  seconds(path: string, contentType: string): Promise<number | null> {
    if (this.#closed || this.#waiting.length >= MAX_WAITING) return Promise.resolve(null);
    return new Promise((resolve) => {
      const pending = { path, contentType, resolve };
      setTimeout(() => this.#giveUp(pending), WAIT_LIMIT_MS).unref();
      this.#waiting.push(pending);
      this.#next();
    });
  }

  /** Whatever is not measured yet never will be. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
    await this.#drop();
  }

  /** Whoever waits for the answer gets it now; a file under way is measured to its own limit. */
  #giveUp(pending: Pending): void {
    const position = this.#waiting.indexOf(pending);
    if (position !== -1) this.#waiting.splice(position, 1);
    pending.resolve(null);
  }

  #next(): void {
    if (this.#underWay !== null) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#underWay = next;
    this.#timer = setTimeout(() => void this.#drop(), this.#limitMs);
    // The first file starts the thread: a coordinator that never sees audio has none.
    this.#worker ??= this.#start();
    const { path, contentType } = next;
    // A thread, not a window.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage({ path, contentType });
  }

  #start(): Worker {
    const worker = new Worker(WORKER_FILE, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    });
    worker.unref();
    worker.on('message', (seconds: number | null) => {
      if (worker === this.#worker) this.#finish(seconds);
    });
    // Out of memory, or a file that the parser cannot live with.
    worker.on('error', () => this.#lose(worker));
    worker.on('exit', () => this.#lose(worker));
    return worker;
  }

  /** Ends the thread and with it the file under way; the next file gets another. */
  async #drop(): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lose(worker);
    await worker.terminate();
  }

  #lose(worker: Worker): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    this.#finish(null);
  }

  #finish(seconds: number | null): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const done = this.#underWay;
    this.#underWay = null;
    done?.resolve(seconds);
    this.#next();
  }
}
