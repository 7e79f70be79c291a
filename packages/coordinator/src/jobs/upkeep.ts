/**
 * Periodic work on jobs: ended leases, ended back-offs, models without a provider, ended retention.
 * Only the coordinator's clock decides; if it has jumped, or no agent could renew for a while, all
 * leases start again. Of several coordinators of a database, one does what concerns all.
 */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Clock } from '@inference-gateway/shared/clock';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { MAX_EXCERPT_AGE_MS } from '../core/jobs/job.js';
import type { Lane, LaneHead } from '../core/jobs/lane.js';
import { NODE_BEAT_MS, NODE_LOST_MS } from '../core/routing/presence.js';
import type { EndOutcome, Job, JobStore, DispatchStore, Store } from '../store/port.js';
import type { UsageRow, WorkStore } from '../store/port.js';
import { inputNotTaken } from '../run/absence.js';
import { Reach } from './reach.js';
import type { ReachParts } from './reach.js';

/** A tick that is this late, or a clock that deviates by this much, is a jump. */
const JUMP_MS = 15_000;

/** With short leases a smaller deviation is a jump, but not a tick that is merely late. */
const SHORTEST_JUMP_MS = 2_500;

const SWEEP_MS = 5_000;

const RETENTION_SWEEP_MS = 10 * 60_000;

/** Jobs that one operation of the store ends: more would block its only writer. */
const BATCH = 200;

/** Such operations per tick, for work that can wait: the queue is served in between. */
const MAX_OPERATIONS = 10;

/** Lanes that are expired together, in one commit. */
const LANES_AT_ONCE = 64;

/** After a restart agents need a moment to reconnect: it does not count as absence. */
const RETURN_MS = 90_000;

/** Of another coordinator, with what it waits for. */
const OTHERS_TICK_MS = 2_000;

/** Added to a lease after a restart. */
const RESTART_GRACE_MS = 30_000;

