/** One run of one claimed job: the Work that a synchronous call would be, and its sink. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { limitOf, sequencesOf } from '@inference-gateway/shared/openai/tokens';
import type { Candidate } from '../core/routing/match.js';
import type {
  CallReport,
  Exchange,
  ExchangeHandler,
  LinkedProvider,
  OpenRequest,
} from '../core/routing/links.js';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import { sizeOf } from '../core/usage/usage-bounds.js';
import type { RequestSize } from '../core/usage/usage-bounds.js';
import type { ClaimedJob } from '../store/port.js';
import { Attempt } from '../run/attempt.js';
import type { AttemptResult } from '../run/attempt.js';
import type { JobSink } from './sinks.js';
import type { Work } from '../run/work.js';
import { judge, reportOf } from '../run/failure.js';
import type { AttemptFailure } from '../run/failure.js';

interface JobRunParts {
  readonly claimed: ClaimedJob;
  readonly provider: Pick<LinkedProvider, 'providerId' | 'providerName'> &
    Partial<Pick<Candidate, 'ownerId'>>;
  readonly sink: JobSink;
  /** Aborted when the job is canceled. */
  readonly canceling: AbortController;
  readonly limitMs: number;
  /** Null where only its agent still has it. */
  readonly body: Uint8Array | null;
  readonly onAccepted?: () => void;
}

export type RunEnd =
  | Extract<AttemptResult, { readonly kind: 'done' }>
  | { readonly kind: 'refused'; readonly verdict: JobVerdict; readonly report: CallReport }
  | { readonly kind: 'canceled' };

export class JobRun {
  readonly claimId: string;
  readonly sink: JobSink;
  /** Never rejected. */
  readonly end: Promise<RunEnd>;
  readonly #parts: JobRunParts;
  readonly #work: Work;
  readonly #attempt: Attempt;
  #exchange: Exchange | null = null;

  constructor(parts: JobRunParts) {
    this.#parts = parts;
    this.claimId = parts.claimed.claimId;
    this.sink = parts.sink;
    this.#work = toWork(parts);
    const { claimed, provider, sink, limitMs, body, onAccepted } = parts;
    this.#attempt = new Attempt({
      work: this.#work,
      sink,
      candidate: provider,
      attempt: claimed.job.attempts,
      queueMs: 0,
      overheadMs: 0,
      // The result says itself where it was cut.
      maxTokens: null,
      // A local call is silent while it computes: only the whole of it has a limit.
      allowed: allowedOf(claimed, body),
      timing: { syncDeadlineMs: limitMs, firstByteMs: limitMs, idleMs: limitMs },
      ...(onAccepted !== undefined && { onAccepted }),
    });
    this.end = this.#attempt.result.then(
      (result): RunEnd => {
        if (result.kind === 'done') return result;
        if (result.kind === 'gone') return { kind: 'canceled' };
        const { failure } = result;
        const verdict = judgeRun(failure, provider.providerName);
        const report = reportRun(failure, provider.providerName, claimed.job.endpoint);
        return { kind: 'refused', verdict, report };
      },
      (error: unknown): RunEnd => {
        const told = error instanceof ApiError ? error : brokenRun(error);
        const verdict: JobVerdict = { kind: 'fail', retryable: true, error: told };
        return { kind: 'refused', verdict, report: { kind: 'nothing' } };
      },
    );
  }

  get handler(): ExchangeHandler {
    return this.#attempt;
  }

  /** The body is not kept: its run may take hours. */
  openRequest(body: Uint8Array): OpenRequest {
    const { claimed, provider, limitMs } = this.#parts;
    const { job, claimId, memberName } = claimed;
    return {
      job: { jobId: job.id, claimId },
      endpoint: job.endpoint,
      model: job.model,
      caller: { name: memberName, own: provider.ownerId === job.memberId },
      memberId: job.memberId,
      body,
      uploads: [],
      // One after another: a batch is the way to have many at once.
      sequences: 1,
      deadlineMs: Math.ceil(limitMs),
      attempt: job.attempts,
      requestId: job.requestId,
    };
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#attempt.begin(exchange);
  }

  /** From the claim to the first byte of the answer; null where there was none. */
  get firstByteMs(): number | null {
    const { firstByteAt } = this.#attempt;
    return firstByteAt === null ? null : Math.round(firstByteAt - this.#work.receivedAt);
  }

  /** Tells the agent what became of its last word. */
  acknowledge(verdict: Parameters<Exchange['acknowledge']>[1]): void {
    this.#exchange?.acknowledge(this.claimId, verdict);
  }
}

