/** The JSON of a text job, held until it is whole. */
import { GatheredBytes } from '@inference-gateway/shared/gathered-bytes';
import { NOTHING_MEASURED } from '../../assets/measures.js';
import { isJsonObject, MAX_ANSWER_BYTES } from '../../core/answer-document.js';
import type { Share } from '../../core/budget.js';
import type { SinkFault } from '../work.js';
import type { JobResult, JobSink } from './job-sink.js';

export class TextResult implements JobSink {
  /** A job's caller has seen nothing of it before its end. */
  readonly committed = false;
  readonly #share: Share;
  readonly #body = new GatheredBytes();

  constructor(share: Share) {
    this.#share = share;
  }

  get result(): JobResult {
    return { text: this.#body.bytes, assets: [], measures: NOTHING_MEASURED };
  }

  begin(): void {
    this.discard();
  }

  part(): string {
    return 'a file where JSON was due';
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    this.#body.append(bytes);
    if (this.#body.length > MAX_ANSWER_BYTES) return 'it is longer than 32 MiB';
    const spent = this.#share.tryAdd(bytes.length);
    if (spent !== null) return spent;
    consumed(bytes.length);
    return null;
  }

  end(): SinkFault {
    return isJsonObject(this.#body.bytes) ? null : 'it is no JSON object';
  }

  discard(): void {
    this.#body.clear();
    this.#share.release();
  }

  async drop(): Promise<void> {
    this.discard();
  }
}
