/**
 * Carries out batches whose requests are the lines of a file. Lines are read into the queue in
 * portions, so that one file never fills it. When nothing of it is left to do, the answers are
 * written to an output file and the errors to an error file, and its jobs are deleted. Each step is
 * one operation of the store with its precondition: a coordinator that ends in between, or another
 * one beside it, loses no line and reads none twice.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { JobError } from '../core/jobs/job.js';
import type { Canceled, FedLine, OpenFileBatch } from '../store/port.js';
import { BatchOutput, inputOf } from './batch-output.js';
import type { BatchOutputParts } from './batch-output.js';

/** Jobs of one batch that are queued or running; it reads on when half of them are left. */
const MAX_OPEN_JOBS = 256;
/** The share of a member's queue that one batch may take. */
const QUEUE_SHARE = 1 / 4;
/** Bytes of lines that are read into one operation of the store. A longer line is read alone. */
const PORTION_BYTES = 4 * 1024 * 1024;
/** Batches that are read or written at once. */
const MAX_AT_ONCE = 4;
/** A wake is a hint, and a lost one costs this much. */
const TICK_MS = 5_000;
/** After a failure, such as a full disk. */
const RETRY_MS = 60_000;
/** Jobs that one operation of the store deletes. */
const CLEARED_AT_ONCE = 200;

export interface FileBatchesParts extends BatchOutputParts {
  readonly settings: {
    readonly jobMaxAttempts: number;
    readonly maxQueuedJobs: number;
    readonly maxQueuedBytes: number;
  };
  /** Jobs of the member were created. */
  readonly onFed: (memberId: string) => void;
  readonly onCanceled: (canceled: Canceled) => void;
  readonly logger: Logger;
}

export class FileBatches {
  readonly #parts: FileBatchesParts;
  readonly #output: BatchOutput;
  readonly #ticker: NodeJS.Timeout;
  /** Jobs that have not ended, as far as this coordinator knows. */
  readonly #open = new Map<string, number>();
  readonly #running = new Map<string, Promise<void>>();
  /** Unix ms before which a batch is not tried again. */
  readonly #restsUntil = new Map<string, number>();
  #round: Promise<void> | null = null;
  #again = false;
  readonly #closing = new AbortController();

  constructor(parts: FileBatchesParts) {
    this.#parts = parts;
    this.#output = new BatchOutput(parts, this.#closing.signal);
    this.#ticker = setInterval(() => this.wake(), TICK_MS).unref();
    this.wake();
  }

