/**
 * Claimed jobs: each claim from its OPEN, or from the return of its agent, until its end is written
 * and acknowledged to the agent. A run whose link ends is dropped here; its claim stays in the
 * store.
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Budget } from '../core/usage/budget.js';
import { capableCandidates } from '../core/routing/match.js';
import type { Choice } from '../core/routing/match.js';
import type {
  CallReport,
  Exchange,
  LinkedProvider,
  Reservation,
  Resumption,
  Links,
} from '../core/routing/links.js';
import type { ClaimedJob, DispatchStore, Job, UsageRow } from '../store/port.js';
import { JobRun, brokenRun } from './job-run.js';
import type { RunEnd } from './job-run.js';
import type { JobSinks, JobSink } from './sinks.js';
import { RunEnds } from './ends.js';
import { judgeOwnFault } from '../run/failure.js';
import { JOB_CANCELED } from '../run/work.js';

export interface JobDeadlines {
  readonly jobDeadlineMs: number;
  readonly jobImageDeadlineMs: number;
  readonly jobFilmDeadlineMs: number;
}

export interface JobRunsParts {
  readonly store: DispatchStore;
  readonly links: Pick<Links, 'report' | 'candidates'>;
  readonly sinks: JobSinks;
  /** Memory budget for requests and answers, shared with synchronous calls. */
  readonly budget: Budget;
  readonly deadlines: JobDeadlines;
  readonly now: () => number;
  readonly logger: Logger;
  /** A job has been claimed. */
  readonly onStart: (job: Job) => void;
  /** A job has changed its state; `usage` if it has ended. */
  readonly onChange: (job: Job, usage: UsageRow | null) => void;
}

/** The target of a claimed job. */
interface Place {
  readonly choice: Choice;
  readonly reservation: Reservation;
}

interface Started extends Place {
  readonly claimed: ClaimedJob;
  readonly body: Uint8Array;
  readonly canceling: AbortController;
}

export class JobRuns {
  readonly #parts: JobRunsParts;
  readonly #ends: RunEnds;
  /** By claim. */
  readonly #cancelers = new Map<string, AbortController>();
  /**
   * Claims that were canceled before their run began: both are in one commit, and either may be
   * reported first.
   */
  readonly #canceledEarly = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  /** Bytes of requests that no agent has accepted yet. */
  unsentBytes = 0;

  constructor(parts: JobRunsParts) {
    this.#parts = parts;
    this.#ends = new RunEnds(parts);
  }

  /** Sends a job that has just been claimed. */
  start(claimed: ClaimedJob, body: Uint8Array, place: Place): void {
    this.#parts.onStart(claimed.job);
    const canceling = this.#enter(claimed.claimId);
    this.#track(claimed.claimId, canceling, this.#start({ claimed, body, canceling, ...place }));
  }

  /**
   * Resumes a claim that an agent still holds. Rejects if its answer cannot be received now: the
   * agent keeps it then.
   */
  async resume(
    claimed: ClaimedJob,
    linked: LinkedProvider,
    action: 'continue' | 'upload',
  ): Promise<Resumption> {
    const { claimId, serviceId, runDeadline } = claimed;
    const limitMs = this.#leftOf(claimed, action);
    const sink = await this.#reopenSink(claimed);
    const isOver = sink === null || this.#canceledEarly.delete(claimId);
    if (isOver) return { claimId, action: 'discard' };
    const canceling = this.#enter(claimId);
    // It was claimed, but nothing has arrived for it until now.
    if (runDeadline === null) this.#ends.accepted(claimed, limitMs);
    const now = this.#parts.now();
    const ranMs = Math.max(0, now - (claimed.job.startedAt ?? now));
    const run = JobRun.resume({ claimed, canceling, linked, sink, limitMs, ranMs });
    // It also ends if the link is given up before the run began.
    this.#track(claimId, canceling, this.#follow(run, null));
    const begin = (exchange: Exchange): void => run.begin(exchange);
    const shareId = this.#shareOf(claimed, linked);
    return { claimId, action, serviceId, shareId, handler: run.handler, begin };
  }

  /** Whether its end will still be written by this object. */
  has(claimId: string): boolean {
    return this.#cancelers.has(claimId);
  }

