/** A piece of work as its run sees it: what passes through is written into the ledger. */
import type {
  Message,
  RejectReason,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';
import type { MediaPart } from '../backends/backend.js';
import type { RunRecord } from './run-record.js';
import type { StopReason, Work } from './work.js';

export class MeteredWork implements Work {
  readonly #work: Work;
  readonly #record: RunRecord;

  constructor(work: Work, record: RunRecord) {
    this.#work = work;
    this.#record = record;
  }

  get open(): Message<'OPEN'> {
    return this.#work.open;
  }

  get request(): Work['request'] {
    return this.#work.request;
  }

  get signal(): AbortSignal {
    return this.#work.signal;
  }

  accept(): void {
    this.#work.accept();
  }

  reject(reason: RejectReason): void {
    this.#work.reject(reason);
  }

  stop(reason: StopReason): void {
    this.#work.stop(reason);
  }

  progress(phase: string): void {
    this.#record.loading();
    this.#work.progress(phase);
  }

  head(status: number, contentType: string): void {
    this.#record.answering(status);
    this.#work.head(status, contentType);
  }

  part(part: MediaPart): void {
    this.#work.part(part);
  }

  data(bytes: Uint8Array): Promise<void> {
    this.#record.passed(bytes.length);
    return this.#work.data(bytes);
  }

  end(usage: TokenUsage | null): void {
    this.#record.succeeded(usage);
    this.#work.end(usage);
  }

  fail(code: ResetCode, message: string, usage: TokenUsage | null = null): void {
    this.#record.failed(code, usage);
    this.#work.fail(code, message, usage);
  }
}
