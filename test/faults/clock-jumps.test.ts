import { NO_ALIASES } from '@inference-gateway/coordinator/core/access/aliases';
import { Upkeep } from '@inference-gateway/coordinator/jobs/upkeep';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Job, Store } from '@inference-gateway/coordinator/store/port';
import type { Clock } from '@inference-gateway/shared/clock';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { BROKEN, LINK_ID, submitJob } from '../store/job-rows.js';
import { claimed, jobOf, LEASE_MS, newFinish, runningJob } from '../store/dispatch-rows.js';
import { createMember, createProvider, NOW, serve } from '../store/store-rows.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HOUR_MS = 3_600_000;
const TICK_MS = 1_000;
const SWEPT_WITHIN_MS = 5_000;

/** A clock that a test moves: both times together, or the wall clock alone. */
class MovedClock implements Clock {
  #wall = NOW;
  #steady = 1_000_000;

  readonly now = (): number => this.#wall;

  readonly steady = (): number => this.#steady;

  pass(ms: number): void {
    this.#wall += ms;
    this.#steady += ms;
  }

  setWall(byMs: number): void {
    this.#wall += byMs;
  }
}

let store: Store;
let anna: string;
let clock: MovedClock;
let upkeep: Upkeep;
let ended: Job[];

beforeEach(async () => {
  store = await openStore(await temporaryFolder());
  onTestFinished(() => store.close());
  anna = (await createMember(store, 'anna')).id;
  // The provider of every job here: it has been seen, and is not online.
  const { id: providerId } = await createProvider(store, { ownerId: anna });
  await serve(store, providerId);
  await store.endLink({ providerId, linkId: 'link', reason: 'kicked' }, NOW);
  clock = new MovedClock();
  ended = [];
  upkeep = newUpkeep(LEASE_MS);
});

function newUpkeep(leaseMs: number): Upkeep {
  return new Upkeep({
    store,
    links: {
      aliases: NO_ALIASES,
      candidates: () => [],
      shared: () => ({ ownerId: anna, closed: false, shares: [] }),
    },
    clock,
    leaseMs,
    noProviderMs: HOUR_MS,
    retentionMs: 30 * 24 * HOUR_MS,
    usageRetentionMs: 30 * 24 * HOUR_MS,
    auditRetentionMs: 30 * 24 * HOUR_MS,
    onChange: (job) => ended.push(job),
    logger: createLogger('silent'),
  });
}

/** Lets time pass as a running coordinator sees it. */
async function ticks(forMs: number, stepMs = TICK_MS): Promise<void> {
  for (let ms = 0; ms < forMs; ms += stepMs) {
    clock.pass(stepMs);
    await upkeep.tick();
  }
}

/** The same in larger steps, which are no jumps yet. */
const wait = (ms: number) => ticks(ms, 10 * TICK_MS);

/** A claim whose lease began with the first tick and was not renewed. */
async function startRunning() {
  await upkeep.tick();
  const running = await runningJob(store, anna, {
    claim: { leaseUntil: clock.now() + LEASE_MS },
  });
  await ticks(10_000);
  return running;
}

describe.each([
  ['an hour forward', HOUR_MS],
  ['an hour back', -HOUR_MS],
])('a wall clock that is set %s', (_, byMs) => {
  it('sweeps no job that runs', async () => {
    const { job, claimId } = await startRunning();
    clock.setWall(byMs);
    await ticks(LEASE_MS - SWEPT_WITHIN_MS);
    expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
    expect(ended).toEqual([]);
    const finished = await store.finishJob(newFinish(claimId), clock.now());
    expect(finished.kind).toBe('stored');
  });

  it('leaves no job with an agent that is lost', async () => {
    const { job } = await startRunning();
    clock.setWall(byMs);
    await ticks(LEASE_MS + 2 * SWEPT_WITHIN_MS);
    expect(await jobOf(store, job.id)).toMatchObject({ status: 'QUEUED', attempts: 1 });
    expect(ended).toHaveLength(1);
  });

  it('leaves no job with an agent that is lost after its next heartbeat', async () => {
    const { job, claimId } = await startRunning();
    clock.setWall(byMs);
    await ticks(TICK_MS);
    const leaseUntil = clock.now() + LEASE_MS;
    const renewal = { providerId: 'den', linkId: LINK_ID, claimIds: [claimId], leaseUntil };
    expect(await store.renewClaims(renewal, clock.now())).toEqual([]);
    await ticks(LEASE_MS + 2 * SWEPT_WITHIN_MS);
    expect((await jobOf(store, job.id)).status).toBe('QUEUED');
  });

  it('keeps no job from being tried again', async () => {
    const { job, claimId } = await startRunning();
    const failure = { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 1 };
    await store.failJob(failure, clock.now());
    expect((await jobOf(store, job.id)).notBefore).not.toBeNull();
    clock.setWall(byMs);
    await ticks(TICK_MS);
    await claimed(store, job.id, { now: clock.now(), leaseUntil: clock.now() + LEASE_MS });
    expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
  });

  it('gives up no job that waits for its provider', async () => {
    await upkeep.tick();
    const { id } = await submitJob(store, anna, { now: clock.now() });
    await ticks(10_000);
    clock.setWall(byMs);
    await wait(10 * 60_000);
    expect((await jobOf(store, id)).status).toBe('QUEUED');
  });
});

describe('a process that stood still', () => {
  it('longer than a lease sweeps nothing before agents could be heard', async () => {
    const { job } = await startRunning();
    clock.pass(2 * LEASE_MS);
    await upkeep.tick();
    expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
    await ticks(LEASE_MS + 2 * SWEPT_WITHIN_MS);
    expect((await jobOf(store, job.id)).status).toBe('QUEUED');
  });

  it('for less than 15 s, but longer than a short lease, sweeps nothing either', async () => {
    const leaseMs = 8_000;
    upkeep = newUpkeep(leaseMs);
    await upkeep.tick();
    const { job } = await runningJob(store, anna, {
      claim: { leaseUntil: clock.now() + leaseMs },
    });
    await ticks(1_000);
    clock.pass(12_000);
    await upkeep.tick();
    expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
    await ticks(2 * leaseMs);
    expect((await jobOf(store, job.id)).status).toBe('QUEUED');
  });

  it('over night gives up no job whose provider was seen before', async () => {
    await upkeep.tick();
    const { id } = await submitJob(store, anna, { now: clock.now() });
    clock.pass(9 * HOUR_MS);
    await wait(10 * 60_000);
    expect((await jobOf(store, id)).status).toBe('QUEUED');
    await wait(HOUR_MS);
    expect(await jobOf(store, id)).toMatchObject({
      status: 'FAILED',
      error: { code: 'no_provider' },
    });
  });
});
