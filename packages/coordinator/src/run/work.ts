/**
 * One piece of work, and where its answer goes. A synchronous call and a job are the same Work;
 * only the Sink differs.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../core/access/caller.js';
import type { Needs } from '../core/routing/match.js';
import type { AnswerPart, Upload } from '../core/routing/links.js';
import type { AskedTokens, MeteredTokens } from '../core/usage/usage-bounds.js';

/** The reason with which `Work.signal` is aborted where the caller is there, but reads nothing. */
export const CALLER_STALLED = 'CALLER_STALLED';
/** The same for a job that was canceled. */
export const JOB_CANCELED = 'CANCELED';

/** What is sent to a provider, for a call and for a job. */
export interface Work {
  readonly requestId: string;
  readonly caller: Pick<Caller, 'memberId' | 'memberName'>;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly body: Uint8Array;
  readonly uploads: readonly Upload[];
  /** That it takes of a service, where they are free. */
  readonly slots: number;
  /** What the body asks for; null if the answer is no text. */
  readonly asked: AskedTokens | null;
  /** The name under which the caller reads a model's thinking; absent, the usual one. */
  readonly reasoningField?: ReasoningField;
  /** Monotonic ms (`performance.now`): of the whole request where it held files. */
  readonly receivedAt: number;
  /** Aborted when the caller leaves, or the job is canceled. */
  readonly signal: AbortSignal;
}

/** A synchronous call: its caller waits, and its provider is yet to be found. */
export interface Call extends Work {
  readonly caller: Caller;
  /** What a provider must be able to do beyond serving the model. */
  readonly needs: Needs;
  readonly stream: boolean;
  /** The conversation that it belongs to; absent: it is read from the body. */
  readonly prefixes?: readonly string[];
  /** The caller's own time limit, where it named one; null otherwise. */
  readonly limitMs: number | null;
}

/** What a call has spent until it was sent. */
export interface SpentTime {
  readonly queueMs: number;
  /** In the gateway itself, beside waiting for a slot. */
  readonly overheadMs: number;
}

/** Who answers, told to the sink before the first byte of the answer. */
export interface Answerer {
  readonly providerId: string;
  readonly providerName: string;
  readonly attempt: number;
  /** Null: of a job, whose caller does not wait. */
  readonly spent: SpentTime | null;
  /** What its share lowered the answer's tokens to; null if it lowered nothing. */
  readonly maxTokens: number | null;
  readonly contentType: string;
}

/**
 * Takes one answer. Nothing is passed on before `begin`, and no other provider is tried after
 * `committed`.
 */
export interface Sink {
  /** True once a byte of an answer has gone to the caller. */
  readonly committed: boolean;
  /** A provider is about to answer; called again where another one takes over. */
  begin(answerer: Answerer): void;
  /** The next file begins. */
  part(part: AnswerPart): SinkFault;
  /** Takes bytes and calls `consumed` with their number once they are passed on. */
  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault;
  /** The answer is whole, and had these tokens. */
  end(tokens: MeteredTokens): SinkFault | Promise<SinkFault>;
}

/**
 * What is wrong with an answer, or null. An `ApiError` is no failure of the provider's, but the
 * gateway's own or the caller's: no other provider would fare better.
 */
export type SinkFault = string | ApiError | null;

/** How a call ended, for the caller, the log and the meter. */
export interface Outcome {
  readonly kind: 'ok' | 'failed' | 'canceled';
  readonly error: ApiError | null;
  readonly providerId: string | null;
  readonly attempts: number;
  readonly queueMs: number;
  readonly firstByteMs: number | null;
  /** From the request's arrival to its end. */
  readonly totalMs: number;
  /**
   * Of what was sent, in part or whole: a promise where work is being stopped whose agent is still
   * to tell. It is never rejected.
   */
  readonly tokens: MeteredTokens | Promise<MeteredTokens>;
}
