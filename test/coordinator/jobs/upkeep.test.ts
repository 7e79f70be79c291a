/** The queue's upkeep while the database is slow, or refuses to write. */
import { NO_ALIASES } from '@inference-gateway/coordinator/core/access/aliases';
import { Upkeep } from '@inference-gateway/coordinator/jobs/upkeep';
import type { UpkeepParts } from '@inference-gateway/coordinator/jobs/upkeep';
import { DATABASE_FILE, openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { createSqliteStore, runInThread } from '@inference-gateway/coordinator/store/sqlite/calls';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { jobOf, LEASE_MS, runningJob } from '../../store/dispatch-rows.js';
import { submitJob } from '../../store/job-rows.js';
import {
  createMember,
  createProvider,
  NOW,
  serve,
  SERVICE,
  storeWith,
  usageRow,
} from '../../store/store-rows.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const TICK_MS = 1_000;
const SWEPT_WITHIN_MS = 5_000;
const PATIENCE_MS = 3_600_000;
const NOTHING = async (): Promise<void> => {};

let folder: string;
let store: Store;
let anna: string;
let den: string;
/** Time since the start on both clocks. Unit: ms. */
let passedMs: number;
/** Runs while upkeep asks the store whether the queue is paused. */
let onAsked: () => Promise<void>;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore(folder);
  onTestFinished(() => store.close());
  anna = (await createMember(store, 'anna')).id;
  await store.startNode(NOW);
  den = (await createProvider(store, { ownerId: anna })).id;
  // Anna's machine is online, so no job expires for lack of a provider.
  await serve(store, den);
  passedMs = 0;
  onAsked = NOTHING;
});

/** What this process knows: the machine's owner, but no link of the machine. */
const LINKED_ELSEWHERE: UpkeepParts['links'] = {
  aliases: NO_ALIASES,
  candidates: () => [],
  shared: (id) => (id === den ? { ownerId: anna, closed: false, shares: [] } : null),
};

function newUpkeep(overrides: Partial<Store> = {}): Upkeep {
  const isQueuePaused = async (): Promise<boolean> => {
    await onAsked();
    return store.isQueuePaused();
  };
  return new Upkeep({
    store: storeWith(store, { isQueuePaused, ...overrides }),
    links: LINKED_ELSEWHERE,
    clock: { now: () => NOW + passedMs, steady: () => 1_000_000 + passedMs },
    leaseMs: LEASE_MS,
    noProviderMs: PATIENCE_MS,
    retentionMs: 3_600_000,
    usageRetentionMs: 3_600_000,
    auditRetentionMs: 2 * 3_600_000,
    onChange: () => {},
    logger: createLogger('silent'),
  });
}

async function ticks(upkeep: Upkeep, forMs: number, stepMs = TICK_MS): Promise<void> {
  for (let ms = 0; ms < forMs; ms += stepMs) {
    passedMs += stepMs;
    await upkeep.tick();
  }
}

/** A claimed job whose lease begins now. */
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

it('after the database was away, other coordinators may renew before a lease is over', async () => {
  const upkeep = newUpkeep();
  const { job } = await startRunning(upkeep);
  onAsked = () => Promise.reject(new Error('no answer'));
  const away = LEASE_MS + SWEPT_WITHIN_MS;
  for (let ms = 0; ms < away; ms += TICK_MS) {
    await expect(ticks(upkeep, TICK_MS)).rejects.toThrow('no answer');
  }
  onAsked = NOTHING;
  await ticks(upkeep, LEASE_MS / 4);
  expect((await jobOf(store, job.id)).status).toBe('PROCESSING');
  await ticks(upkeep, 2 * SWEPT_WITHIN_MS);
  expect((await jobOf(store, job.id)).status).toBe('QUEUED');
});

it('nor is a lease over while the leases cannot begin anew', async () => {
  let isFull = false;
  const renewOwnClaims: Store['renewOwnClaims'] = (...args) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.renewOwnClaims(...args);
  const upkeep = newUpkeep({ renewOwnClaims });
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
  // The ticker continues during the stall.
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
  const upkeep = newUpkeep();
  await ticks(upkeep, TICK_MS);
  expect((await jobOf(store, job.id)).status).toBe('QUEUED');
  const models = SERVICE.models.map((model) => ({ ...model, inputs_known: true }));
  await serve(store, den, { services: [{ ...SERVICE, models }] });
  await ticks(upkeep, TICK_MS);
  const { status, error } = await jobOf(store, job.id);
  expect([status, error?.code]).toEqual(['FAILED', 'unsupported_modality']);
});

it('excerpts go after 30 days, whatever the retention of their jobs is', async () => {
  const [day, item] = [24 * 3_600_000, { excerpt: 'Draw a fox' }];
  const old = await submitJob(store, anna, { item, now: NOW - 30 * day - 1 });
  const young = await submitJob(store, anna, { item, now: NOW - 30 * day + 1 });
  await newUpkeep().tick();
  const names = [old, young].map(async ({ id }) => (await store.findOwnJob(id, anna))?.names);
  expect(await Promise.all(names)).toMatchObject([{ excerpt: null }, { excerpt: 'Draw a fox' }]);
});

it('a job waits for a provider that is linked to another coordinator', async () => {
  const { id } = await submitJob(store, anna);
  const databaseFile = join(folder, DATABASE_FILE);
  const peer = createSqliteStore(runInThread({ databaseFile, nodeId: 'peer' }), { now: () => NOW });
  onTestFinished(() => peer.close());
  await peer.startNode(NOW);
  await serve(peer, den, { linkId: 'at the peer' });
  const upkeep = newUpkeep();
  const pass = (ms: number): Promise<void> => ticks(upkeep, ms, 10 * TICK_MS);
  for (let minute = 0; minute < 90; minute++) {
    await peer.beatNode(NOW + passedMs);
    await pass(60_000);
  }
  expect((await jobOf(store, id)).status).toBe('QUEUED');
  await pass(PATIENCE_MS - 120_000);
  expect((await jobOf(store, id)).status).toBe('QUEUED');
  await pass(240_000);
  expect((await jobOf(store, id)).error?.code).toBe('no_provider');
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
  // The audit log uses the machine's real clock.
  const startMs = Date.now() - NOW;
  const old = Array.from({ length: 2_500 }, (_, i) => ({ ...usageRow(i), at: NOW + startMs }));
  const young = { ...usageRow(9_999), at: NOW + startMs + HOUR_MS };
  store.recordUsage([...old, young].map((row) => ({ ...row, memberId: anna })));
  const subject = { kind: 'queue', id: 'queue', name: 'queue' } as const;
  const entry = { action: 'queue.pause', subject, before: null, after: null };
  await Promise.all(Array.from({ length: 2_297 }, () => store.recordAudit(entry)));
  const usageRows = async () =>
    (await store.recentUsage({ memberId: anna, limit: 10_000, after: null })).length;
  // Including the entries of the member, the join token and the provider.
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
