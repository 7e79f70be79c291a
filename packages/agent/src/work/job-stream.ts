/**
 * A job on one stream of one link: its request comes in, and its recorded answer goes out from the
 * first byte on, at the pace of the link and of the run.
 */
import type { AgentEndStream, AgentWork } from '@inference-gateway/shared/protocol/link';
import type { RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { HeldJob, JobOutlet } from './held-job.js';

export class JobStream implements AgentWork, JobOutlet {
  readonly stream: AgentEndStream;
  readonly #job: HeldJob;
  readonly #stopListening: () => void;
  #wake: () => void = () => {};
  /** The coordinator has cancelled; the final message is still due. */
  #canceled = false;
  /** The final message was sent, or can no longer be sent. */
  #closed = false;

  constructor(job: HeldJob, stream: AgentEndStream) {
    this.#job = job;
    this.stream = stream;
    job.attach(this);
    this.#stopListening = job.log.onChange(() => this.#answerGrew());
    void this.#sendAnswer();
  }

  /** Bytes without credit end the work: they would pile up here. */
  receive(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.stream.hadCredit(bytes.length)) return this.#job.receive(bytes);
    this.#reset('FLOW_CONTROL', 'more bytes than credit');
    this.#job.drop('canceled');
    return undefined;
  }

  consumed(bytes: number): void {
    if (!this.#closed) this.stream.consumed(bytes);
  }

  /**
   * It may cross the final message, and ends the claim nevertheless: no acknowledgement will come.
   */
  cancel(): void {
    this.#canceled = true;
    this.stream.out.discard();
    this.#job.drop('canceled');
  }

  abandon(): void {
    this.#leave();
    this.#job.detach();
  }

  accept(): void {
    this.#say({ t: 'ACCEPT' });
  }

  reject(reason: RejectReason): void {
    this.#say({ t: 'REJECT', reason });
    this.#leave();
    this.stream.close();
  }

  progress(phase: string): void {
    this.#say({ t: 'PROGRESS', phase });
  }

  release(): void {
    if (!this.#closed) this.#reset('CANCELED', '');
    this.stream.close();
  }

  /** A failure replaces everything not sent yet. */
  #answerGrew(): void {
    if (this.#job.log.failure !== null) this.stream.out.discard();
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
        this.stream.sayInOrder(mark.message);
        nextMark += 1;
      } else if (at < log.length) at += await this.#sendPiece(at, mark?.at ?? log.length);
      else if (log.isWhole) return this.#closeWhenSent();
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return undefined;
  }

  /** Resolves with the number of bytes sent, once there is room for the next piece. */
  async #sendPiece(from: number, to: number): Promise<number> {
    const { log } = this.#job;
    try {
      const bytes = await log.read(from, Math.min(to, from + LINK.maxDataBytes));
      if (this.#closed || log.failure !== null) return 0;
      this.stream.out.data(bytes);
      if (this.stream.out.queuedBytes >= LINK.windowBytes) await this.stream.out.drained();
      return bytes.length;
    } catch (error) {
      if (!this.#closed) this.#job.unreadable(error);
      return 0;
    }
  }

  /** The stream stays open until its last byte has credit. */
  async #closeWhenSent(): Promise<void> {
    await this.stream.out.emptied();
    const { failure } = this.#job.log;
    if (failure === null) this.#leave();
    else this.#reset(failure.code, failure.message ?? '');
  }

  /** Replaces everything not sent yet. */
  #reset(code: ResetCode, message: string): void {
    this.stream.out.discard();
    this.#say({ t: 'RESET', code, message });
    this.#leave();
  }

  #say(message: Parameters<AgentEndStream['say']>[0]): void {
    if (!this.#closed) this.stream.say(message);
  }

  #leave(): void {
    this.#closed = true;
    this.#stopListening();
    this.stream.out.discard();
    this.#wake();
  }
}
