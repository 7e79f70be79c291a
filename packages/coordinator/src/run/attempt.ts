/** One attempt of one piece of work on one provider, from OPEN to its end, with its deadlines. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { SilenceTimer } from '@inference-gateway/shared/protocol/liveness';
import { NO_COST } from '@inference-gateway/shared/protocol/messages';
import type { AnswerCost, ResetCode } from '@inference-gateway/shared/protocol/messages';
import type { Candidate } from '../core/routing/match.js';
import type { Measured } from '../core/routing/pace.js';
import type {
  AnswerHead,
  AnswerPart,
  Exchange,
  ExchangeFailure,
  ExchangeHandler,
} from '../core/routing/links.js';
import { meteredEnergy, meteredTokens, NO_TOKENS } from '../core/usage/usage-bounds.js';
import type { Metered, MeteredTokens, TokenBounds } from '../core/usage/usage-bounds.js';
import type { AttemptFailure } from './failure.js';
import { CALLER_STALLED, JOB_CANCELED } from './work.js';
import type { Sink, SinkFault, SpentTime, Work } from './work.js';

/**
 * Abort reasons that the agent is told; for any other reason it is told that the caller has left.
 */
const STOP_REASONS = [CALLER_STALLED, JOB_CANCELED] as const;
const WHOLE_ANSWER = 'whole answer';
/** At most this much of a local server's error document is read. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface AttemptTiming {
  /** From the work's arrival to the end of its answer, or to the headers of a streamed one. */
  readonly deadlineMs: number;
  /** The deadline was set by the caller and is shorter than a provider's normal limit. */
  readonly isCallers: boolean;
  /** Null if the answer is not streamed. */
  readonly stream: { readonly firstByteMs: number; readonly idleMs: number } | null;
}

export type AttemptResult =
  | {
      readonly kind: 'done';
      readonly metered: Metered;
      readonly measured: Measured;
    }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  | { readonly kind: 'gone' };

interface AttemptOptions {
  /** Without the body: a job may run for hours. */
  readonly work: Pick<Work, 'endpoint' | 'model' | 'receivedAt' | 'signal'>;
  readonly sink: Sink;
  readonly provider: Pick<Candidate, 'providerId' | 'providerName'>;
  readonly attempt: number;
  readonly spent: SpentTime | null;
  /** The limit to which the share lowered the answer's tokens; null if it did not. */
  readonly maxTokens: number | null;
  readonly timing: AttemptTiming;
  /** The limits for its token counts; null if the answer is not text. */
  readonly bounds: TokenBounds | null;
  /** How long it ran before, over earlier links; absent: it begins now. */
  readonly ranMs?: number;
  /** The agent has taken the work. */
  readonly onAccepted?: (() => void) | undefined;
  /** The answer has begun, and it is not an error. */
  readonly onAnswer?: (() => void) | undefined;
}

export class Attempt implements ExchangeHandler {
  /** Rejects if the sink throws: that is the coordinator's fault, not the provider's. */
  readonly result: Promise<AttemptResult>;
  /**
   * Of what was sent, known once the agent has sent its final message: after a cancel, a moment
   * after the result.
   */
  readonly metered: Promise<Metered>;
  /** Monotonic time of the first byte, or null. */
  firstByteAt: number | null = null;
  readonly #options: AttemptOptions;
  /** Monotonic times at which the work was sent and the answer's last byte came. */
  #sentAt = 0;
  #endedAt = 0;
  #parts = 0;
  #answerBytes = 0;
  #meter: (metered: Metered) => void = () => {};
  #settle: (result: AttemptResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #exchange: Exchange | null = null;
  #errorStatus: number | null = null;
  #errorBody: Uint8Array[] = [];
  #errorBytes = 0;
  #deadline: NodeJS.Timeout | null = null;
  #silence: SilenceTimer | null = null;

