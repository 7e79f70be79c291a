/** Jobs of a running coordinator: the actions of callers, and the claims of links. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ulid } from '@inference-gateway/shared/ids';
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AssetLibrary } from '../assets/asset-library.js';
import type { Budget } from '../core/usage/budget.js';
import type { Reservations } from '../core/usage/quotas.js';
import type { JobHint } from '../core/jobs/hint.js';
import { isFinished } from '../core/jobs/job.js';
import type { LaneHead } from '../core/jobs/lane.js';
import type {
  ClaimKeeper,
  ClaimOffer,
  LinkedProvider,
  ResumedLink,
  Resumption,
  Links,
} from '../core/routing/links.js';
import type { Choice } from '../core/routing/match.js';
import { placeAmong } from '../core/jobs/lane.js';
import { ABOUT_TO_START, waitingFor } from '../core/jobs/waiting-reason.js';
import type { Waiting } from '../core/jobs/waiting-reason.js';
import type {
  Batch,
  Canceled,
  CancelOutcome,
  Job,
  NewFileBatch,
  NewJobItem,
  QueuePosition,
  RetryOutcome,
  Store,
  SubmitOutcome,
  UsageRow,
  JobStore,
} from '../store/port.js';
import { Reach } from './reach.js';
import type { LineReader } from './batch-output.js';
import { FileBatches } from './file-batches.js';
import { Upkeep } from './upkeep.js';
import { Dispatcher } from './dispatcher.js';
import type { JobActions, Submitted, Submitter } from './job-actions.js';
import { JobGate } from './job-gate.js';
import { JobRuns } from './claims.js';
import type { JobDeadlines } from './claims.js';
import { JobSinks } from './sinks.js';
import type { TranslateResult } from './sinks.js';

export interface JobSettings extends JobDeadlines {
  readonly maxImages: number;
  readonly asyncEnabled: boolean;
  readonly jobMaxAttempts: number;
  readonly jobLeaseMs: number;
  readonly jobNoProviderMs: number;
  readonly retentionMs: number;
  readonly usageRetentionMs: number;
  readonly auditRetentionMs: number;
  readonly maxQueuedJobs: number;
  readonly maxQueuedBytes: number;
}

export interface JobsParts {
  readonly store: Store;
  readonly links: Links;
  readonly library: AssetLibrary;
  /** Memory budget for requests and answers, shared with synchronous calls. */
  readonly budget: Budget;
  /** What keys and members may use. */
  readonly quotas: Reservations;
  readonly settings: JobSettings;
  readonly lines: LineReader;
  /** Results of translated requests in the form of their API. */
  readonly translate: TranslateResult;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A job has ended. `usage`: its metered numbers, if they are known here. */
  readonly onEnded: (usage: UsageRow | null) => void;
  /** A job of the member was created or has changed; null: the queue was paused or resumed. */
  readonly onMoved: (memberId: string | null) => void;
  /** What other coordinators would find out by polling. */
  readonly onHint: (hint: JobHint) => void;
}

export class Jobs implements JobActions, ClaimKeeper {
  readonly #parts: JobsParts;
  readonly #runs: JobRuns;
  readonly #upkeep: Upkeep;
  readonly #gate: JobGate;
  readonly #dispatcher: Dispatcher;
  readonly #endings: Endings;
  readonly #fileBatches: FileBatches;

  constructor(parts: JobsParts) {
    this.#parts = parts;
    const { store, links, library, budget, settings, clock, logger } = parts;
    const { now } = clock;
    const { jobLeaseMs: leaseMs, jobNoProviderMs: noProviderMs } = settings;
    const { retentionMs, usageRetentionMs, auditRetentionMs } = settings;
    const onChange = (job: Job, usage: UsageRow | null): void => this.#changed(job, usage);
    this.#endings = new Endings(store);
    const { maxImages } = settings;
    const sinks = new JobSinks({ library, maxImages, budget, translate: parts.translate });
    const onStart = (job: Job): void => parts.onMoved(job.memberId);
    const run = { store, links, sinks, budget, deadlines: settings, now, logger };
    this.#runs = new JobRuns({ ...run, onStart, onChange });
    const time = { leaseMs, noProviderMs, retentionMs, usageRetentionMs, auditRetentionMs };
    this.#upkeep = new Upkeep({ store, links, clock, ...time, onChange, logger });
    const { asyncEnabled } = settings;
    const [runs, upkeep] = [this.#runs, this.#upkeep];
    this.#gate = new JobGate({ store, links, quotas: parts.quotas, now });
    const round = { store, links, runs, budget, upkeep, gate: this.#gate, leaseMs, now, logger };
    this.#dispatcher = new Dispatcher({ ...round, claims: asyncEnabled });
    this.#fileBatches = new FileBatches({
      store,
      library,
      reader: parts.lines,
      settings,
      now,
      logger,
      onFed: (memberId) => {
        this.#dispatcher.wake();
        parts.onMoved(memberId);
      },
      onCanceled: (canceled) => this.#canceled(canceled),
    });
  }