/** Its request is the agent's by the time that anything could be sent again. */
const NOTHING = new Uint8Array();

function allowedOf({ job, request: resumed }: ClaimedJob, body: Uint8Array | null): Allowed {
  if (body === null || ENDPOINTS[job.endpoint].serviceType !== 'llm') {
    return { request: () => resumed ?? null, sequences: 1, maxTokens: null };
  }
  // The body itself is not kept.
  const size = sizeOf(body);
  const request = (): RequestSize => size;
  const fields = readSparse(body);
  const sequences = sequencesOf(job.endpoint, fields);
  return { request, sequences, maxTokens: limitOf(fields) };
}

type Allowed = ConstructorParameters<typeof Attempt>[0]['allowed'];

function toWork({ claimed, canceling }: JobRunParts): Work {
  const { job, memberName } = claimed;
  const { memberId, keyId, scope } = job;
  const limits = { requests: null, concurrent: null };
  return {
    requestId: job.requestId,
    caller: { memberId, memberName, keyId, scope, limits },
    endpoint: job.endpoint,
    model: job.model,
    needs: job.needs,
    body: NOTHING,
    uploads: [],
    sequences: 1,
    maxTokens: null,
    stream: false,
    receivedAt: performance.now(),
    limitMs: null,
    signal: canceling.signal,
  };
}

// What a failed run means for its job: tried again, failed for good, given back as if it had never
// run, or left as it is. Source: decisions, section 5, and `docs/job-states.md`.

export type JobVerdict =
  | { readonly kind: 'fail'; readonly retryable: boolean; readonly error: ApiError }
  /** `counts`: too many of these are a failure. */
  | { readonly kind: 'release'; readonly counts: boolean; readonly error: ApiError }
  /** The link is gone, and the work may not be: the lease decides, or the agent's return. */
  | { readonly kind: 'leave' };

export function judgeRun(failure: AttemptFailure, providerName: string): JobVerdict {
  const { blame, error } = judge(failure, providerName);
  switch (failure.kind) {
    case 'disconnected':
      return { kind: 'leave' };
    case 'not_accepted':
    case 'rejected':
      return { kind: 'release', counts: !isOwnersChoice(failure), error };
    case 'reset':
      if (failure.code === 'YIELDED') return { kind: 'release', counts: false, error };
      return { kind: 'fail', retryable: true, error };
    case 'gateway':
      return judgeOwnFault(error);
    default:
      // A local server that is busy now (429, 503) may do it later.
      return { kind: 'fail', retryable: blame !== 'final', error };
  }
}

/**
 * What it tells of its provider. Who gave the job back would be asked again at once, and is left
 * alone for a moment, whatever the reason.
 */
export function reportRun(
  failure: AttemptFailure,
  providerName: string,
  endpoint: EndpointKey,
): CallReport {
  const { blame } = judge(failure, providerName);
  const report = reportOf(failure, blame, endpoint);
  const isGivenBack = judgeRun(failure, providerName).kind === 'release';
  return isGivenBack && report.kind === 'nothing' ? { kind: 'busy' } : report;
}

/** The gateway itself cannot keep the answer. Full space stays full; anything else may pass. */
export function judgeOwnFault(error: ApiError): JobVerdict {
  if (error.code === 'storage_full') return { kind: 'fail', retryable: false, error };
  return { kind: 'release', counts: true, error };
}

function isOwnersChoice(failure: AttemptFailure): boolean {
  if (failure.kind !== 'rejected') return false;
  return failure.reason === 'draining' || failure.reason === 'paused';
}

/** Our own bug, told without internals. */
export function brokenRun(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The gateway failed while it ran the job.', { cause });
}
