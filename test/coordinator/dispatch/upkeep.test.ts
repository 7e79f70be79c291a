/** What the upkeep of the queue does while the database is slow, or takes nothing. */
import { Upkeep } from '@inference-gateway/coordinator/dispatch/upkeep';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { jobOf, LEASE_MS, runningJob } from '../../store/dispatch-rows.js';
import { createMember, NOW } from '../../store/store-rows.js';
import { makeCandidate } from '../../support/candidate.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const TICK_MS = 1_000;
const SWEPT_WITHIN_MS = 5_000;
const NOTHING = async (): Promise<void> => {};

let store: Store;
let anna: string;
/** What has passed since the start, by either clock. */
let passedMs: number;
/** What happens while the store is asked whether the queue is paused. */
let onAsked: () => Promise<void>;

beforeEach(async () => {
  store = await openStore(await temporaryFolder());
  onTestFinished(() => store.close());
  anna = (await createMember(store, 'anna')).id;
  passedMs = 0;
  onAsked = NOTHING;
});

function newUpkeep(overrides: Partial<Store> = {}): Upkeep {
  const isQueuePaused = async (): Promise<boolean> => {
    await onAsked();
    return store.isQueuePaused();
  };
  return new Upkeep({
    store: { ...store, isQueuePaused, ...overrides },
    // Her machine is there, so that no job ends for want of one.
    sessions: {
      candidates: () => [makeCandidate({ ownerId: anna, lastSeenAt: NOW })],
      formerCandidates: () => [],
    },
    clocks: { wall: () => NOW + passedMs, steady: () => 1_000_000 + passedMs },
    leaseMs: LEASE_MS,
    noProviderMs: 3_600_000,
    retentionMs: 3_600_000,
    onChange: () => {},
    logger: createLogger('silent'),
  });
}

async function ticks(upkeep: Upkeep, forMs: number): Promise<void> {
  for (let ms = 0; ms < forMs; ms += TICK_MS) {
    passedMs += TICK_MS;
    await upkeep.tick();
  }
}

/** A claim whose lease begins now. */
async function startRunning(upkeep: Upkeep) {
  await upkeep.tick();
  return runningJob(store, anna, { claim: { leaseUntil: NOW + passedMs + LEASE_MS } });
}

it('after renewals that the database did not take, all leases begin anew', async () => {
  const upkeep = newUpkeep();
  const { job } = await startRunning(upkeep);
  await ticks(upkeep, LEASE_MS - TICK_MS);
  upkeep.renewalFailed();
  await ticks(upkeep, LEASE_MS - SWEPT_WITHIN_MS);
  expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
  await ticks(upkeep, 3 * SWEPT_WITHIN_MS);
  expect((await jobOf(store, job.id)).status).toBe('QUEUED');
});

it('nor is a lease over while the leases cannot begin anew', async () => {
  let isFull = false;
  const renewAllClaims: Store['renewAllClaims'] = (leaseUntil) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.renewAllClaims(leaseUntil);
  const upkeep = newUpkeep({ renewAllClaims });
  const { job } = await startRunning(upkeep);
  isFull = true;
  upkeep.renewalFailed();
  for (let ms = 0; ms < 2 * LEASE_MS; ms += TICK_MS) {
    await expect(ticks(upkeep, TICK_MS)).rejects.toThrow('the disk is full');
  }
  isFull = false;
  await ticks(upkeep, LEASE_MS - SWEPT_WITHIN_MS);
  expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
});

it('a database that stood still in a tick has let nobody renew: nothing is swept', async () => {
  const upkeep = newUpkeep();
  const { job } = await startRunning(upkeep);
  await ticks(upkeep, SWEPT_WITHIN_MS);
  const stall = new AbortController();
  const stalled = new Promise((resolve) => stall.signal.addEventListener('abort', resolve));
  onAsked = async () => void (await stalled);
  passedMs += SWEPT_WITHIN_MS;
  const tick = upkeep.tick();
  // The ticker goes on meanwhile.
  for (let ms = 0; ms < 2 * LEASE_MS; ms += TICK_MS) {
    passedMs += TICK_MS;
    void upkeep.tick();
  }
  onAsked = NOTHING;
  stall.abort();
  await tick;
  expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
});

it('old jobs are deleted some at a time, and the queue is looked after between', async () => {
  let left = 5_000;
  let deletions = 0;
  const deleteOldJobs: Store['deleteOldJobs'] = async (_, limit) => {
    const deleted = Math.min(left, limit);
    left -= deleted;
    deletions += 1;
    return deleted;
  };
  const upkeep = newUpkeep({ deleteOldJobs });
  await ticks(upkeep, TICK_MS);
  expect(left).toBe(3_000);
  await ticks(upkeep, 2 * TICK_MS);
  expect(left).toBe(0);
  const done = deletions;
  await ticks(upkeep, 10 * TICK_MS);
  expect(deletions).toBe(done);
});