  /** A batch was created or canceled, or one of its jobs has ended. */
  readonly wake = (): void => {
    if (this.#closing.signal.aborted) return;
    this.#again = true;
    this.#round ??= this.#rounds().finally(() => {
      this.#round = null;
    });
  };

  /** A job of this batch has ended. */
  jobEnded(batchId: string): void {
    const open = this.#open.get(batchId);
    if (open === undefined) return;
    this.#open.set(batchId, open - 1);
    // Each wake reads all batches: once where the next lines are due, and at the end.
    if (open - 1 === Math.floor(this.#mostOpen / 2) || open - 1 <= 0) this.wake();
  }

  /** Ends after the current operation of each batch; the next start goes on with it. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#ticker);
    await this.#round;
    await Promise.all(this.#running.values());
  }

  async #rounds(): Promise<void> {
    while (this.#again && !this.#closing.signal.aborted) {
      this.#again = false;
      try {
        await this.#startWork();
      } catch (err) {
        // The next tick tries again.
        this.#parts.logger.warn({ err }, 'batches of files cannot be read now');
      }
    }
  }

  async #startWork(): Promise<void> {
    const { store, now } = this.#parts;
    // Another coordinator does it.
    if (!(await store.holdsUpkeep())) return;
    const batches = await store.openFileBatches();
    const known = new Set(batches.map(({ id }) => id));
    for (const id of this.#open.keys()) if (!known.has(id)) this.#open.delete(id);
    for (const id of this.#restsUntil.keys()) if (!known.has(id)) this.#restsUntil.delete(id);
    for (const batch of batches) {
      if (this.#running.size >= MAX_AT_ONCE || this.#closing.signal.aborted) return;
      const { id } = batch;
      if (this.#running.has(id) || now() < (this.#restsUntil.get(id) ?? 0)) continue;
      this.#open.set(id, batch.openJobs);
      if (!this.#isDue(batch)) continue;
      const work = this.#advance(batch)
        .catch((error: unknown) => this.#failed(batch, error))
        .finally(() => {
          this.#running.delete(id);
          this.wake();
        });
      this.#running.set(id, work);
    }
  }

  /** Whether there is something to do now. */
  #isDue(batch: OpenFileBatch): boolean {
    if (batch.endedAt !== null || this.#isToExpire(batch)) return true;
    return isReading(batch) ? batch.openJobs <= this.#mostOpen / 2 : batch.openJobs === 0;
  }

  #isToExpire({ cancellingAt, expiredAt, expiresAt }: OpenFileBatch): boolean {
    return cancellingAt === null && expiredAt === null && this.#parts.now() >= expiresAt;
  }

  async #advance(batch: OpenFileBatch): Promise<void> {
    const { store, now, onCanceled } = this.#parts;
    const { id } = batch;
    if (batch.endedAt !== null) return this.#clear(id);
    if (this.#isToExpire(batch)) {
      for (const one of await store.expireFileBatch(id, now())) onCanceled(one);
      return undefined;
    }
    if (isReading(batch)) return this.#feed(batch);
    await store.finalizeFileBatch(id, now());
    return this.#output.finish(batch, null);
  }

  /** Reads lines until enough jobs are open. */
  async #feed(batch: OpenFileBatch): Promise<void> {
    const { store, settings, onFed, now } = this.#parts;
    const portion = await this.#portionOf(batch);
    if (portion === null) {
      // What has ended well is still worth its file.
      if (batch.openJobs === 0) await this.#output.finish(batch, inputGone(batch.inputFileId));
      return;
    }
    const request = {
      batchId: batch.id,
      fromByte: batch.fedBytes,
      ...portion,
      maxAttempts: settings.jobMaxAttempts,
    };
    const { maxQueuedJobs: jobs, maxQueuedBytes: bytes } = settings;
    const outcome = await store.feedFileBatch(request, { jobs, bytes }, now());
    // Other work of the member fills the queue: the next tick tries again.
    if (outcome.kind === 'queue_full') this.#restsUntil.set(batch.id, now() + TICK_MS);
    if (outcome.kind === 'fed') onFed(batch.memberId);
  }

  /** Null if the file is gone. */
  async #portionOf(batch: OpenFileBatch): Promise<Portion | null> {
    const { reader, settings } = this.#parts;
    const stream = await inputOf(batch, this.#parts.library);
    if (stream === null) return null;
    const { memberId, scope, fedBytes, fedLines } = batch;
    const most = this.#mostOpen - batch.openJobs;
    const mostBytes = Math.min(PORTION_BYTES, settings.maxQueuedBytes * QUEUE_SHARE);
    const lines: FedLine[] = [];
    let [bytes, toByte] = [0, fedBytes];
    try {
      for await (const line of reader.lines(stream)) {
        bytes += line.bytes.length;
        if (lines.length > 0 && bytes > mostBytes) break;
        const made = await reader.toJob(line.bytes, { memberId, scope });
        lines.push({ line: fedLines + lines.length + 1, ...made });
        toByte = fedBytes + line.end;
        if (lines.length >= most || this.#closing.signal.aborted) break;
      }
    } finally {
      stream.destroy();
    }
    // Shorter than it was when it was checked.
    return lines.length === 0 ? null : { lines, toByte };
  }

  async #clear(id: string): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if ((await this.#parts.store.clearFileBatch(id, CLEARED_AT_ONCE)) === 0) return;
    }
  }

  async #failed({ id }: OpenFileBatch, error: unknown): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { store, logger, now } = this.#parts;
    this.#restsUntil.set(id, now() + RETRY_MS);
    logger.warn({ err: error, batch: id }, 'a batch of a file waits');
    if (!(error instanceof ApiError) || error.code !== 'storage_full') return;
    await store.faultFileBatch(id, error.body.error).catch(() => {});
  }

  get #mostOpen(): number {
    const { maxQueuedJobs } = this.#parts.settings;
    return Math.max(1, Math.min(MAX_OPEN_JOBS, Math.floor(maxQueuedJobs * QUEUE_SHARE)));
  }
}

interface Portion {
  readonly lines: readonly FedLine[];
  readonly toByte: number;
}

function isReading({ finalizingAt, cancellingAt, fedLines, lines }: OpenFileBatch): boolean {
  return finalizingAt === null && cancellingAt === null && fedLines < lines;
}

function inputGone(id: string): JobError {
  const message = `The file 'file-${id}' is gone. Upload it again, and create another batch.`;
  return new ApiError('file_not_found', message, { param: 'input_file_id' }).body.error;
}
