/**
 * The coordinator's store, through its port and its worker thread, called as the coordinator calls
 * it: many concurrent submissions, claims of several jobs, and an end for each.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { onConnection } from '@inference-gateway/coordinator/store/postgres/connection';
import type { NewClaim, Store } from '@inference-gateway/coordinator/store/port';
import { randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { BENCH_MODEL } from '../../load/job.js';
import type { JobQueue } from './queue.js';
import { PAYLOAD } from './queue.js';

/** Concurrent submissions. */
const SUBMITTERS = 256;
/** The most jobs that the dispatcher claims in one operation. */
const CLAIMS = 64;
const LEASE_MS = 60_000;

const BODY = Buffer.from(JSON.stringify(PAYLOAD));
const RESULT = Buffer.from('{"choices":[]}');
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
export async function openPostgresQueue(folder: string, server: string): Promise<JobQueue> {
  const name = `gateway_bench_${randomId().toLowerCase()}`;
  const onServer = (text: string): Promise<unknown> =>
    onConnection(server, (connection) => connection.query({ text }));
  await onServer(`create database ${name}`);
  const queue = await openGatewayQueue(
    folder,
    Object.assign(new URL(server), { pathname: name }).href,
  );
  return {
    ...queue,
    async close() {
      await queue.close();
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

export async function openGatewayQueue(
  folder: string,
  databaseUrl: string | null = null,
): Promise<JobQueue> {
  const store = await openStore(folder, { inThread: true, databaseUrl });
  const memberId = await createMember(store);
  return {
    add: (jobs) => add(store, memberId, jobs),
    run: (jobs) => run(store, jobs),
    close: () => store.close(),
  };
}

async function createMember(store: Store): Promise<string> {
  const about = { email: 'bench@example.com', name: 'bench', role: 'member' } as const;
  const created = await store.createMember({ ...about, passwordHash: null }, Date.now());
  if (created.kind !== 'created') throw new Error('the folder of the queue is not fresh');
  return created.value.id;
}

async function add(store: Store, memberId: string, jobs: number): Promise<void> {
  let left = jobs;
  const submitter = async (): Promise<void> => {
    while (left-- > 0) await store.createJob(newJob(memberId), LIMITS, Date.now());
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
}

function newJob(memberId: string): Parameters<Store['createJob']>[0] {
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
    item: { endpoint: 'chat', model: BENCH_MODEL, needs, body: BODY },
  };
}

/** While some are finished, the next are claimed: both share commits. */
async function run(store: Store, jobs: number): Promise<void> {
  let finished = 0;
  let claims: readonly string[] = [];
  while (finished < jobs) {
    const [next] = await Promise.all([
      claimNext(store),
      ...claims.map((claimId) => finish(store, claimId)),
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
  const claims = heads.flatMap(({ jobs }) => jobs.map(({ id }) => newClaim(id, now)));
  const claimed = await store.claimJobs(claims, now);
  return claimed.flatMap((one) => (one === null ? [] : [one[0].claimId]));
}

/** That holds every claim. */
const LINK = 'bench';

function newClaim(jobId: string, now: number): NewClaim {
  const place = { providerId: 'bench-pc', linkId: LINK, serviceId: 'llm' };
  return { jobId, claimId: randomId(), ...place, leaseUntil: now + LEASE_MS, isOwn: false };
}

async function finish(store: Store, claimId: string): Promise<void> {
  const end = {
    claimId,
    linkId: LINK,
    result: RESULT,
    assets: [],
    assetLimits: ASSET_LIMITS,
    usage: USAGE,
  };
  const { kind } = await store.finishJob(end, Date.now());
  if (kind !== 'stored') throw new Error(`a job was not finished: ${kind}`);
}