export interface UpkeepParts extends ReachParts {
  readonly store: DispatchStore &
    Pick<JobStore, 'deleteOldJobs'> &
    Pick<WorkStore, 'eraseExcerpts'> &
    Pick<Store, 'deleteOldUsage' | 'deleteOldPeriods' | 'deleteOldAudit' | 'releasePages'> &
    Pick<Store, 'deleteOldWanted' | 'deleteOldLinks'> &
    Pick<Store, 'addPendingUsage' | 'servedModels' | 'beatNode' | 'holdsUpkeep'>;
  readonly clock: Clock;
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
  /** Since when agents can connect: the start, or the end of a sleep. */
  #awakeSince: number;
  /** Both clocks at the last tick. */
  #last: Moment | null = null;
  /** Agents tried to renew and could not. */
  #isRenewalDue = false;
  #ticking: Promise<void> | null = null;
  /** Since when the database can be used, on the steady clock. */
  #usableSince = -Infinity;
  #sweptAt = 0;
  #beatAt = 0;
  #retainedAt = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#awakeSince = parts.clock.now();
  }

  /** Renewals could not be written: no lease ends before agents have had another chance. */
  renewalFailed(): void {
    this.#isRenewalDue = true;
  }

  /** One at a time. Rejects if the database cannot be used; the next tick continues. */
  tick(): Promise<void> {
    this.#ticking ??= this.#tick()
      .catch((error: unknown) => {
        this.#usableSince = this.#parts.clock.steady();
        throw error;
      })
      .finally(() => {
        this.#ticking = null;
      });
    return this.#ticking;
  }

  async #tick(): Promise<void> {
    await this.#watchClocks();
    const { store, clock } = this.#parts;
    this.isPaused = await store.isQueuePaused();
    const steady = clock.steady();
    if (this.#beatAt === 0 || steady - this.#beatAt >= NODE_BEAT_MS) await this.#beat();
    if (await store.holdsUpkeep()) await this.#tickForAll(steady);
  }

  async #tickForAll(steady: number): Promise<void> {
    const { store, clock } = this.#parts;
    await store.ripenJobs(clock.now());
    await upTo(MAX_OPERATIONS, () => store.addPendingUsage(BATCH));
    await this.#expire('never served');
    if (steady - this.#sweptAt >= Math.min(SWEEP_MS, this.#parts.leaseMs / 4)) {
      this.#sweptAt = steady;
      // The operations before may have waited for the disk, and all renewals with them.
      await this.#watchClocks();
      if (this.#othersHaveRenewed(steady)) await this.#sweep();
      await this.#expire('all');
    }
    if (this.#retainedAt === 0 || steady - this.#retainedAt >= RETENTION_SWEEP_MS) {
      if (await this.#deleteOld()) this.#retainedAt = steady;
    }
  }

  /**
   * After the database was away, those of other coordinators need as long as an agent takes to
   * renew, and a tick.
   */
  #othersHaveRenewed(steady: number): boolean {
    return steady - this.#usableSince >= this.#parts.leaseMs / 4 + OTHERS_TICK_MS;
  }

  async #watchClocks(): Promise<void> {
    const { store, clock, leaseMs, logger } = this.#parts;
    const now = { wall: clock.now(), steady: clock.steady() };
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

  /** Other coordinators treat the links of a silent one as lost. */
  async #beat(): Promise<void> {
    await this.#parts.store.beatNode(this.#now);
    this.#beatAt = this.#parts.clock.steady();
  }

  async #sweep(): Promise<void> {
    for (;;) {
      const sweep = { error: AGENT_LOST.body.error, random: Math.random(), limit: BATCH };
      const ended = await this.#parts.store.sweepLeases(sweep, this.#now);
      this.#tell(ended);
      if (ended.length < BATCH) return;
    }
  }

  /** Unserved lanes are checked at every tick, because a former provider may reconnect. */
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
      // A job queued before the start may also have been served before it.
      const isOld = jobs.some(({ queuedAt }) => queuedAt < this.#awakeSince);
      if (isOld && now < expectedAt) return null;
      return { queuedBefore: now, error: await this.#unservable(lane, reach), wasServed: false };
    }
    if (now - Math.max(seenAt, expectedAt) < noProviderMs) return null;
    const error = nobodyServes(lane, noProviderMs);
    return { queuedBefore: now - noProviderMs, error, wasServed: true };
  }

  /** No provider serves it at all, or none that accepts the jobs' inputs. */
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

  /** True when nothing expired is left. */
  async #deleteOld(): Promise<boolean> {
    const { store, retentionMs, usageRetentionMs, auditRetentionMs } = this.#parts;
    const now = this.#now;
    const steps = [
      () => store.deleteOldJobs(now - retentionMs, BATCH),
      () => store.eraseExcerpts(now - MAX_EXCERPT_AGE_MS, BATCH),
      () => store.deleteOldUsage(now - usageRetentionMs, BATCH),
      () => store.deleteOldPeriods(now, BATCH),
      () => store.deleteOldWanted(now, BATCH),
      () => store.deleteOldLinks(now, BATCH),
      () => store.deleteOldAudit(now - auditRetentionMs, BATCH),
      () => store.releasePages(BATCH),
    ];
    let isDone = true;
    for (const step of steps) isDone = (await upTo(MAX_OPERATIONS, step)) && isDone;
    return isDone;
  }

  get #now(): number {
    return this.#parts.clock.now();
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

/** Jobs that were queued by then have waited for too long, and fail with this error. */
interface PatienceEnd {
  readonly queuedBefore: number;
  readonly error: ApiError;
  /** By a provider that their caller may use. */
  readonly wasServed: boolean;
}

interface Moment {
  readonly wall: number;
  readonly steady: number;
}

/** The time since then, or the deviation of the wall clock, whichever is more. */
function jumpOf(last: Moment, now: Moment): number {
  const passed = now.steady - last.steady;
  return Math.max(passed, Math.abs(now.wall - last.wall - passed));
}

/** Agents renew every quarter of a lease: after a longer silence of ours they would seem lost. */
function longestGapMs(leaseMs: number): number {
  return Math.min(JUMP_MS, Math.max(SHORTEST_JUMP_MS, leaseMs / 4));
}

const AGENT_LOST = new ApiError(
  'provider_disconnected',
  'The provider has not been heard of for longer than its lease.',
);

/** `waitedMs`: null if no provider has ever served it, or none may any more. */
function nobodyServes({ model, alias, serviceType }: Lane, waitedMs: number | null): ApiError {
  const named = alias === undefined ? `the model '${model}'` : `a model of the alias '${alias}'`;
  const wanted = `${named} as ${serviceType}`;
  const absent =
    waitedMs === null
      ? `No provider that you may use serves ${wanted}: it never did, or is shared no more.`
      : `No provider that you may use has served ${wanted} for ${waitedMs / 1_000} s.`;
  const message = `${absent} GET /v1/models lists what is online: retry the job when it is there.`;
  return new ApiError('no_provider', message, { param: 'model' });
}
