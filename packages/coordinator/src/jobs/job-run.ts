/** One run of a claimed job, sent like a call, and its effect on the job. */
import { ApiError } from '@inference-gateway/shared/errors';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { Choice } from '../core/routing/match.js';
import type {
  CallReport,
  Exchange,
  ExchangeHandler,
  LinkedProvider,
  Reservation,
} from '../core/routing/links.js';
import { askedTokens } from '../core/usage/usage-bounds.js';
import type { ClaimedJob, HeldClaim } from '../store/port.js';
import type { Attempt, AttemptResult, AttemptTiming } from '../run/attempt.js';
import { judge, reportOfRun } from '../run/failure.js';
import type { JobVerdict } from '../run/failure.js';
import { resume, send } from '../run/send.js';
import type { Work } from '../run/work.js';
import type { JobSink } from './sinks.js';

interface JobRunParts {
  readonly claimed: ClaimedJob;
  readonly sink: JobSink;
  /** Aborted when the job is canceled. */
  readonly canceling: AbortController;
  readonly limitMs: number;
}

interface SentParts extends JobRunParts {
  readonly body: Uint8Array;
  readonly choice: Choice;
  readonly reservation: Reservation;
  readonly onAccepted: () => void;
}

interface ResumedParts extends JobRunParts {
  readonly linked: LinkedProvider;
  /** Since its claim. */
  readonly ranMs: number;
}

export type RunEnd =
  | Extract<AttemptResult, { readonly kind: 'done' }>
  | { readonly kind: 'refused'; readonly verdict: JobVerdict; readonly report: CallReport }
  | { readonly kind: 'canceled' };

export class JobRun {
  readonly claim: HeldClaim;
  readonly sink: JobSink;
  /** Never rejected. */
  readonly end: Promise<RunEnd>;
  /** Monotonic. */
  readonly #startedAt: number;
  readonly #attempt: Attempt;
  #exchange: Exchange | null = null;

  private constructor(
    { claimed, sink }: JobRunParts,
    attempt: Attempt,
    from: { readonly startedAt: number; readonly providerName: string },
  ) {
    const { claimId, linkId } = claimed;
    this.claim = { claimId, linkId };
    this.sink = sink;
    this.#startedAt = from.startedAt;
    this.#attempt = attempt;
    this.end = endOf(attempt, claimed, from.providerName);
  }

  /** Sends the job to the provider of its claim; null if the link has ended. */
  static send(parts: SentParts): JobRun | null {
    const { claimed, choice, reservation, sink, limitMs, onAccepted } = parts;
    const { job, claimId } = claimed;
    const work = toWork(parts);
    const sent = send({
      work,
      choice,
      sink,
      attempt: job.attempts,
      job: { jobId: job.id, claimId },
      spent: null,
      timing: wholeWithin(limitMs),
      open: (request, handler) => reservation.open(request, handler),
      onAccepted,
    });
    if (sent === null) return null;
    const { providerName } = choice;
    const run = new JobRun(parts, sent.attempt, { startedAt: work.receivedAt, providerName });
    run.#exchange = sent.exchange;
    return run;
  }

  /** Resumes a run that was sent over an earlier link: only its agent has the request. */
  static resume(parts: ResumedParts): JobRun {
    const { claimed, linked, sink, canceling, limitMs, ranMs } = parts;
    const { job, request = null } = claimed;
    const startedAt = performance.now();
    const attempt = resume({
      work: {
        endpoint: job.endpoint,
        model: job.servedModel ?? job.model,
        receivedAt: startedAt,
        signal: canceling.signal,
      },
      provider: linked,
      sink,
      attempt: job.attempts,
      timing: wholeWithin(limitMs),
      ranMs,
      size: request,
    });
    return new JobRun(parts, attempt, { startedAt, providerName: linked.providerName });
  }

  /** Only for a resumed run. */
  get handler(): ExchangeHandler {
    return this.#attempt;
  }

  /** Only for a resumed run: the stream of its answer. */
  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#attempt.begin(exchange);
  }

  /** From the claim to the first byte of the answer; null if there was none. */
  get firstByteMs(): number | null {
    const { firstByteAt } = this.#attempt;
    return firstByteAt === null ? null : Math.round(firstByteAt - this.#startedAt);
  }

  /** Acknowledges the agent's final message. */
  acknowledge(verdict: Parameters<Exchange['acknowledge']>[1]): void {
    this.#exchange?.acknowledge(this.claim.claimId, verdict);
  }
}

/** A local call is silent while it computes, so that only its total time is limited. */
function wholeWithin(deadlineMs: number): AttemptTiming {
  return { deadlineMs, isCallers: false, stream: null };
}

function toWork({ claimed, body, canceling }: SentParts): Work {
  const { job, memberName } = claimed;
  const { requestId, memberId, endpoint } = job;
  return {
    requestId,
    caller: { memberId, memberName },
    endpoint,
    model: job.servedModel ?? job.model,
    body,
    // Jobs have no uploaded files.
    uploads: [],
    // One slot: for several at once there are batches.
    slots: 1,
    asked: askedTokens(endpoint, () => readSparse(body)),
    receivedAt: performance.now(),
    signal: canceling.signal,
  };
}

function endOf(attempt: Attempt, { job }: ClaimedJob, providerName: string): Promise<RunEnd> {
  return attempt.result.then(
    (result): RunEnd => {
      if (result.kind === 'done') return result;
      if (result.kind === 'gone') return { kind: 'canceled' };
      const verdict = judge(result.failure, providerName);
      const report = reportOfRun(result.failure, verdict, job.endpoint);
      return { kind: 'refused', verdict, report };
    },
    (error: unknown): RunEnd => {
      const told = error instanceof ApiError ? error : brokenRun(error);
      const verdict: JobVerdict = { fate: 'retry', error: told };
      return { kind: 'refused', verdict, report: { kind: 'nothing' } };
    },
  );
}

/** A bug of ours, reported without internals. */
export function brokenRun(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The gateway failed while it ran the job.', { cause });
}
