/**
 * What time does to jobs: leases that end, back-offs that are over, models that nobody serves any
 * more, jobs whose retention is over. Only the coordinator's clock decides, and where that clock
 * has jumped, or nobody could renew for a while, all leases begin anew.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Lane, LaneHead } from '../core/jobs/lane.js';
import { NODE_BEAT_MS, NODE_LOST_MS } from '../core/routing/presence.js';
import type { EndOutcome, Job, JobStore, DispatchStore, Store, UsageRow } from '../store/port.js';
import { inputNotTaken } from '../run/absence.js';
import { Reach } from './reach.js';
import type { ReachParts } from './reach.js';

/** A tick that comes this late, or a clock that went on by so much less or more, is a jump. */
const JUMP_MS = 15_000;

/** So is less where leases are short, but no tick that is merely late. */
const SHORTEST_JUMP_MS = 2_500;

const SWEEP_MS = 5_000;

const RETENTION_SWEEP_MS = 10 * 60_000;

/** Jobs that one operation of the store ends: more would hold its only writer. */
const BATCH = 200;

/** Such operations a tick, for what is in no hurry: the queue is looked after meanwhile. */
const MAX_DELETIONS = 10;

/** Lanes that are expired at once: they share a commit. */
const LANES_AT_ONCE = 64;

/** Agents need a moment to come back after a restart: it counts for nobody's absence. */
const RETURN_MS = 90_000;

/** On top of a lease, after a restart. */
const RESTART_GRACE_MS = 30_000;

/** What passes in Unix ms, and what passes whatever is done to that clock. */
export interface Clocks {
  wall(): number;
  steady(): number;
}

export const SYSTEM_CLOCKS: Clocks = {
  wall: () => Date.now(),
  steady: () => performance.now(),
};

export interface UpkeepParts extends ReachParts {
  readonly store: DispatchStore &
    Pick<JobStore, 'deleteOldJobs'> &
    Pick<Store, 'deleteOldUsage' | 'deleteOldAudit' | 'releasePages' | 'servedModels' | 'beatNode'>;
  readonly clocks: Clocks;
  readonly leaseMs: number;
  readonly noProviderMs: number;
  readonly retentionMs: number;
  readonly usageRetentionMs: number;
  readonly auditRetentionMs: number;
  readonly onChange: (job: Job, usage: UsageRow | null) => void;
  readonly logger: Logger;
}

