/**
 * One piece of work, whoever asked for it, and where its answer goes. A synchronous call and a
 * job are the same Work; only the Sink differs.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../core/caller.js';

/** The reason with which `Work.signal` is aborted where the caller is there, but reads nothing. */
export const CALLER_STALLED = 'CALLER_STALLED';

export interface Work {
  readonly requestId: string;
  readonly caller: Caller;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly body: Uint8Array;
  readonly stream: boolean;
  /** Monotonic ms (`performance.now`). */
  readonly receivedAt: number;
  /** The caller's own time limit, where it named one; null otherwise. */
  readonly limitMs: number | null;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Who answers, told to the sink before the first byte of the answer. */
export interface Answerer {
  readonly providerName: string;
  readonly attempt: number;
  readonly queueMs: number;
  /** Time spent in the gateway itself, beside waiting for a slot. */
  readonly overheadMs: number;
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
  /**
   * Takes bytes and calls `consumed` with their number once they are passed on.
   * Returns what is wrong with them, or null.
   */
  data(bytes: Uint8Array, consumed: (bytes: number) => void): string | null;
  /** The answer is whole; returns what is wrong with it, or null. */
  end(): string | null;
}

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
