/** Operations of the store, one at a time, on SQLite and on PostgreSQL in turn. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { randomId, ulid } from '@inference-gateway/shared/ids';
import { newJob } from '../jobs/queues/gateway-queue.js';
import { FIRST_PAGE } from '../jobs/tables/store-calls.js';
import type { Samples } from '../samples.js';
import { percentilesOf } from '../statistics.js';

export const ENGINES = ['sqlite', 'postgres'] as const;
/** Queued before, so that none works on empty tables. */
const QUEUED = 500;
/** What another member may have queued at most, and in how many batches. */
const MANY = { jobs: 10_000, batches: 40 };
const LEASE_MS = 60_000;
const LIMITS = { jobs: 1_000_000, bytes: Number.MAX_SAFE_INTEGER };
const ASSET_LIMITS = { memberBytes: 1e12, totalBytes: 1e12 };
const BODY = Buffer.from(JSON.stringify({ messages: ['x'.repeat(960)] }));
const PLACE = { providerId: 'bench-pc', linkId: 'bench', serviceId: 'llm' };
const USAGE = {
  promptTokens: 1,
  completionTokens: 1,
  estimated: false,
  audioMs: 0,
  images: 0,
  firstByteMs: null,
};

interface Plan {
  /** Of PostgreSQL. */
  readonly server: string;
  /** Of each operation. */
  readonly calls: number;
  readonly samples: Samples;
}

interface Place {
  readonly store: Store;
  readonly memberId: string;
  /** With `MANY` queued jobs for another model. */
  readonly busyMemberId: string;
  /** Jobs that are queued, the first one first. */
  readonly queued: string[];
  readonly claimed: string[];
  readonly finished: string[];
}

type Operation = (place: Place) => Promise<unknown>;

/** In this order: later ones need what earlier ones leave. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  createJob: async (place) => place.queued.push(await createJob(place)),
  queuePositions: ({ store, queued }) => store.queuePositions([queued.at(-1) ?? '']),
  laneHeads: ({ store }) => store.laneHeads(1),
  claimJobs: claimOne,
  renewClaims: ({ store, claimed: [claimId = ''] }) => {
    const lease = { providerId: PLACE.providerId, linkId: PLACE.linkId, leaseUntil: inAMinute() };
    return store.renewClaims({ ...lease, claimIds: [claimId] }, Date.now());
  },
  finishJob: finishOne,
  findJob: ({ store, finished, memberId }) => store.findJob(finished.at(-1) ?? '', memberId),
  listJobs: ({ store, memberId }) => store.listJobs({ ...FIRST_PAGE, memberId }),
  // Of 10,000 jobs in 40 batches.
  jobGroups: ({ store, busyMemberId }) => store.jobGroups(busyMemberId, 100),
  createAsset: ({ store, memberId }) => store.createAsset(newAsset(memberId), ASSET_LIMITS),
  quotaUse: ({ store, memberId }) => store.quotaUse({ memberId, keyId: null }, Date.now()),
  createKey: ({ store, memberId }) => store.createKey(newKey(memberId), Date.now()),
};

export async function measureOperations({ server, calls, samples }: Plan): Promise<void> {
  const name = `gateway_bench_${randomId().toLowerCase()}`;
  const onServer = (text: string): Promise<unknown> =>
    onConnection(server, (connection) => connection.query({ text }));
  await onServer(`create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: name }).href;
  const folders = ENGINES.map(() => mkdtempSync(join(tmpdir(), 'gateway-bench-operations-')));
  const places: Place[] = [];
  try {
    for (const [i, engine] of ENGINES.entries()) {
      places.push(await openPlace(folders[i] ?? '', engine === 'postgres' ? url : null));
    }
    for (const [operation, run] of Object.entries(OPERATIONS)) {
      const took = await timesOf(places, run, calls);
      for (const [i, engine] of ENGINES.entries()) {
        const { p50, p99 } = percentilesOf(took[i] ?? []);
        samples.add(engine, `${operation}.p50`, p50);
        samples.add(engine, `${operation}.p99`, p99);
      }
    }
  } finally {
    for (const { store } of places) await store.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await onServer(`drop database ${name} with (force)`);
  }
}

/** By place; the engines take turns, so that other load of the machine is on both. */
async function timesOf(
  places: readonly Place[],
  run: Operation,
  calls: number,
): Promise<number[][]> {
  const took = places.map((): number[] => []);
  for (let call = 0; call < calls; call++) {
    for (const [i, place] of places.entries()) {
      const start = performance.now();
      await run(place);
      took[i]?.push(performance.now() - start);
    }
  }
  return took;
}

