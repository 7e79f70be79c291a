/** The run of a job: what it says is recorded, and outlives the link on which it was asked for. */
import type {
  Message,
  RejectReason,
  ResetCode,
  TokenUsage,
} from '@inference-gateway/shared/protocol/messages';
import type { MediaPart } from '../backends/backend.js';
import type { HeldJob, HeldRun } from './held-job.js';
import { IncomingBody } from './incoming-body.js';
import type { StopReason, Work } from './work.js';

/**
 * The coordinator waits 5 s for ACCEPT. It means that the job needs its link no more, so it waits
 * for the whole request; a request that takes longer over a slow line is accepted all the same.
 */
const ACCEPT_WITHIN_MS = 2_000;

export class JobRun implements Work, HeldRun {
  readonly open: Message<'OPEN'>;
  readonly request: IncomingBody;
  isLoading = false;
  hasRequest = false;
  readonly #job: HeldJob;
  readonly #hold: () => void;
  readonly #abort = new AbortController();

  /** `hold` is called when the work is let in: from then on its claim is held. */
  constructor(open: Message<'OPEN'>, job: HeldJob, hold: () => void) {
    this.open = open;
    this.#job = job;
    this.#hold = hold;
    this.request = new IncomingBody({
      bodyBytes: open.body?.bytes ?? 0,
      uploads: [],
      consumed: (bytes) => job.outlet?.consumed(bytes),
    });
    job.runs(this);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  receive(bytes: Uint8Array): void {
    this.request.receive(bytes);
  }

  accept(): void {
    this.#hold();
    const accept = (): void => {
      clearTimeout(accepting);
      if (!this.signal.aborted) this.#job.outlet?.accept();
    };
    const accepting = setTimeout(accept, ACCEPT_WITHIN_MS);
    this.signal.addEventListener('abort', () => clearTimeout(accepting), { once: true });
    void this.request.body.then(() => {
      this.hasRequest = true;
      accept();
    });
  }

  reject(reason: RejectReason): void {
    this.#job.outlet?.reject(reason);
  }

  stop(reason: StopReason): void {
    this.#abort.abort(reason);
  }

  progress(phase: string): void {
    this.isLoading = true;
    this.#job.outlet?.progress(phase);
  }

  head(status: number, contentType: string): void {
    this.isLoading = false;
    this.#job.log.head(status, contentType);
  }

  part(part: MediaPart): void {
    this.#job.log.part(part);
  }

  /** Never waits for the link: a slow one must not keep the card. */
  data(bytes: Uint8Array): Promise<void> {
    return this.#job.log.data(bytes);
  }

  end(usage: TokenUsage | null): void {
    this.#job.log.end(usage);
    this.#job.ended();
  }

  /** Nothing of an answer counts before it is whole: that of a job is never a stream. */
  fail(code: ResetCode, message: string): void {
    this.#job.failed(code, message);
  }
}
