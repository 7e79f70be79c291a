/**
 * Jobs in a store and a model of them without SQL: both take each step, and `check` compares
 * everything visible in the store with the model.
 */
import type { JobEvent, JobStatus } from '@inference-gateway/coordinator/core/jobs/job';
import { MAX_RELEASES } from '@inference-gateway/coordinator/core/jobs/job';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { randomId } from '@inference-gateway/shared/ids';
import { expect } from 'vitest';
import { LEASE_MS, jobOf, laneOf } from './dispatch-rows.js';
import { EFFECTS } from './job-events.js';
import { MAX_ATTEMPTS, counted, failed, giveBack, move, queued, retried } from './job-model.js';
import type { Modelled } from './job-model.js';
import { BROKEN, jobIdsOf, newItem, submitBatch, submitJob, LINK_ID } from './job-rows.js';
import { NOW, createMember, randomHex } from './store-rows.js';

export interface Step {
  readonly event: JobEvent | 'ripen' | 'sweep' | 'lose' | 'unstick';
  readonly job: number;
  /** Which claim an event names: 0 the last one, 1 the one before, … */
  readonly claimsBack: number;
  /** Whether a release counts as one. */
  readonly counts: boolean;
}

const PROVIDERS = ['den', 'attic'] as const;

interface Submitted {
  readonly members: readonly string[];
  readonly batchId: string;
  /** The jobs of the batch come first. */
  readonly jobIds: readonly string[];
}

export class JobHistory {
  readonly #store: Store;
  readonly #members: readonly string[];
  readonly #batchId: string;
  readonly #jobs: readonly Modelled[];
  #now = NOW;

  private constructor(store: Store, submitted: Submitted) {
    this.#store = store;
    this.#members = submitted.members;
    this.#batchId = submitted.batchId;
    this.#jobs = submitted.jobIds.map(queued);
  }

  /** A batch of three jobs of one member, and two jobs of another. */
  static async begin(store: Store): Promise<JobHistory> {
    const anna = await createMember(store, `anna-${randomHex()}`);
    const ben = await createMember(store, `ben-${randomHex()}`);
    const items = Array.from({ length: 3 }, () => newItem());
    const batch = await submitBatch(store, anna.id, { items, maxAttempts: MAX_ATTEMPTS });
    const bens = [await submitJob(store, ben.id), await submitJob(store, ben.id)];
    const jobIds = [...(await jobIdsOf(store, batch.id)), ...bens.map(({ id }) => id)];
    return new JobHistory(store, { members: [anna.id, ben.id], batchId: batch.id, jobIds });
  }

  async take({ event, job: index, claimsBack, counts }: Step): Promise<void> {
    const job = this.#jobs[index];
    if (job === undefined) throw new Error(`there is no job ${index}`);
    this.#now += 1;
    switch (event) {
      case 'ripen':
        return this.#ripen();
      case 'sweep':
        return this.#sweep();
      case 'lose':
        return this.#lose(job.providerId);
      case 'unstick':
        await this.#store.requeueStuck(this.#now);
        return this.#jobs.forEach((one) => (one.backsOff = false));
      case 'claim':
        return this.#claim(job, PROVIDERS[claimsBack % 2] ?? 'den');
      case 'expire':
        return this.#expire(job);
      case 'release':
        return this.#release(job, job.claims.at(-1 - claimsBack) ?? 'none', counts);
      default:
        return this.#event(job, event, job.claims.at(-1 - claimsBack) ?? 'none');
    }
  }

  async #claim(job: Modelled, providerId: string): Promise<void> {
    const claimId = randomId();
    await EFFECTS.claim(this.#store, { jobId: job.id, claimId, providerId, now: this.#now });
    if (job.backsOff || !move(job, 'claim')) return;
    job.claims.push(claimId);
    Object.assign(job, { claimId, providerId, accepted: false, counted: true });
    job.attempts += 1;
  }

  /** Expires all runnable jobs of the lane. */
  async #expire(job: Modelled): Promise<void> {
    const lane = await laneOf(this.#store, job.id);
    await EFFECTS.expire(this.#store, this.#target(job, ''));
    const ids = lane?.jobs.map(({ id }) => id) ?? [];
    for (const one of this.#jobs) if (ids.includes(one.id)) move(one, 'expire');
  }

  async #release(job: Modelled, claimId: string, counts: boolean): Promise<void> {
    await this.#store.releaseJob(
      { claimId, linkId: LINK_ID, counts, error: BROKEN, random: 0 },
      this.#now,
    );
    if (claimId !== job.claimId) return;
    if (counts && job.releases >= MAX_RELEASES) failed(job);
    else if (giveBack(job) && counts) job.releases += 1;
  }

