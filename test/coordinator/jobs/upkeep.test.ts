/** What the upkeep of the queue does while the database is slow, or takes nothing. */
import { Upkeep } from '@inference-gateway/coordinator/jobs/upkeep';
import type { UpkeepParts } from '@inference-gateway/coordinator/jobs/upkeep';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { jobOf, LEASE_MS, runningJob } from '../../store/dispatch-rows.js';
import { submitJob } from '../../store/job-rows.js';
import { createMember, NOW, usageRow } from '../../store/store-rows.js';
import { advertisedModel, makeCandidate } from '../../support/candidate.js';
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

function newUpkeep(
  overrides: Partial<Store> = {},
  links: Partial<UpkeepParts['links']> = {},
): Upkeep {
  const isQueuePaused = async (): Promise<boolean> => {
    await onAsked();
    return store.isQueuePaused();
  };
  return new Upkeep({
    store: { ...store, isQueuePaused, ...overrides },
    // Her machine is there, so that no job ends for want of one.
    links: {
      candidates: () => [makeCandidate({ ownerId: anna, lastSeenAt: NOW })],
      formerCandidates: () => [],
      ...links,
    },
    clocks: { wall: () => NOW + passedMs, steady: () => 1_000_000 + passedMs },
    leaseMs: LEASE_MS,
    noProviderMs: 3_600_000,
    retentionMs: 3_600_000,
    usageRetentionMs: 3_600_000,
    auditRetentionMs: 2 * 3_600_000,
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

it('a job fails at once and says so, where its model turns out not to take it', async () => {
  const needs = { features: [], voices: [], format: null, inputs: ['image'] };
  const job = await submitJob(store, anna, { item: { needs } });
  const untold = { ...makeCandidate({ ownerId: anna, lastSeenAt: NOW }) };
  let candidate = untold;
  const candidates = () => [candidate];
  const upkeep = newUpkeep({}, { candidates });
  await ticks(upkeep, TICK_MS);
  expect((await jobOf(store, job.id)).status).toBe('QUEUED');
  candidate = { ...untold, model: advertisedModel({ inputs_known: true }) };
  await ticks(upkeep, TICK_MS);
  const { status, error } = await jobOf(store, job.id);
  expect([status, error?.code]).toEqual(['FAILED', 'unsupported_modality']);
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

it('single requests and audit entries go by their own retention, some at a time', async () => {
  const HOUR_MS = 3_600_000;
  // The audit log has the machine's own clock.
  const startMs = Date.now() - NOW;
  const old = Array.from({ length: 2_500 }, (_, i) => ({ ...usageRow(i), at: NOW + startMs }));
  const young = { ...usageRow(9_999), at: NOW + startMs + HOUR_MS };
  store.recordUsage([...old, young].map((row) => ({ ...row, memberId: anna })));
  const subject = { kind: 'queue', id: 'queue', name: 'queue' } as const;
  const entry = { action: 'queue.pause', subject, before: null, after: null };
  await Promise.all(Array.from({ length: 2_299 }, () => store.recordAudit(entry)));
  const usageRows = async () =>
    (await store.recentUsage({ memberId: anna, limit: 10_000, after: null })).length;
  // With the entry of its member.
  const everything = { since: null, action: null, actor: null, subjectId: null, limit: 10_000 };
  const auditRows = async () => (await store.listAudit(everything)).length;
  const sums = () => store.usageStats({ by: 'day', since: null, memberId: null });
  const before = await sums();
  const steps: number[] = [];
  const counted =
    (step: Store['deleteOldUsage']): Store['deleteOldUsage'] =>
    async (bound, limit) => {
      const gone = await step(bound, limit);
      steps.push(gone);
      return gone;
    };
  const upkeep = newUpkeep({
    deleteOldUsage: counted((bound, limit) => store.deleteOldUsage(bound, limit)),
    deleteOldAudit: counted((bound, limit) => store.deleteOldAudit(bound, limit)),
  });
  passedMs = startMs;
  await ticks(upkeep, TICK_MS);
  expect([await usageRows(), await auditRows()]).toEqual([2_501, 2_300]);
  passedMs = startMs + HOUR_MS + TICK_MS;
  await ticks(upkeep, TICK_MS);
  expect([await usageRows(), await auditRows()]).toEqual([501, 2_300]);
  await ticks(upkeep, 3 * TICK_MS);
  expect([await usageRows(), await auditRows()]).toEqual([1, 2_300]);
  passedMs = startMs + 2 * HOUR_MS + 60_000;
  await ticks(upkeep, TICK_MS);
  expect([await usageRows(), await auditRows()]).toEqual([0, 300]);
  await ticks(upkeep, 3 * TICK_MS);
  expect(await auditRows()).toBe(0);
  expect(Math.max(...steps)).toBe(200);
  expect(await sums()).toEqual(before);
});
