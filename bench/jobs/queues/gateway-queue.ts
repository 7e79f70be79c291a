/**
 * The coordinator's store, through its port and its worker thread, called as the coordinator calls
 * it: many concurrent submissions, claims of several jobs, and an end for each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import type { NewClaim, Store } from '@inference-gateway/coordinator/store/port';
import { randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { BENCH_MODEL } from '../../load/job.js';
import type { JobQueue, QueueLoad } from './queue.js';
import { addEach, SMALL } from './queue.js';

/** The most jobs that the dispatcher claims in one operation. */
const CLAIMS = 64;
const LEASE_MS = 60_000;
const UNUSED_TIMEOUT_MS = 10_000;
const UNUSED_POLL_MS = 50;

const LIMITS = { jobs: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const ASSET_LIMITS = { memberBytes: 0, totalBytes: 0 };
const USAGE = {
  promptTokens: 0,
  completionTokens: 0,
  estimated: false,
  audioMs: 0,
  images: 0,
  firstByteMs: null,
};

/** On a new database of a server of PostgreSQL. */
export async function openPostgresQueue(
  folder: string,
  server: string,
  load: QueueLoad = SMALL,
): Promise<JobQueue> {
  return onNewDatabase(server, (url) => openGatewayQueue(folder, url, load));
}

/** The queue drops its database when it is closed. */
export async function onNewDatabase(
  server: string,
  open: (url: string) => Promise<JobQueue>,
): Promise<JobQueue> {
  const name = `gateway_bench_${randomId().toLowerCase()}`;
  const onServer = (text: string): Promise<unknown> =>
    onConnection(server, (connection) => connection.query({ text }));
  await onServer(`create database ${name}`);
  const queue = await open(Object.assign(new URL(server), { pathname: name }).href);
  return {
    ...queue,
    async close() {
      await queue.close();
      await untilUnused(server, name);
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

/** Some queues close their connections a moment later, and fail if the server ends them. */
async function untilUnused(server: string, name: string): Promise<void> {
  const late = performance.now() + UNUSED_TIMEOUT_MS;
  const text = 'select pid from pg_stat_activity where datname = $1';
  while (performance.now() < late) {
    const { count } = await onConnection(server, (connection) =>
      connection.query({ text, values: [name] }),
    );
    if (count === 0) return;
    await sleep(UNUSED_POLL_MS);
  }
}

export async function openGatewayQueue(
  folder: string,
  databaseUrl: string | null = null,
  load: QueueLoad = SMALL,
): Promise<JobQueue> {
  const store = await openStore(folder, { inThread: true, databaseUrl });
  const names = Array.from({ length: load.members }, (_, i) => `bench-${i}`);
  const memberIds = await Promise.all(names.map((name) => createMember(store, name)));
  const body = Buffer.from(JSON.stringify(load.payload));
  const result = Buffer.from(JSON.stringify(load.result));
  return {
    add: (jobs) => addEach(jobs, load, (i) => add(store, memberIds[i % load.members] ?? '', body)),
    run: (jobs) => run(store, jobs, result),
    close: () => store.close(),
  };
}

async function createMember(store: Store, name: string): Promise<string> {
  const about = { email: `${name}@example.com`, name, role: 'member' } as const;
  const created = await store.createMember({ ...about, passwordHash: null }, Date.now());
  if (created.kind !== 'created') throw new Error('the folder of the queue is not fresh');
  return created.value.id;
}

async function add(store: Store, memberId: string, body: Uint8Array): Promise<void> {
  await store.createJob(newJob(memberId, body), LIMITS, Date.now());
}

/** One submission of a chat. */
export function newJob(memberId: string, body: Uint8Array): Parameters<Store['createJob']>[0] {
  const needs = { features: [], voices: [], format: null };
  return {
    id: ulid(Date.now()),
    memberId,
    keyId: 'bench',
    scope: 'any',
    requestId: requestId(Date.now()),
    maxAttempts: 3,
    idempotencyKey: null,
    webhook: null,
    item: { endpoint: 'chat', model: BENCH_MODEL, needs, body },
  };
}

/** While some are finished, the next are claimed: both share commits. */
async function run(store: Store, jobs: number, result: Uint8Array): Promise<void> {
  let finished = 0;
  let claims: readonly string[] = [];
  while (finished < jobs) {
    const [next] = await Promise.all([
      claimNext(store),
      ...claims.map((claimId) => finish(store, claimId, result)),
    ]);
    finished += claims.length;
    if (next.length === 0 && claims.length === 0)
      throw new Error(`${finished} of ${jobs} jobs ran`);
    claims = next;
  }
}

async function claimNext(store: Store): Promise<readonly string[]> {
  const heads = await store.laneHeads(CLAIMS);
  const now = Date.now();
  // In the fair order of all lanes, as the dispatcher plans them.
  const queued = heads.flatMap(({ jobs }) => jobs).toSorted((a, b) => a.fairKey - b.fairKey);
  const claims = queued.slice(0, CLAIMS).map(({ id }) => newClaim(id, now));
  const claimed = await store.claimJobs(claims, now);
  return claimed.flatMap((one) => (one === null ? [] : [one[0].claimId]));
}

/** That holds every claim. */
const LINK = 'bench';

function newClaim(jobId: string, now: number): NewClaim {
  const place = { providerId: 'bench-pc', linkId: LINK, serviceId: 'llm' };
  return { jobId, claimId: randomId(), ...place, leaseUntil: now + LEASE_MS, isOwn: false };
}

async function finish(store: Store, claimId: string, result: Uint8Array): Promise<void> {
  const end = {
    claimId,
    linkId: LINK,
    result,
    assets: [],
    assetLimits: ASSET_LIMITS,
    usage: USAGE,
  };
  const { kind } = await store.finishJob(end, Date.now());
  if (kind !== 'stored') throw new Error(`a job was not finished: ${kind}`);
}
