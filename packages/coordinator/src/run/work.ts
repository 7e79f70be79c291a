/**
 * One piece of work and the receiver of its answer. A synchronous call and a job are the same Work;
 * only the Sink differs.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import type { ApiError } from '@inference-gateway/shared/errors';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { Caller } from '../core/access/caller.js';
import type { Asking, Needs } from '../core/routing/match.js';
import type { AnswerPart, Upload } from '../core/routing/links.js';
import type { AskedTokens, Metered } from '../core/usage/usage-bounds.js';

/** `Work.signal` is aborted with this reason if the caller is connected but reads nothing. */
export const CALLER_STALLED = 'CALLER_STALLED';
/** The abort reason for a job that was canceled. */
export const JOB_CANCELED = 'CANCELED';

/** What is sent to a provider, for a call and for a job. */
export interface Work {
  readonly requestId: string;
  readonly caller: Pick<Caller, 'memberId' | 'memberName'>;
  readonly endpoint: EndpointKey;
  readonly model: string;
  readonly body: Uint8Array;
  readonly uploads: readonly Upload[];
  /** Slots that it takes of a service, if they are free. */
  readonly slots: number;
  /** The tokens that the body asks for; null if the answer is not text. */
  readonly asked: AskedTokens | null;
  /** The field in which the caller reads a model's thinking; absent: the default. */
  readonly reasoningField?: ReasoningField;
  /** Monotonic ms (`performance.now`); with files, when the whole request had arrived. */
  readonly receivedAt: number;
  /** Aborted when the caller leaves or the job is canceled. */
  readonly signal: AbortSignal;
}

/** The alias that the caller of a call has named. */
export interface CalledAlias {
  /** As the caller wrote it. */
  readonly name: string;
  /** The models that it stands for, of those that the caller may use, in their order. */
  readonly models: readonly string[];
  /** The caller as their key restricts them: an alias may lead them to more. */
  readonly asking: Asking;
}

/** A synchronous call: its caller waits, and no provider has been chosen yet. */
export interface Call extends Work {
  readonly caller: Caller;
  /** What a provider must support beyond serving the model. */
  readonly needs: Needs;
  readonly stream: boolean;
  /** The conversation that it belongs to; absent: computed from the body. */
  readonly prefixes?: readonly string[];
  /** What its caller calls the session that it belongs to; absent: nothing was said. */
  readonly session?: string;
  /** The caller's own time limit; null if it set none. */
  readonly limitMs: number | null;
  /** Absent: the caller has named the model. */
  readonly alias?: CalledAlias;
  /** The call as it is sent to the next model of its alias; absent or null: there is none. */
  readonly next?: () => Call | null;
}

/** The time from a call's arrival until it was sent. */
export interface SpentTime {
  readonly queueMs: number;
  /** Time in the gateway itself, without waiting for a slot. */
  readonly overheadMs: number;
}

/** The provider that answers, passed to the sink before the first byte of the answer. */
export interface Answerer {
  readonly providerId: string;
  readonly providerName: string;
  readonly model: string;
  readonly attempt: number;
  /** Null for a job, whose caller does not wait. */
  readonly spent: SpentTime | null;
  /** The limit to which the share lowered the answer's tokens; null if it did not. */
  readonly maxTokens: number | null;
  readonly contentType: string;
}

/**
 * Receives one answer. Nothing is passed on before `begin`, and no other provider is tried once
 * `committed` is true.
 */
export interface Sink {
  /** True once a byte of an answer has gone to the caller. */
  readonly committed: boolean;
  /** A provider is about to answer; called again if another provider takes over. */
  begin(answerer: Answerer): void;
  /** The next file begins. */
  part(part: AnswerPart): SinkFault;
  /** Takes bytes and calls `consumed` with their number once they are passed on. */
  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault;
  /** The answer is complete. */
  end(metered: Metered): SinkFault | Promise<SinkFault>;
}

/**
 * What is wrong with an answer; null if nothing is. An `ApiError` is the fault of the gateway or
 * the caller, not of the provider: another provider would not help.
 */
export type SinkFault = string | ApiError | null;

/** How a call ended, for the caller, the log and the meter. */
export interface Outcome {
  readonly kind: 'ok' | 'failed' | 'canceled';
  readonly error: ApiError | null;
  readonly providerId: string | null;
  /** The one that served, or was sent the call last; else the name in the request. */
  readonly model: string;
  /** The share that let the caller in; absent or null: none. */
  readonly shareId?: string | null;
  readonly attempts: number;
  readonly queueMs: number;
  readonly firstByteMs: number | null;
  /** From the request's arrival to its end. */
  readonly totalMs: number;
  /**
   * Of what was sent, in part or whole: a promise while the work is being stopped and the agent has
   * yet to report it. It never rejects.
   */
  readonly metered: Metered | Promise<Metered>;
}