  findSubmitted(memberId: string, idempotencyKey: string): Promise<Job | null> {
    return this.#parts.store.findSubmittedJob(memberId, idempotencyKey);
  }

  findSubmittedBatch(memberId: string, idempotencyKey: string): Promise<Batch | null> {
    return this.#parts.store.findSubmittedBatch(memberId, idempotencyKey);
  }

  async submit(submitter: Submitter, item: NewJobItem): Promise<SubmitOutcome<Submitted>> {
    const { store } = this.#parts;
    const now = this.#now();
    const id = ulid(now);
    const express = await this.#dispatcher.express(headOf({ id, now, submitter, item }));
    const claim = express?.claim ?? null;
    const submission = { ...this.#submission(submitter), id, item, claim };
    const created = await store.createJob(submission, this.#limits, now).catch((error: unknown) => {
      express?.settle(null);
      throw error;
    });
    const claimed = created.kind === 'created' ? created.claimed : null;
    express?.settle(claimed);
    if (claimed === null) this.#queued();
    if (created.kind === 'queue_full' || created.kind === 'member_gone') return created;
    this.#parts.onMoved(submitter.memberId);
    const { kind, value: job } = created;
    if (kind === 'replayed') {
      return { kind, value: { job, waiting: (await this.waiting([job])).get(job.id) ?? null } };
    }
    // Its own slot is already taken: without this, it would seem to wait for a slot.
    if (claimed !== null) return { kind, value: { job, waiting: ABOUT_TO_START } };
    const waiting = await this.#waitingOf(job, created.position, new Reach(this.#parts));
    return { kind, value: { job, waiting } };
  }

