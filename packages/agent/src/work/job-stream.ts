/**
 * A job on one stream of one link: its request comes in, and its recorded answer goes out from the
 * first byte on, as fast as the link takes it and the run makes it.
 */
import { ReceiveWindow } from '@inference-gateway/shared/protocol/credit';
import { encodeWindow } from '@inference-gateway/shared/protocol/frames';
import type { RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { SendStream } from '@inference-gateway/shared/protocol/writer';
import type { HeldJob, JobOutlet } from './held-job.js';
import type { StreamWork, Unaddressed, WorkLink } from './work.js';

export class JobStream implements StreamWork, JobOutlet {
  readonly #job: HeldJob;
  readonly #send: SendStream;
  readonly #link: WorkLink;
  readonly #window = new ReceiveWindow(LINK.windowBytes);
  readonly #stopListening: () => void;
  #wake: () => void = () => {};
  /** Nobody listens any more; the last word is still due. */
  #canceled = false;
  /** The last word was said, or nobody can be told it any more. */
  #closed = false;

  constructor(job: HeldJob, send: SendStream, link: WorkLink) {
    this.#job = job;
    this.#send = send;
    this.#link = link;
    job.attach(this);
    this.#stopListening = job.log.onChange(() => this.#answerGrew());
    void this.#sendAnswer();
  }

  /** What comes without credit ends the work: it would pile up here. */
  receive(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#window.receive(bytes.length)) return this.#job.receive(bytes);
    this.#reset('FLOW_CONTROL', 'more bytes than credit');
    this.#job.drop('canceled');
    return undefined;
  }

  consumed(bytes: number): void {
    const credit = this.#window.consume(bytes);
    if (credit > 0 && !this.#closed) this.#link.control(encodeWindow(this.#send.id, credit));
  }

  grant(credit: number): void {
    this.#send.grant(credit);
  }

  /** It can cross the last word, and ends the claim all the same: nobody will acknowledge it. */
  cancel(): void {
    this.#canceled = true;
    this.#send.discard();
    this.#job.drop('canceled');
  }

  abandon(): void {
    this.#leave();
    this.#job.detach();
  }

  accept(): void {
    this.#control({ t: 'ACCEPT' });
  }

  reject(reason: RejectReason): void {
    this.#control({ t: 'REJECT', reason });
    this.#leave();
    this.#link.closed();
  }

  progress(phase: string): void {
    this.#control({ t: 'PROGRESS', phase });
  }

  release(): void {
    if (!this.#closed) this.#reset('CANCELED', '');
    this.#link.closed();
  }

  /** A failure takes the place of what was not sent yet. */
  #answerGrew(): void {
    if (this.#job.log.failure !== null) this.#send.discard();
    this.#wake();
  }

  async #sendAnswer(): Promise<void> {
    const { log } = this.#job;
    let nextMark = 0;
    let at = 0;
    while (!this.#closed && !this.#canceled) {
      const { failure } = log;
      if (failure !== null) return this.#reset(failure.code, failure.message ?? '');
      const mark = log.marks[nextMark];
      if (mark?.at === at) {
        this.#inOrder(mark.message);
        nextMark += 1;
      } else if (at < log.length) at += await this.#sendPiece(at, mark?.at ?? log.length);
      else if (log.isWhole) return this.#closeWhenSent();
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return undefined;
  }

  /** Resolves with how many bytes it was, once there is room for the next. */
  async #sendPiece(from: number, to: number): Promise<number> {
    const { log } = this.#job;
    try {
      const bytes = await log.read(from, Math.min(to, from + LINK.maxDataBytes));
      if (this.#closed || log.failure !== null) return 0;
      this.#send.data(bytes);
      if (this.#send.queuedBytes >= LINK.windowBytes) await this.#send.drained();
      return bytes.length;
    } catch (error) {
      if (!this.#closed) this.#job.unreadable(error);
      return 0;
    }
  }

  /** The stream stays open until its last byte has found credit. */
  async #closeWhenSent(): Promise<void> {
    await this.#send.emptied();
    const { failure } = this.#job.log;
    if (failure === null) this.#leave();
    else this.#reset(failure.code, failure.message ?? '');
  }

  /** Takes the place of what was not sent yet. */
  #reset(code: ResetCode, message: string): void {
    this.#send.discard();
    this.#control({ t: 'RESET', code, message });
    this.#leave();
  }

  #control(message: Unaddressed): void {
    if (this.#closed) return;
    this.#link.control(JSON.stringify({ ...message, stream: this.#send.id }));
  }

  #inOrder(message: Unaddressed): void {
    this.#send.text(JSON.stringify({ ...message, stream: this.#send.id }));
  }

  #leave(): void {
    this.#closed = true;
    this.#stopListening();
    this.#send.discard();
    this.#wake();
  }
}