async function openPlace(folder: string, databaseUrl: string | null): Promise<Place> {
  const store = await openStore(folder, { inThread: true, databaseUrl });
  const memberId = await createMember(store, 'bench');
  const busyMemberId = await createMember(store, 'busy');
  await queueMany(store, busyMemberId);
  const place = { store, memberId, busyMemberId, queued: [], claimed: [], finished: [] };
  const queued = await Promise.all(Array.from({ length: QUEUED }, () => createJob(place)));
  return { ...place, queued };
}

async function createMember(store: Store, name: string): Promise<string> {
  const about = { email: `${name}@example.com`, name, role: 'member' } as const;
  const created = await store.createMember({ ...about, passwordHash: null }, Date.now());
  if (created.kind !== 'created') throw new Error('the folder is not fresh');
  return created.value.id;
}

async function queueMany(store: Store, memberId: string): Promise<void> {
  for (let nth = 0; nth < MANY.batches; nth++) {
    const { item, ...submission } = newJob(memberId, BODY);
    const items = Array.from({ length: MANY.jobs / MANY.batches }, () => {
      return { ...item, model: 'busy-model' };
    });
    await store.createBatch({ ...submission, label: null, items }, LIMITS, Date.now());
  }
}

async function createJob({ store, memberId }: Omit<Place, 'queued'>): Promise<string> {
  const submission = newJob(memberId, BODY);
  await store.createJob(submission, LIMITS, Date.now());
  return submission.id;
}

async function claimOne({ store, queued, claimed }: Place): Promise<void> {
  const claimId = ulid(Date.now());
  const jobId = queued.shift() ?? '';
  const claim = { jobId, claimId, ...PLACE, leaseUntil: inAMinute(), isOwn: false };
  const [taken = null] = await store.claimJobs([claim], Date.now());
  if (taken === null) throw new Error(`the job ${jobId} was not claimed`);
  claimed.push(claimId);
}

async function finishOne({ store, claimed, finished }: Place): Promise<void> {
  const { linkId } = PLACE;
  const claimId = claimed.shift() ?? '';
  const end = { claimId, linkId, result: BODY, assets: [], assetLimits: ASSET_LIMITS };
  const outcome = await store.finishJob({ ...end, usage: USAGE }, Date.now());
  if (outcome.kind !== 'stored') throw new Error(`a job was not finished: ${outcome.kind}`);
  finished.push(outcome.job.id);
}

function inAMinute(): number {
  return Date.now() + LEASE_MS;
}

function newAsset(memberId: string): Parameters<Store['createAsset']>[0] {
  return {
    id: randomId(),
    memberId,
    keyId: null,
    providerId: null,
    requestId: 'bench',
    model: 'bench-model',
    endpoint: 'images',
    contentType: 'image/png',
    bytes: 1_000,
    sha256: '0'.repeat(64),
    seconds: null,
    createdAt: Date.now(),
    expiresAt: inAMinute(),
  };
}

function newKey(memberId: string): Parameters<Store['createKey']>[0] {
  const name = randomId();
  const hash = createHash('sha256').update(name).digest('hex');
  return {
    memberId,
    name,
    prefix: `gwk_${name.slice(0, 4)}`,
    hash,
    scope: 'any',
    assets: null,
    expiresAt: null,
    rules: null,
  };
}
