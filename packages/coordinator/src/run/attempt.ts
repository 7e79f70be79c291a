/** One try of one piece of work on one provider, from OPEN to its end, with its deadlines. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import { SilenceTimer } from '@inference-gateway/shared/protocol/liveness';
import type { ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { Candidate } from '../core/routing/match.js';
import type { Measured } from '../core/routing/pace.js';
import type {
  AnswerHead,
  AnswerPart,
  Exchange,
  ExchangeFailure,
  ExchangeHandler,
} from '../core/routing/links.js';
import { meteredTokens, NO_TOKENS } from '../core/usage/usage-bounds.js';
import type { MeteredTokens, TokenBounds } from '../core/usage/usage-bounds.js';
import type { AttemptFailure } from './failure.js';
import { CALLER_STALLED, JOB_CANCELED } from './work.js';
import type { Sink, SinkFault, SpentTime, Work } from './work.js';

/** Reasons of an abort that the agent is told; any other is that the caller has left. */
const STOP_REASONS = [CALLER_STALLED, JOB_CANCELED] as const;
const WHOLE_ANSWER = 'whole answer';
/** An error document of a local server is read this far. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface AttemptTiming {
  /** From the work's arrival to the end of its answer, or to the head of one that is streamed. */
  readonly deadlineMs: number;
  /** The deadline is the caller's own, and shorter than what a provider has by rights. */
  readonly isCallers: boolean;
  /** Null: the answer comes whole. */
  readonly stream: { readonly firstByteMs: number; readonly idleMs: number } | null;
}

export type AttemptResult =
  | {
      readonly kind: 'done';
      readonly tokens: MeteredTokens;
      readonly measured: Measured;
    }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  | { readonly kind: 'gone' };

interface AttemptOptions {
  /** Not its body: the run of a job may take hours. */
  readonly work: Pick<Work, 'endpoint' | 'receivedAt' | 'signal'>;
  readonly sink: Sink;
  readonly provider: Pick<Candidate, 'providerId' | 'providerName'>;
  readonly attempt: number;
  readonly spent: SpentTime | null;
  /** What the share lowered the answer's tokens to; null if it lowered nothing. */
  readonly maxTokens: number | null;
  readonly timing: AttemptTiming;
  /** What its tokens are held to; null if the answer is no text. */
  readonly bounds: TokenBounds | null;
  /** The agent has taken the work. */
  readonly onAccepted?: () => void;
  /** The answer has begun, and is none of an error. */
  readonly onAnswer?: () => void;
}

export class Attempt implements ExchangeHandler {
  /** Rejected where the sink breaks: that is our own fault, and not the provider's. */
  readonly result: Promise<AttemptResult>;
  /**
   * The tokens of what was sent, once the agent has said its last word: where it was canceled, a
   * moment after the result. What is no text has none, and waits for no word.
   */
  readonly tokens: Promise<MeteredTokens>;
  /** Monotonic time of the first byte, or null. */
  firstByteAt: number | null = null;
  readonly #options: AttemptOptions;
  /** Monotonic times of the sending and of the answer's last byte. */
  #sentAt = 0;
  #endedAt = 0;
  #parts = 0;
  #answerBytes = 0;
  #countTokens: (tokens: MeteredTokens) => void = () => {};
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
    this.tokens = new Promise((resolve) => (this.#countTokens = resolve));
    if (options.bounds === null) this.#countTokens(NO_TOKENS);
  }

  /** Starts the clocks of work that has been sent. */
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

  /** How long the agent may take in all; a stream, once it flows, has no such limit (0). */
  get agentDeadlineMs(): number {
    return this.#isStream ? 0 : Math.ceil(this.#deadlineMs());
  }

  accepted(): void {
    this.#options.onAccepted?.();
  }

  /** Signs of life stand in for the first byte alone: an answer that has begun must go on. */
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
    sink.begin({ providerId, providerName, attempt, spent, maxTokens, contentType });
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

  end(usage: TokenUsage | null): void {
    this.#endedAt = performance.now();
    const tokens = this.#meteredOf(usage);
    this.#countTokens(tokens);
    if (this.#errorStatus !== null) {
      const body = Buffer.concat(this.#errorBody).toString();
      return this.fail({ kind: 'status', status: this.#errorStatus, body });
    }
    return this.#concluded(this.#options.sink.end(tokens), tokens);
  }

  fail(failure: ExchangeFailure | AttemptFailure): void {
    if (ENDINGS.has(failure.kind)) {
      const usage = failure.kind === 'reset' ? (failure.usage ?? null) : null;
      this.#countTokens(this.#partOf(usage));
    }
    this.#finish({ kind: 'failed', failure });
  }

  stopped(usage: TokenUsage | null, bytes: number): void {
    // Without a word of its agent's only what was passed on counts.
    if (usage !== null) this.#answerBytes += bytes;
    this.#countTokens(this.#partOf(usage));
  }

  /** Of a document nothing is passed on before it is whole: it counts if its agent says so. */
  #partOf(told: TokenUsage | null): MeteredTokens {
    return told === null && !this.#isStream ? NO_TOKENS : this.#meteredOf(told);
  }

  #meteredOf(told: TokenUsage | null): MeteredTokens {
    const { bounds } = this.#options;
    if (bounds === null || this.#errorStatus !== null) return NO_TOKENS;
    const answerBytes = this.#answerBytes;
    return meteredTokens({ ...bounds, told, answerBytes, stream: this.#isStream });
  }

  /**
   * Answers of which files are kept take a moment to be whole. The work on the GPU is done by then:
   * whoever leaves only now is answered as far as the meter is concerned.
   */
  #concluded(fault: SinkFault | Promise<SinkFault>, tokens: MeteredTokens): void {
    this.#stopListening();
    if (fault instanceof Promise) {
      void fault.then((settled) => this.#concluded(settled, tokens), this.#reject);
    } else if (fault === null) this.#finish(this.#done(tokens));
    else if (this.#options.work.signal.aborted) this.#finish({ kind: 'gone' });
    else this.fail(failureOf(fault));
  }

  #done(tokens: MeteredTokens): AttemptResult {
    const { endpoint } = this.#options.work;
    const measured = {
      streamed: this.#isStream,
      firstByteMs: (this.firstByteAt ?? this.#endedAt) - this.#sentAt,
      totalMs: this.#endedAt - this.#sentAt,
      tokens: tokens.completionTokens,
      images: kindOf(endpoint).counts === 'images' ? this.#parts : 0,
    };
    return { kind: 'done', tokens, measured };
  }

  /** Stops an answer in which something is wrong. */
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

  /** The headers of a stream are here: from now on only silence ends it. */
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

/** Failures after which the agent says nothing more: after all others it is told to stop. */
const ENDINGS: ReadonlySet<AttemptFailure['kind']> = new Set(['rejected', 'reset', 'disconnected']);

function failureOf(fault: string | ApiError): AttemptFailure {
  return typeof fault === 'string' ? unusable(fault) : { kind: 'gateway', error: fault };
}

function unusable(reason: string): AttemptFailure {
  return { kind: 'unusable', reason };
}

/** What the agent says before the bytes of an answer of this kind. */
function expectedType(endpoint: EndpointKey, isStream: boolean): string {
  if (isStream) return 'text/event-stream';
  return ENDPOINTS[endpoint].media === null ? 'application/json' : 'multipart/mixed';
}
