/**
 * Measures how long audio and video files last. The files are untrusted, so a separate thread reads
 * them: if it crashes, nothing else is affected.
 */
import { Worker } from 'node:worker_threads';
import { DURATION_WORKER } from '../own-files.js';

/** Limit for one file. */
const FILE_LIMIT_MS = 10_000;
/** From request to result, including the queue: callers wait for it. */
const WAIT_LIMIT_MS = 5_000;
/** Limit of the queue. Further files are not measured. */
const MAX_WAITING = 256;
const MEMORY_MIB = 128;

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

  /** Null if the duration is unknown. Never rejects. */
  seconds(path: string, contentType: string): Promise<number | null> {
    if (this.#closed || this.#waiting.length >= MAX_WAITING) return Promise.resolve(null);
    return new Promise((resolve) => {
      const pending = { path, contentType, resolve };
      setTimeout(() => this.#giveUp(pending), WAIT_LIMIT_MS).unref();
      this.#waiting.push(pending);
      this.#next();
    });
  }

  /** Files that are still queued are not measured. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
    await this.#drop();
  }

  /** The caller gets null now. The worker continues with the current file until FILE_LIMIT_MS. */
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
    // Started by the first file: a coordinator without audio files needs no thread.
    this.#worker ??= this.#start();
    const { path, contentType } = next;
    // A thread, not a window.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.#worker.postMessage({ path, contentType });
  }

  #start(): Worker {
    const worker = new Worker(DURATION_WORKER, {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
    });
    worker.unref();
    worker.on('message', (seconds: number | null) => {
      if (worker === this.#worker) this.#finish(seconds);
    });
    // The thread is out of memory, or a file crashed the parser.
    worker.on('error', () => this.#lose(worker));
    worker.on('exit', () => this.#lose(worker));
    return worker;
  }

  /** Ends the thread and the measurement of the current file. The next file starts a new thread. */
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
