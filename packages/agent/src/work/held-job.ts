/**
 * One claim that this agent holds: the job's answer so far, the run that makes it, and the stream
 * that carries it, if there is one. It is released when the coordinator has the answer, or does not
 * want it.
 */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Message, RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import type { AnswerLog } from './answer-log.js';
import { spoolMeta } from './spool.js';
import type { JobFacts } from './spool.js';
import type { StopReason } from './work.js';

/** The stream of a link that carries the answer. */
export interface JobOutlet {
  consumed(bytes: number): void;
  accept(): void;
  reject(reason: RejectReason): void;
  progress(phase: string): void;
  /** Releases the claim: the final message, if not sent yet, replaces the rest of the answer. */
  release(): void;
}

/** The run, as the holder of its claim sees it. */
export interface HeldRun {
  readonly isLoading: boolean;
  /** Whether the whole request has arrived: until then it needs its link. */
  readonly hasRequest: boolean;
  receive(bytes: Uint8Array): void;
  stop(reason: StopReason): void;
}

export interface HeldJobHost {
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The claim is no longer held. */
  forget(job: HeldJob): void;
  /** The whole answer is unused. */
  unused(job: HeldJob): void;
}

type ResultVerdict = Message<'RESULT_ACK'>['verdict'];
export type ClaimPhase = Message<'HEARTBEAT'>['claims'][number]['phase'];

/** A whole answer without acknowledgement is written to disk after this time. */
const ACKNOWLEDGED_WITHIN_MS = 1_000;

export class HeldJob {
  readonly facts: JobFacts;
  readonly log: AnswerLog;
  readonly #host: HeldJobHost;
  #run: HeldRun | null = null;
  #outlet: JobOutlet | null = null;
  #dropped = false;
  #keepSoon: NodeJS.Timeout | undefined;

  constructor(facts: JobFacts, log: AnswerLog, host: HeldJobHost) {
    this.facts = facts;
    this.log = log;
    this.#host = host;
  }

  get phase(): ClaimPhase {
    if (this.log.isWhole) return 'spooled';
    return this.#run?.isLoading === true ? 'loading' : 'running';
  }

  get outlet(): JobOutlet | null {
    return this.#outlet;
  }

  /** The run that makes the answer. */
  runs(run: HeldRun): void {
    this.#run = run;
  }

  receive(bytes: Uint8Array): void {
    this.#run?.receive(bytes);
  }

  attach(outlet: JobOutlet): void {
    this.#outlet = outlet;
  }

  /** The link has ended; the run continues, unless it would wait for the rest of its request. */
  detach(): void {
    this.#outlet = null;
    if (this.#dropped) return;
    if (this.log.isWhole) void this.#keep();
    else if (this.#run?.hasRequest === false) this.drop('link lost');
    else void this.log.write().catch((error: unknown) => this.#diskFailed(error));
  }

  /** The answer is no longer wanted. A run sends its final message when it has stopped. */
  drop(reason: 'canceled' | 'link lost'): void {
    if (this.#isAnswered && !this.#dropped) this.#host.unused(this);
    this.#forget();
    if (this.#run === null) this.#over();
    else this.#run.stop(reason);
  }

  /** The coordinator's final verdict. */
  acknowledged(verdict: ResultVerdict): void {
    if (!this.log.isWhole) return;
    if (verdict === 'stale' && this.#isAnswered) this.#host.unused(this);
    this.#forget();
    this.#over();
  }

  /** The run has sent its final message. */
  ended(): void {
    this.#run = null;
    if (this.#dropped) return this.#over();
    if (this.#outlet === null) void this.#keep();
    else this.#keepSoon = setTimeout(() => void this.#keep(), ACKNOWLEDGED_WITHIN_MS);
    return undefined;
  }

  /**
   * A failure after the final message, for instance at the closing of a connection, changes
   * nothing.
   */
  failed(code: ResetCode, message: string): void {
    if (this.#run === null) return;
    if (this.log.failure === null) {
      if (code === 'CANCELED') this.#forget();
      else if (!this.#dropped) this.log.fail(code, message);
    }
    this.ended();
  }

  /** The disk no longer has the written bytes. */
  unreadable(error: unknown): void {
    this.#diskFailed(error);
    this.log.fail('INTERNAL', 'the spool cannot be read');
    if (this.#run === null) this.ended();
    else this.#run.stop('canceled');
  }

  /** Leaves a whole answer on disk for the next process. */
  async close(): Promise<void> {
    clearTimeout(this.#keepSoon);
    if (this.log.isWhole) await this.#keep();
    await this.log.close().catch((error: unknown) => this.#diskFailed(error));
  }

  get #isAnswered(): boolean {
    return this.log.isWhole && this.log.failure === null;
  }

  async #keep(): Promise<void> {
    clearTimeout(this.#keepSoon);
    try {
      await this.log.keep(spoolMeta(this.facts, this.log, this.#host.now()));
    } catch (error) {
      this.#diskFailed(error);
    }
  }

  /** Bytes in memory stay there, and a run continues until it needs more memory than that. */
  #diskFailed(error: unknown): void {
    if (this.#dropped) return;
    this.#host.logger.warn({ err: error, claim: this.facts.claimId }, 'the spool failed');
  }

  #forget(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    clearTimeout(this.#keepSoon);
    this.#host.forget(this);
  }

  #over(): void {
    this.#outlet?.release();
    this.#outlet = null;
    void this.log.remove();
  }
}