  async submitBatch(
    submitter: Submitter & { readonly label: string | null },
    items: readonly NewJobItem[],
  ): Promise<SubmitOutcome<Batch>> {
    const { store } = this.#parts;
    const { label } = submitter;
    const created = await store.createBatch(
      { ...this.#submission(submitter), label, items },
      this.#limits,
      this.#now(),
    );
    this.#queued();
    this.#parts.onMoved(submitter.memberId);
    return created;
  }

  async submitFileBatch(batch: Omit<NewFileBatch, 'maxAttempts'>) {
    const created = await this.#parts.store.createFileBatch(this.#submission(batch), this.#now());
    this.#fileBatches.wake();
    return created;
  }

  async cancel(jobId: string, memberId: string | null): Promise<CancelOutcome> {
    const outcome = await this.#parts.store.cancelJob(jobId, memberId, this.#now());
    if (outcome.kind === 'canceled') this.#canceled(outcome);
    return outcome;
  }

  async cancelBatch(batchId: string, memberId: string | null): Promise<Batch | null> {
    const outcome = await this.#parts.store.cancelBatch(batchId, memberId, this.#now());
    if (outcome === null) return null;
    for (const canceled of outcome.canceled) this.#canceled(canceled);
    this.#fileBatches.wake();
    return outcome.batch;
  }

  async retry(jobId: string, memberId: string | null): Promise<RetryOutcome> {
    const { store } = this.#parts;
    const outcome = await store.retryJob(jobId, memberId, this.#limits, this.#now());
    this.#queued();
    if (outcome.kind === 'queued') this.#parts.onMoved(outcome.job.memberId);
    return outcome;
  }

  async waiting(jobs: readonly Job[]): Promise<ReadonlyMap<string, Waiting>> {
    const queued = jobs.filter(({ status }) => status === 'QUEUED');
    if (queued.length === 0) return new Map();
    const positions = await this.#parts.store.queuePositions(queued.map(({ id }) => id));
    const places = new Map(positions.map((position) => [position.jobId, position]));
    const reach = new Reach(this.#parts);
    const waiting = queued.map(async (job) => {
      return [job.id, await this.#waitingOf(job, places.get(job.id) ?? null, reach)] as const;
    });
    return new Map(await Promise.all(waiting));
  }

  whenEnded(jobId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    return this.#endings.wait(jobId, waitMs, signal);
  }

  async setPaused(paused: boolean, by: string): Promise<void> {
    await this.#parts.store.by(by).setQueuePaused(paused);
    this.#upkeep.isPaused = paused;
    this.#parts.onMoved(null);
    this.#queued();
  }

  async requeueStuck(): Promise<number> {
    const moved = await this.#parts.store.requeueStuck(this.#now());
    this.#queued();
    return moved;
  }

  /** From another coordinator. */
  hinted({ queued = false, endedJob, endedInBatch, canceledClaim }: JobHint): void {
    if (queued) this.#dispatcher.wake();
    if (endedJob !== undefined) this.#endings.ended(endedJob);
    if (endedInBatch !== undefined) this.#fileBatches.jobEnded(endedInBatch);
    if (canceledClaim !== undefined && this.#runs.has(canceledClaim)) {
      this.#runs.cancel(canceledClaim);
    }
  }

  get lastTickAt(): number | null {
    return this.#dispatcher.lastTickAt;
  }

  async resume(linked: LinkedProvider, offers: readonly ClaimOffer[]): Promise<ResumedLink> {
    const { store, settings } = this.#parts;
    const { providerId, linkId } = linked;
    const now = this.#now();
    const leaseUntil = now + settings.jobLeaseMs;
    const claimIds = offers.map(({ claim_id: id }) => id);
    const random = Math.random();
    const request = { providerId, linkId, claimIds, leaseUntil, random };
    const { epoch, claims, ended } = await store.resumeClaims(request, now);
    for (const outcome of ended) {
      if (outcome.kind === 'stale') continue;
      this.#changed(outcome.job, outcome.kind === 'failed' ? outcome.usage : null);
    }
    const resuming = offers.map(async ({ claim_id: claimId, phase }): Promise<Resumption> => {
      const claimed = claims.find((claim) => claim.claimId === claimId);
      if (claimed === undefined) return { claimId, action: 'discard' };
      const action = phase === 'spooled' ? 'upload' : 'continue';
      return this.#runs.resume(claimed, linked, action);
    });
    return { epoch, resumptions: await allOrNone(resuming) };
  }

  /** A claim whose end cannot be written here is not renewed: its lease ends it. */
  async renew(linked: LinkedProvider, held: readonly string[]): Promise<readonly string[]> {
    const { providerId, linkId } = linked;
    const claimIds = held.filter((id) => this.#runs.has(id));
    const unknown = held.filter((id) => !this.#runs.has(id));
    const now = this.#now();
    const leaseUntil = now + this.#parts.settings.jobLeaseMs;
    try {
      const renewal = { providerId, linkId, claimIds, leaseUntil };
      const lost = await this.#parts.store.renewClaims(renewal, now);
      return [...unknown, ...lost];
    } catch (err) {
      this.#parts.logger.warn({ err }, 'leases cannot be renewed now');
      this.#upkeep.renewalFailed();
      return unknown;
    }
  }

  /** Claims nothing more, and ends all waits. Runs continue at their agents. */
  async stop(): Promise<void> {
    this.#endings.close();
    await this.#fileBatches.close();
    await this.#dispatcher.close();
  }

  /** All links must have ended before. */
  async close(): Promise<void> {
    await this.stop();
    await this.#runs.close();
  }

  async #waitingOf(job: Job, position: QueuePosition | null, reach: Reach): Promise<Waiting> {
    const { serviceType } = ENDPOINTS[job.endpoint];
    const sought = { ...job, serviceType };
    const now = this.#now();
    const lastServedAt = await reach.lastServedAt(sought, now);
    const { held, models } = await this.#gate.judge(job);
    // Of the models behind an alias, its key may allow some.
    const isAllowed = ({ model }: Choice): boolean =>
      job.alias === null || models.includes(model.id);
    const candidates = reach.candidates(sought).filter(isAllowed);
    return waitingFor({
      job,
      serviceType,
      models,
      candidates,
      lastServedAt,
      asyncEnabled: this.#parts.settings.asyncEnabled,
      paused: this.#upkeep.isPaused,
      held,
      queue: position && placeAmong(job.memberId, position.ahead, candidates),
      now,
    });
  }

  #canceled({ job, claimId, usage }: Canceled): void {
    if (claimId !== null && !this.#runs.has(claimId)) {
      this.#parts.onHint({ canceledClaim: claimId });
    }
    if (claimId !== null) this.#runs.cancel(claimId);
    this.#changed(job, usage);
  }

  #changed(job: Job, usage: UsageRow | null): void {
    if (job.status !== 'PROCESSING') this.#gate.left(job, usage);
    if (job.status === 'QUEUED') this.#queued();
    else this.#dispatcher.wake();
    this.#parts.onMoved(job.memberId);
    if (!isFinished(job.status)) return;
    this.#noteUnserved(job);
    this.#endings.ended(job.id);
    const { id: endedJob, batchId } = job;
    this.#parts.onHint({ endedJob, ...(batchId !== null && { endedInBatch: batchId }) });
    if (batchId !== null) this.#fileBatches.jobEnded(batchId);
    this.#parts.onEnded(usage);
  }

  /** What nobody served is wanted; of an alias, its models are, which others chose. */
  #noteUnserved({ memberId, model, alias, status, error }: Job): void {
    if (alias !== null || status !== 'FAILED' || error?.code !== 'no_provider') return;
    this.#parts.store.noteWanted({ memberId, model });
  }

  /** Some job may run now, here or elsewhere. */
  #queued(): void {
    this.#dispatcher.wake();
    this.#parts.onHint({ queued: true });
  }

  #now(): number {
    return this.#parts.clock.now();
  }