  async #event(
    job: Modelled,
    event: Exclude<JobEvent, 'claim' | 'expire' | 'release'>,
    claimId: string,
  ): Promise<void> {
    await EFFECTS[event](this.#store, this.#target(job, claimId));
    if (event === 'retry') return retried(job);
    if (event === 'resume') return this.#resumed(job, claimId);
    if (event !== 'cancel' && claimId !== job.claimId) return;
    if (event === 'fail') return failed(job);
    const moved = move(job, event);
    if (moved && event === 'finish') counted(job);
    if (moved && event === 'accept') job.accepted = true;
  }

  /** The provider loses its other claims. */
  #resumed(job: Modelled, claimId: string): void {
    const { providerId } = job;
    if (claimId === job.claimId && move(job, 'resume')) {
      counted(job);
      Object.assign(job, { accepted: true, backsOff: false });
    }
    this.#lost(providerId, claimId);
  }

  #lost(providerId: string, keptClaimId: string | null): void {
    const lost = this.#jobs.filter(
      (one) =>
        one.status === 'PROCESSING' && one.providerId === providerId && one.claimId !== keptClaimId,
    );
    for (const one of lost) {
      if (one.accepted) failed(one);
      else giveBack(one);
    }
  }

  async #lose(providerId: string): Promise<void> {
    const request = { providerId, linkId: 'next', claimIds: [], leaseUntil: 0, random: 0 };
    await this.#store.resumeClaims(request, this.#now);
    this.#lost(providerId, null);
  }

  async #ripen(): Promise<void> {
    this.#now += LEASE_MS;
    await this.#store.ripenJobs(this.#now);
    for (const job of this.#jobs) job.backsOff = false;
  }

  /** At a time long after every lease has ended. */
  async #sweep(): Promise<void> {
    this.#now += 2 * LEASE_MS;
    await this.#store.sweepLeases({ error: BROKEN, random: 0, limit: 1_000 }, this.#now);
    for (const job of this.#jobs) if (job.status === 'PROCESSING') failed(job);
  }

  /** Throws if the store differs from the model. */
  async check(): Promise<void> {
    await Promise.all([
      this.#checkJobs(),
      this.#checkCounts(),
      this.#checkBatch(),
      this.#checkMetering(),
      this.#checkLanes(),
      ...PROVIDERS.map((providerId) => this.#checkClaims(providerId)),
    ]);
  }

  async #checkJobs(): Promise<void> {
    const jobs = await Promise.all(this.#jobs.map(({ id }) => jobOf(this.#store, id)));
    const seen = jobs.map(({ status, attempts, generation, notBefore }) => {
      return { status, attempts, generation, backsOff: notBefore !== null };
    });
    const modelled = this.#jobs.map(({ status, attempts, generation, backsOff }) => {
      return { status, attempts, generation, backsOff };
    });
    expect(seen).toEqual(modelled);
  }

  async #checkCounts(): Promise<void> {
    const queues = await Promise.all(this.#members.map((id) => this.#store.modelQueues(id)));
    const sum = (field: 'queued' | 'processing'): number =>
      queues.flat().reduce((total, queue) => total + queue[field], 0);
    expect([sum('queued'), sum('processing')]).toEqual([
      this.#count('QUEUED'),
      this.#count('PROCESSING'),
    ]);
  }

  async #checkBatch(): Promise<void> {
    const counts = (await this.#store.findBatch(this.#batchId, null))?.batch.counts;
    const inBatch = this.#jobs.slice(0, 3);
    for (const [status, count] of Object.entries(counts ?? {})) {
      expect(inBatch.filter((job) => job.status === status)).toHaveLength(count);
    }
    expect(Object.values(counts ?? {}).reduce((a, b) => a + b, 0)).toBe(3);
  }

  /** One row for each end of a job, however often the end was sent. */
  async #checkMetering(): Promise<void> {
    const query = { since: null, by: 'member' } as const;
    const stats = (
      await Promise.all(
        this.#members.map((memberId) => this.#store.usageStats({ ...query, memberId })),
      )
    ).flat();
    const sum = (field: 'requests' | 'ok'): number =>
      stats.reduce((total, stat) => total + stat[field], 0);
    expect(sum('requests')).toBe(this.#jobs.reduce((total, { ends }) => total + ends, 0));
    expect(sum('ok')).toBe(this.#count('PROCESSED'));
  }

  /** Each runnable job appears once, in its lane's order. */
  async #checkLanes(): Promise<void> {
    const all = await this.#store.laneHeads(100);
    const heads = all.filter(({ lane }) => this.#members.includes(lane.memberId));
    for (const { jobs } of heads) {
      expect(jobs).toEqual(
        jobs.toSorted((a, b) => a.fairKey - b.fairKey || (a.id < b.id ? -1 : 1)),
      );
    }
    const shown = heads.flatMap(({ jobs }) => jobs.map(({ id }) => id)).toSorted();
    const runnable = this.#jobs.filter((job) => job.status === 'QUEUED' && !job.backsOff);
    expect(shown).toEqual(runnable.map(({ id }) => id).toSorted());
  }

  /** Of all claims ever made, only those of running jobs are current. */
  async #checkClaims(providerId: string): Promise<void> {
    const claimIds = this.#jobs.flatMap(({ claims }) => claims);
    const lost = await this.#store.renewClaims(
      { providerId, linkId: LINK_ID, claimIds, leaseUntil: 0 },
      this.#now,
    );
    const current = this.#jobs
      .filter((job) => job.status === 'PROCESSING' && job.providerId === providerId)
      .map(({ claimId }) => claimId);
    const kept = new Set(claimIds.filter((id) => !lost.includes(id)));
    expect(kept).toEqual(new Set(current));
  }

  /** Cancels all jobs, so that the next history starts with an empty queue. */
  async end(): Promise<void> {
    for (const { id } of this.#jobs) await this.#store.cancelJob(id, null, this.#now);
  }

  #count(status: JobStatus): number {
    return this.#jobs.filter((job) => job.status === status).length;
  }

  #target({ id: jobId, providerId }: Modelled, claimId: string) {
    return { jobId, claimId, providerId, now: this.#now };
  }
}