export class Upkeep {
  /** An administrator has stopped the queue. */
  isPaused = false;
  readonly #parts: UpkeepParts;
  /** Since when agents can come: the start, or the end of a sleep. */
  #awakeSince: number;
  /** At the last tick. */
  #last: Moment | null = null;
  /** Agents that wanted to renew could not. */
  #isRenewalDue = false;
  #ticking: Promise<void> | null = null;
  #sweptAt = 0;
  #beatAt = 0;
  #retainedAt = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#awakeSince = parts.clocks.wall();
  }

  /** The database took no renewals: no lease is over before agents could be heard again. */
  renewalFailed(): void {
    this.#isRenewalDue = true;
  }

  /** One at a time. Rejects where the database cannot be used; the next tick goes on. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick().finally(() => {
      this.#ticking = null;
    });
    return this.#ticking;
  }

  async #tick(): Promise<void> {
    await this.#watchClocks();
    const { store, clocks } = this.#parts;
    this.isPaused = await store.isQueuePaused();
    await store.ripenJobs(clocks.wall());
    const steady = clocks.steady();
    if (this.#beatAt === 0 || steady - this.#beatAt >= NODE_BEAT_MS) await this.#beat();
    await this.#expire('never served');
    if (steady - this.#sweptAt >= Math.min(SWEEP_MS, this.#parts.leaseMs / 4)) {
      this.#sweptAt = steady;
      // What came before may have waited for the disk, and every renewal with it.
      await this.#watchClocks();
      await this.#sweep();
      await this.#expire('all');
    }
    if (this.#retainedAt === 0 || steady - this.#retainedAt >= RETENTION_SWEEP_MS) {
      if (await this.#deleteOld()) this.#retainedAt = steady;
    }
  }

  async #watchClocks(): Promise<void> {
    const { store, clocks, leaseMs, logger } = this.#parts;
    const now = { wall: clocks.wall(), steady: clocks.steady() };
    const last = this.#last;
    const othersSince = now.wall - NODE_LOST_MS;
    if (last === null) {
      await store.renewOwnClaims(now.wall + leaseMs + RESTART_GRACE_MS, othersSince);
    } else if (jumpOf(last, now) > longestGapMs(leaseMs)) {
      logger.warn({ lateMs: Math.round(now.steady - last.steady) }, 'the clock jumped');
      this.#awakeSince = now.wall;
      await store.renewOwnClaims(now.wall + leaseMs, othersSince);
      await store.requeueStuck(now.wall);
      await this.#beat();
    } else if (this.#isRenewalDue) {
      await store.renewOwnClaims(now.wall + leaseMs, othersSince);
      this.#isRenewalDue = false;
    }
    this.#last = now;
  }

  /** Other coordinators take the links of one that has not been seen for lost. */
  async #beat(): Promise<void> {
    await this.#parts.store.beatNode(this.#now);
    this.#beatAt = this.#parts.clocks.steady();
  }

  async #sweep(): Promise<void> {
    for (;;) {
      const sweep = { error: AGENT_LOST.body.error, random: Math.random(), limit: BATCH };
      const ended = await this.#parts.store.sweepLeases(sweep, this.#now);
      this.#tell(ended);
      if (ended.length < BATCH) return;
    }
  }

  /** What nobody could serve is looked for at every tick; who served it once may come back. */
  async #expire(which: 'never served' | 'all'): Promise<void> {
    const heads = await this.#parts.store.laneHeads(1);
    const reach = new Reach(this.#parts);
    for (let at = 0; at < heads.length; at += LANES_AT_ONCE) {
      const lanes = heads.slice(at, at + LANES_AT_ONCE).map(async (head) => {
        const end = await this.#patienceEnd(head, reach);
        if (end === null || (which === 'never served' && end.wasServed)) return;
        await this.#expireLane(head.key, end);
      });
      await Promise.all(lanes);
    }
  }

  /** Null if a provider may serve them. */
  async #patienceEnd({ lane, jobs }: LaneHead, reach: Reach): Promise<PatienceEnd | null> {
    const { noProviderMs } = this.#parts;
    const now = this.#now;
    const seenAt = await reach.lastServedAt(lane, now);
    const expectedAt = this.#awakeSince + Math.min(RETURN_MS, noProviderMs);
    if (seenAt === null) {
      // What was queued before the start may have been served before it, too.
      const isOld = jobs.some(({ queuedAt }) => queuedAt < this.#awakeSince);
      if (isOld && now < expectedAt) return null;
      return { queuedBefore: now, error: await this.#unservable(lane, reach), wasServed: false };
    }
    if (now - Math.max(seenAt, expectedAt) < noProviderMs) return null;
    const error = nobodyServes(lane, noProviderMs);
    return { queuedBefore: now - noProviderMs, error, wasServed: true };
  }

  /** No provider serves it at all, or none that takes what the jobs hold. */
  async #unservable(lane: Lane, reach: Reach): Promise<ApiError> {
    const { inputs = [], ...needs } = lane.needs;
    const isServed = (await reach.lastServedAt({ ...lane, needs }, this.#now)) !== null;
    return inputs.length > 0 && isServed ? inputNotTaken(lane, inputs) : nobodyServes(lane, null);
  }

  async #expireLane(laneKey: string, { queuedBefore, error }: PatienceEnd): Promise<void> {
    for (;;) {
      const request = { laneKey, queuedBefore, error: error.body.error, limit: BATCH };
      const ended = await this.#parts.store.expireJobs(request, this.#now);
      this.#tell(ended);
      if (ended.length < BATCH) return;
    }
  }

  /** True once nothing old is left. */
  async #deleteOld(): Promise<boolean> {
    const { store, retentionMs, usageRetentionMs, auditRetentionMs } = this.#parts;
    const now = this.#now;
    const steps = [
      () => store.deleteOldJobs(now - retentionMs, BATCH),
      () => store.deleteOldUsage(now - usageRetentionMs, BATCH),
      () => store.deleteOldAudit(now - auditRetentionMs, BATCH),
      () => store.releasePages(BATCH),
    ];
    let isDone = true;
    for (const step of steps) isDone = (await upTo(MAX_DELETIONS, step)) && isDone;
    return isDone;
  }

  get #now(): number {
    return this.#parts.clocks.wall();
  }

  #tell(outcomes: readonly EndOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.kind === 'stale') continue;
      this.#parts.onChange(outcome.job, outcome.kind === 'failed' ? outcome.usage : null);
    }
  }
}

/** False if more may be left: each step does a batch. */
async function upTo(steps: number, step: () => Promise<number>): Promise<boolean> {
  for (let i = 0; i < steps; i++) if ((await step()) < BATCH) return true;
  return false;
}

/** Jobs that were queued by then have waited for too long, and are told this. */
interface PatienceEnd {
  readonly queuedBefore: number;
  readonly error: ApiError;
  /** By somebody whom their caller may use. */
  readonly wasServed: boolean;
}

interface Moment {
  readonly wall: number;
  readonly steady: number;
}

/** How far the clock has gone since, or how far wrong, whichever is more. */
function jumpOf(last: Moment, now: Moment): number {
  const passed = now.steady - last.steady;
  return Math.max(passed, Math.abs(now.wall - last.wall - passed));
}

/** Agents renew in a quarter of a lease: who could not be heard for longer may seem lost. */
function longestGapMs(leaseMs: number): number {
  return Math.min(JUMP_MS, Math.max(SHORTEST_JUMP_MS, leaseMs / 4));
}

const AGENT_LOST = new ApiError(
  'provider_disconnected',
  'The provider has not been heard of for longer than its lease.',
);

/** `waitedMs` is null if nobody has ever served it, or nobody may any more. */
function nobodyServes({ model, serviceType }: Lane, waitedMs: number | null): ApiError {
  const wanted = `the model '${model}' as ${serviceType}`;
  const absent =
    waitedMs === null
      ? `No provider that you may use serves ${wanted}: it never did, or is shared no more.`
      : `No provider that you may use has served ${wanted} for ${waitedMs / 1_000} s.`;
  const message = `${absent} GET /v1/models lists what is online: retry the job when it is there.`;
  return new ApiError('no_provider', message, { param: 'model' });
}