  constructor(options: AttemptOptions) {
    this.#options = options;
    this.result = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    this.metered = new Promise((resolve) => (this.#meter = resolve));
  }

  /** Starts the timers of work that has been sent. */
  begin(exchange: Exchange): void {
    const { work, timing } = this.#options;
    this.#exchange = exchange;
    this.#sentAt = performance.now();
    work.signal.addEventListener('abort', this.#callerLeft, { once: true });
    if (timing.stream !== null) this.#awaitByte(timing.stream.firstByteMs, 'first byte');
    const leftMs = this.#deadlineMs();
    this.#deadline = setTimeout(() => this.#timeOut(WHOLE_ANSWER, leftMs), leftMs);
    if (work.signal.aborted) this.#callerLeft();
  }

  /** The agent's time limit for the whole work; 0 for a stream, which has none once it flows. */
  get agentDeadlineMs(): number {
    return this.#isStream ? 0 : Math.ceil(this.#deadlineMs());
  }

  accepted(): void {
    this.#options.onAccepted?.();
  }

  /**
   * Progress messages extend the wait for the first byte only: an answer that has begun must
   * continue.
   */
  progress(): void {
    if (this.firstByteAt === null) this.#silence?.touch();
  }

  head(head: AnswerHead): void {
    this.firstByteAt = performance.now();
    if (head.status >= 400) {
      this.#errorStatus = head.status;
      return;
    }
    const { work, sink, provider, attempt, spent, maxTokens } = this.#options;
    const expected = expectedType(work.endpoint, this.#isStream);
    if (head.status !== 200 || !head.contentType.startsWith(expected)) {
      this.#stop('INTERNAL');
      this.fail(unusable(`${head.status} ${head.contentType} where ${expected} was due`));
      return;
    }
    const { contentType } = head;
    const { providerId, providerName } = provider;
    const { model } = work;
    sink.begin({ providerId, providerName, model, attempt, spent, maxTokens, contentType });
    this.#options.onAnswer?.();
    this.#flowing();
  }

  part(part: AnswerPart): void {
    this.#parts += 1;
    if (this.#errorStatus === null) this.#refuse(this.#options.sink.part(part));
  }

  data(bytes: Uint8Array): void {
    if (this.#errorStatus !== null) return this.#errorData(bytes);
    this.#answerBytes += bytes.length;
    this.#silence?.touch();
    return this.#refuse(this.#options.sink.data(bytes, this.#consumed));
  }

  end(cost: AnswerCost): void {
    this.#endedAt = performance.now();
    const metered = this.#meteredOf(cost);
    this.#meter(metered);
    if (this.#errorStatus !== null) {
      const body = Buffer.concat(this.#errorBody).toString();
      return this.fail({ kind: 'status', status: this.#errorStatus, body });
    }
    return this.#concluded(this.#options.sink.end(metered), metered);
  }

  fail(failure: ExchangeFailure | AttemptFailure): void {
    if (ENDINGS.has(failure.kind)) {
      const cost = failure.kind === 'reset' ? failure.cost : NO_COST;
      this.#meter(this.#meteredPart(cost ?? NO_COST));
    }
    this.#finish({ kind: 'failed', failure });
  }

  stopped(cost: AnswerCost, bytes: number): void {
    // Without the agent's count, only the bytes that were passed on count.
    if (cost.usage !== undefined) this.#answerBytes += bytes;
    this.#meter(this.#meteredPart(cost));
  }

  /**
   * A document is passed on only when it is complete, so a part counts only if the agent reports
   * it.
   */
  #meteredPart(cost: AnswerCost): Metered {
    const isUntold = cost.usage === undefined && !this.#isStream;
    return isUntold ? { ...NO_TOKENS, energyJ: this.#energyOf(cost) } : this.#meteredOf(cost);
  }

  #meteredOf(cost: AnswerCost): Metered {
    return { ...this.#tokensOf(cost), energyJ: this.#energyOf(cost) };
  }

  #tokensOf({ usage }: AnswerCost): MeteredTokens {
    const { bounds } = this.#options;
    if (bounds === null || this.#errorStatus !== null) return NO_TOKENS;
    const told = usage ?? null;
    const answerBytes = this.#answerBytes;
    return meteredTokens({ ...bounds, told, answerBytes, stream: this.#isStream });
  }

  #energyOf({ energy_j: told }: AnswerCost): number | null {
    const { ranMs = 0 } = this.#options;
    return meteredEnergy(told, ranMs + performance.now() - this.#sentAt);
  }

  /**
   * Answers whose files are stored take a moment to finish. The work on the GPU is done by then: if
   * the caller leaves only now, the meter counts the call as answered.
   */
  #concluded(fault: SinkFault | Promise<SinkFault>, metered: Metered): void {
    this.#stopListening();
    if (fault instanceof Promise) {
      void fault.then((settled) => this.#concluded(settled, metered), this.#reject);
    } else if (fault === null) this.#finish(this.#done(metered));
    else if (this.#options.work.signal.aborted) this.#finish({ kind: 'gone' });
    else this.fail(failureOf(fault));
  }

  #done(metered: Metered): AttemptResult {
    const { endpoint } = this.#options.work;
    const measured = {
      streamed: this.#isStream,
      firstByteMs: (this.firstByteAt ?? this.#endedAt) - this.#sentAt,
      totalMs: this.#endedAt - this.#sentAt,
      tokens: metered.completionTokens,
      images: kindOf(endpoint).counts === 'images' ? this.#parts : 0,
    };
    return { kind: 'done', metered, measured };
  }

  /** Stops an invalid answer. */
  #refuse(fault: SinkFault): void {
    if (fault === null) return;
    this.#stop('INTERNAL');
    this.fail(failureOf(fault));
  }

  get #isStream(): boolean {
    return this.#options.timing.stream !== null;
  }

  readonly #consumed = (bytes: number): void => {
    this.#exchange?.consumed(bytes);
  };

  readonly #callerLeft = (): void => {
    const { reason } = this.#options.work.signal as { readonly reason: unknown };
    this.#stop(STOP_REASONS.find((known) => known === reason) ?? 'CALLER_GONE');
    this.#finish({ kind: 'gone' });
  };

  #errorData(bytes: Uint8Array): void {
    this.#exchange?.consumed(bytes.length);
    if (this.#errorBytes >= MAX_ERROR_BYTES) return;
    this.#errorBytes += bytes.length;
    this.#errorBody.push(bytes);
  }

  /** The headers of a stream have arrived: from now on, only the idle timeout applies. */
  #flowing(): void {
    const { stream } = this.#options.timing;
    if (stream === null) return;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#awaitByte(stream.idleMs, 'further byte');
  }

  #awaitByte(limitMs: number, waitingFor: string): void {
    this.#silence?.stop();
    this.#silence = new SilenceTimer(limitMs, () => this.#timeOut(waitingFor, limitMs));
  }

  #timeOut(waitingFor: string, afterMs: number): void {
    this.#stop('DEADLINE');
    const isCallers = waitingFor === WHOLE_ANSWER && this.#options.timing.isCallers;
    this.fail({ kind: 'timeout', afterMs, waitingFor, isCallers });
  }

  #deadlineMs(): number {
    const { work, timing } = this.#options;
    return Math.max(1, timing.deadlineMs - (performance.now() - work.receivedAt));
  }

  #stop(code: ResetCode): void {
    this.#exchange?.cancel(code);
  }

  #stopListening(): void {
    this.#silence?.stop();
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#options.work.signal.removeEventListener('abort', this.#callerLeft);
  }

  #finish(result: AttemptResult): void {
    this.#stopListening();
    this.#settle(result);
  }
}

/** After these failures the agent sends nothing more; after all others it is told to stop. */
const ENDINGS: ReadonlySet<AttemptFailure['kind']> = new Set(['rejected', 'reset', 'disconnected']);

function failureOf(fault: string | ApiError): AttemptFailure {
  return typeof fault === 'string' ? unusable(fault) : { kind: 'gateway', error: fault };
}

function unusable(reason: string): AttemptFailure {
  return { kind: 'unusable', reason };
}

/** The content type that the agent must announce for an answer of this kind. */
function expectedType(endpoint: EndpointKey, isStream: boolean): string {
  if (isStream) return 'text/event-stream';
  return ENDPOINTS[endpoint].media === null ? 'application/json' : 'multipart/mixed';
}
