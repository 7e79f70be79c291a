/** The JSON of a text job, held until it is whole. */
import { NOTHING_MEASURED } from '../assets/measures.js';
import { HeldDocument } from '../core/usage/held-document.js';
import type { Share } from '../core/usage/budget.js';
import type { SinkFault } from '../run/work.js';
import type { JobResult, JobSink } from './job-sink.js';

export class TextResult implements JobSink {
  /** A job's caller has seen nothing of it before its end. */
  readonly committed = false;
  readonly #document: HeldDocument;

  constructor(share: Share) {
    this.#document = new HeldDocument(share);
  }

  get result(): JobResult {
    return { text: this.#document.bytes, assets: [], measures: NOTHING_MEASURED };
  }

  begin(): void {
    this.discard();
  }

  part(): string {
    return 'a file where JSON was due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const fault = this.#document.append(bytes);
    if (fault === null) consumed(bytes.length);
    return fault;
  }

  end(): SinkFault {
    return this.#document.fault;
  }

  discard(): void {
    this.#document.clear();
  }

  async drop(): Promise<void> {
    this.discard();
  }
}
