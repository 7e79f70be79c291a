/**
 * One piece of work, whoever asked for it, and where its answer goes. A synchronous call and a
 * job are the same Work; only the Sink differs.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../core/caller.js';
import type { Needs } from '../core/match.js';
import type { AnswerPart, Upload } from '../core/sessions.js';

/** The reason with which `Work.signal` is aborted where the caller is there, but reads nothing. */
export const CALLER_STALLED = 'CALLER_STALLED';
/** The same for a job that was canceled. */
export const JOB_CANCELED = 'CANCELED';

export interface Work {
  readonly requestId: string;
  readonly caller: Caller;
  readonly endpoint: EndpointKey;
  readonly model: string;
  /** What a provider must be able to do beyond serving the model. */
  readonly needs: Needs;
  readonly body: Uint8Array;
  readonly uploads: readonly Upload[];
  readonly stream: boolean;
  /** Monotonic ms (`performance.now`): of the whole request where it held files. */
  readonly receivedAt: number;
  /** The caller's own time limit, where it named one; null otherwise. */
  readonly limitMs: number | null;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Who answers, told to the sink before the first byte of the answer. */
export interface Answerer {
  readonly providerId: string;
  readonly providerName: string;
  readonly attempt: number;
  readonly queueMs: number;
  /** Time spent in the gateway itself, beside waiting for a slot. */
  readonly overheadMs: number;
  /** What its share lowered the answer's tokens to; null where it lowered nothing. */
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
  /** The answer is whole. */
  end(): SinkFault | Promise<SinkFault>;
}

/**
 * What is wrong with an answer, or null. An `ApiError` is the gateway's own failure: no other
 * provider would fare better.
 */
export type SinkFault = string | ApiError | null;

/** How a piece of work ended, for the caller, the log and the meter. */
export interface Outcome {
  readonly kind: 'ok' | 'failed' | 'canceled';
  readonly error: ApiError | null;
  readonly providerId: string | null;
  readonly attempts: number;
  readonly queueMs: number;
  readonly firstByteMs: number | null;
  readonly usage: TokenUsage | null;
}