  /** The job is canceled: stops the work on the GPU. */
  cancel(claimId: string): void {
    const canceling = this.#cancelers.get(claimId);
    if (canceling !== undefined) return canceling.abort(JOB_CANCELED);
    // Most of these are held by an agent that is offline: it is told when it reconnects.
    this.#canceledEarly.add(claimId);
    for (const oldest of this.#canceledEarly) {
      if (this.#canceledEarly.size <= MAX_CANCELED_EARLY) break;
      this.#canceledEarly.delete(oldest);
    }
  }

  get underWay(): number {
    return this.#cancelers.size;
  }

  /** Resolves when the end of every run is written; all links must have ended before. */
  async close(): Promise<void> {
    this.#ends.close();
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  async #start(started: Started): Promise<void> {
    const { claimed, body, canceling, choice, reservation } = started;
    const sink = await this.#openSink(claimed, body);
    if (sink === null || canceling.signal.aborted) return reservation.release();
    const limitMs = this.#deadlineOf(claimed);
    const sent = this.#hold(body.length);
    const onAccepted = (): void => {
      sent();
      this.#ends.accepted(claimed, limitMs);
    };
    const run = JobRun.send({ ...started, sink, limitMs, onAccepted });
    if (run === null) {
      sent();
      return this.#ends.release(claimed, linkGone());
    }
    return this.#follow(run, choice).finally(sent);
  }

  /** Counts a body as held until the returned function is called. */
  #hold(bytes: number): () => void {
    let held = bytes;
    this.unsentBytes += held;
    const share = this.#parts.budget.open(UNSENT);
    // Room for it was checked before the job was claimed.
    share.tryAdd(held);
    return () => {
      this.unsentBytes -= held;
      held = 0;
      share.release();
    };
  }

  async #follow(run: JobRun, choice: Choice | null): Promise<void> {
    const end = await run.end;
    if (choice !== null) this.#parts.links.report(choice, reportOfEnd(end));
    await this.#ends.write(run, end);
  }

  /** Null if its answer cannot be stored: the job has ended with that error. */
  async #openSink(claimed: ClaimedJob, body: Uint8Array): Promise<JobSink | null> {
    try {
      return await this.#parts.sinks.open(claimed.job, body);
    } catch (error) {
      await this.#concede(claimed, error instanceof ApiError ? error : brokenRun(error));
      return null;
    }
  }

  /** The same for work in progress or done: it is dropped only if the caller's space is used up. */
  async #reopenSink(claimed: ClaimedJob): Promise<JobSink | null> {
    try {
      return await this.#parts.sinks.open(claimed.job, null);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'storage_full') throw error;
      await this.#concede(claimed, error);
      return null;
    }
  }

  async #concede(claimed: ClaimedJob, error: ApiError): Promise<void> {
    await this.#ends.end(claimed, judgeOwnFault(error));
  }

  /** The share that its caller uses now; null if they own the provider. */
  #shareOf({ job, serviceId }: ClaimedJob, { providerId }: LinkedProvider): string | null {
    const { memberId, scope, needs, endpoint } = job;
    const model = job.servedModel ?? job.model;
    const all = this.#parts.links.candidates(ENDPOINTS[endpoint].serviceType, model);
    const used = capableCandidates(all, { caller: { memberId, scope }, needs }).find(
      (one) => one.providerId === providerId && one.serviceId === serviceId,
    );
    return used?.grant.shareId ?? null;
  }

  #enter(claimId: string): AbortController {
    const canceling = new AbortController();
    if (this.#canceledEarly.delete(claimId)) canceling.abort(JOB_CANCELED);
    this.#cancelers.set(claimId, canceling);
    return canceling;
  }

  /** A complete result only needs time for its transfer, however late it is. */
  #leftOf(claimed: ClaimedJob, action: 'continue' | 'upload'): number {
    const wholeMs = this.#deadlineOf(claimed);
    if (action === 'upload') return wholeMs;
    const now = this.#parts.now();
    // A claim that was lost meanwhile has no deadline any more, and does not get a second one.
    const deadline = claimed.runDeadline ?? (claimed.job.startedAt ?? now) + wholeMs;
    // The wall clock may have been set back.
    return Math.min(wholeMs, Math.max(1, deadline - now));
  }

  #deadlineOf({ job }: ClaimedJob): number {
    const { serviceType } = ENDPOINTS[job.endpoint];
    return this.#parts.deadlines[DEADLINES[serviceType]];
  }

  #track(claimId: string, canceling: AbortController, work: Promise<void>): void {
    const settled = work
      .catch((err: unknown) => this.#parts.logger.error({ err }, 'a run of a job broke'))
      .finally(() => {
        // Its agent may have resumed the claim on a newer link before this one was done.
        if (this.#cancelers.get(claimId) === canceling) this.#cancelers.delete(claimId);
        this.#pending.delete(settled);
      });
    this.#pending.add(settled);
  }
}

function reportOfEnd(end: RunEnd): CallReport {
  if (end.kind === 'done') return { kind: 'ok', measured: end.measured };
  return end.kind === 'refused' ? end.report : { kind: 'nothing' };
}

/** Owner of jobs' requests in the memory budget: they count for no member. No member's id. */
const UNSENT = 'unsent jobs';

/** Many more than the store can return at once. */
const MAX_CANCELED_EARLY = 1_000;

const DEADLINES: Readonly<Record<ServiceType, keyof JobDeadlines>> = {
  llm: 'jobDeadlineMs',
  stt: 'jobDeadlineMs',
  tts: 'jobDeadlineMs',
  image: 'jobImageDeadlineMs',
  video: 'jobFilmDeadlineMs',
  music: 'jobFilmDeadlineMs',
  embedding: 'jobDeadlineMs',
  rerank: 'jobDeadlineMs',
};

function linkGone(): ApiError {
  const message = 'The provider could not be given the work any more.';
  return new ApiError('provider_disconnected', message);
}
