/**
 * Jobs in providers' hands: each claim from its OPEN, or its agent's return, until what became of
 * it is written and the agent has been told so. A run whose link ends is forgotten here; its claim
 * lives on in the store.
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
  /** Memory for requests and answers, which calls take theirs from, too. */
  readonly budget: Budget;
  readonly deadlines: JobDeadlines;
  readonly logger: Logger;
  /** A job has been claimed. */
  readonly onStart: (job: Job) => void;
  /** A job is in another state; `usage` if it has ended. */
  readonly onChange: (job: Job, usage: UsageRow | null) => void;
}

/** Where a claimed job is sent. */
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
   * Claims that were canceled before they came here: both share a commit, and whoever hears of it
   * first is chance.
   */
  readonly #canceledEarly = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  /** Of requests that no agent has accepted yet. */
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
   * Takes up a claim that an agent has brought back. Rejects where its answer cannot be taken now:
   * the agent is to keep it.
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
    // It was claimed and never heard of again until now.
    if (runDeadline === null) this.#ends.accepted(claimed, limitMs);
    const run = JobRun.resume({ claimed, canceling, linked, sink, limitMs });
    // It is over, too, where the link is given up before it was begun.
    this.#track(claimId, canceling, this.#follow(run, null));
    const begin = (exchange: Exchange): void => run.begin(exchange);
    const shareId = this.#shareOf(claimed, linked);
    return { claimId, action, serviceId, shareId, handler: run.handler, begin };
  }

  /** Whether its end is still to come through here. */
  has(claimId: string): boolean {
    return this.#cancelers.has(claimId);
  }

  /** The job is canceled: stops the work on the GPU. */
  cancel(claimId: string): void {
    const canceling = this.#cancelers.get(claimId);
    if (canceling !== undefined) return canceling.abort(JOB_CANCELED);
    // Most of these are with an agent that is away: it is told when it is back.
    this.#canceledEarly.add(claimId);
    for (const oldest of this.#canceledEarly) {
      if (this.#canceledEarly.size <= MAX_CANCELED_EARLY) break;
      this.#canceledEarly.delete(oldest);
    }
  }

  get underWay(): number {
    return this.#cancelers.size;
  }

  /** Resolves once the end of every run is written; the links must have ended. */
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

  /** Counts a body as held until the function that is returned is called. */
  #hold(bytes: number): () => void {
    let held = bytes;
    this.unsentBytes += held;
    const share = this.#parts.budget.open(UNSENT);
    // Whether there is room was asked before the job was claimed.
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

  /** Null if there is nowhere to put its answer, and the job has ended with that. */
  async #openSink(claimed: ClaimedJob, body: Uint8Array): Promise<JobSink | null> {
    try {
      return await this.#parts.sinks.open(claimed.job, body);
    } catch (error) {
      await this.#concede(claimed, error instanceof ApiError ? error : brokenRun(error));
      return null;
    }
  }

  /** The same for work that is done, or half done: only spent space is worth losing it. */
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

  /** Through which share its caller is let in by now; null if they own the provider. */
  #shareOf({ job, serviceId }: ClaimedJob, { providerId }: LinkedProvider): string | null {
    const { memberId, scope, needs, model, endpoint } = job;
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

  /** A result that is whole needs time for its way alone, however late it is. */
  #leftOf(claimed: ClaimedJob, action: 'continue' | 'upload'): number {
    const wholeMs = this.#deadlineOf(claimed);
    if (action === 'upload') return wholeMs;
    const now = Date.now();
    // A claim that was lost meanwhile has no deadline any more, and no right to a second one.
    const deadline = claimed.runDeadline ?? (claimed.job.startedAt ?? now) + wholeMs;
    // The wall clock may have been set back meanwhile.
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
        // Its agent may have brought the claim back on a newer link before this one was through.
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

/** Holds the requests of jobs: they are nobody's half of the memory. No member has this id. */
const UNSENT = 'unsent jobs';

/** Many more than can be on their way from the store at once. */
const MAX_CANCELED_EARLY = 1_000;

const DEADLINES: Readonly<Record<ServiceType, keyof JobDeadlines>> = {
  llm: 'jobDeadlineMs',
  stt: 'jobDeadlineMs',
  tts: 'jobDeadlineMs',
  image: 'jobImageDeadlineMs',
  video: 'jobFilmDeadlineMs',
  music: 'jobFilmDeadlineMs',
};

function linkGone(): ApiError {
  const message = 'The provider could not be given the work any more.';
  return new ApiError('provider_disconnected', message);
}