  get #limits() {
    const { maxQueuedJobs: jobs, maxQueuedBytes: bytes } = this.#parts.settings;
    return { jobs, bytes };
  }

  #submission<T extends Submitter>(submitter: T) {
    return { ...submitter, maxAttempts: this.#parts.settings.jobMaxAttempts };
  }
}

/** The lane of a job that is about to be submitted. */
function headOf({ id, now, submitter, item }: NewJob): LaneHead {
  const { memberId, keyId, scope } = submitter;
  const { endpoint, model, alias, needs } = item;
  const { serviceType } = ENDPOINTS[endpoint];
  const place = { serviceType, model, ...(alias !== undefined && { alias }) };
  const lane = { ...place, memberId, scope, needs, excluded: [], avoided: [] };
  const api = item.translation?.api ?? null;
  const bodyBytes = item.body.length;
  const job = { id, keyId, endpoint, api, fairKey: 0, queuedAt: now, bodyBytes };
  return { key: id, lane, jobs: [job] };
}

interface NewJob {
  readonly id: string;
  readonly now: number;
  readonly submitter: Submitter;
  readonly item: NewJobItem;
}

/** If one claim cannot be resumed now, the agent shall reconnect with all of them. */
async function allOrNone(resuming: Promise<Resumption>[]): Promise<readonly Resumption[]> {
  try {
    return await Promise.all(resuming);
  } catch (error) {
    for (const settled of await Promise.allSettled(resuming)) {
      if (settled.status === 'rejected' || settled.value.action === 'discard') continue;
      settled.value.handler.fail({ kind: 'disconnected' });
    }
    throw error;
  }
}

const LOOK_AGAIN_MS = 5_000;

/** Waiters for the end of jobs. A signal is a hint: every waiter also polls. */
export class Endings {
  readonly #store: Pick<JobStore, 'findJob'>;
  readonly #waiting = new Map<string, Set<() => void>>();
  #isClosed = false;

  constructor(store: Pick<JobStore, 'findJob'>) {
    this.#store = store;
  }

  /** Resolves once the job has ended, or is gone; after `waitMs`; or when the signal is aborted. */
  async wait(jobId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const giveUpAt = performance.now() + waitMs;
    for (;;) {
      const found = await this.#store.findJob(jobId, null);
      const leftMs = giveUpAt - performance.now();
      if (found === null || isFinished(found.job.status) || leftMs <= 0) return;
      if (signal.aborted || this.#isClosed) return;
      await this.#signalled(jobId, Math.min(leftMs, LOOK_AGAIN_MS), signal);
    }
  }

  ended(jobId: string): void {
    for (const wake of this.#waiting.get(jobId) ?? []) wake();
  }

  /** Ends all waits. */
  close(): void {
    this.#isClosed = true;
    for (const wakers of this.#waiting.values()) for (const wake of wakers) wake();
  }

  #signalled(jobId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wakers = this.#waiting.get(jobId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        wakers.delete(wake);
        if (wakers.size === 0) this.#waiting.delete(jobId);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener('abort', wake, { once: true });
      wakers.add(wake);
      this.#waiting.set(jobId, wakers);
    });
  }
}
