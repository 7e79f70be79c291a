/**
 * Writes jobs straight into a fresh database: through the port, a million would take half an hour.
 * The rows are what the store itself would have left, and the triggers count them as ever.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { laneKey } from '@inference-gateway/coordinator/store/operations/jobs/job-rows';
import { newSecret, randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { BENCH_MODEL } from '../../load/job.js';

/** Each has a tenth of the rows; a tenth of these waits, which is what a member may have queued. */
export const MEMBERS = 10;
const ROWS_A_TRANSACTION = 10_000;
/** The rows are spread over this time; finished jobs are kept for longer. */
const SPAN_MS = 20 * 86_400_000;
const RUN_MS = 900;
/** With less, the indexes that are in no order would be read back again and again. */
const CACHE_KIB = 512 * 1024;
/** How many ids of the first member's finished jobs are handed back. */
const SAMPLE = 1_000;

const NEEDS = { features: [], voices: [], format: null };
const BODY = Buffer.from(JSON.stringify({ model: BENCH_MODEL, messages: [{ role: 'user' }] }));
const MESSAGE = {
  role: 'assistant',
  content: 'The quick brown fox jumps over the dog. '.repeat(9),
};
const RESULT = JSON.stringify({ object: 'chat.completion', choices: [{ message: MESSAGE }] });
const ERROR = JSON.stringify({
  type: 'upstream_error',
  code: 'provider_error',
  message: 'It broke.',
});

export interface Seeded {
  readonly folder: string;
  /** Of the first member, who owns `ids`. */
  readonly memberId: string;
  readonly key: string;
  /** Finished jobs, oldest first. */
  readonly ids: readonly string[];
}

export async function seed(folder: string, rows: number): Promise<Seeded> {
  const { memberIds, key } = await createMembers(folder);
  const ids = writeJobs(folder, memberIds, rows);
  return { folder, memberId: memberIds[0] ?? '', key, ids };
}

/** Each member has a provider that serves the model, offline: without one, jobs would be FAILED. */
async function createMembers(folder: string): Promise<{ memberIds: string[]; key: string }> {
  const store = await openStore(folder);
  const memberIds: string[] = [];
  for (let i = 0; i < MEMBERS; i++) memberIds.push(await createMember(store, `member-${i}`));
  const key = newSecret('gwk');
  const about = { memberId: memberIds[0] ?? '', name: 'bench', prefix: key.slice(0, 8) };
  const rights = { hash: sha256(key), scope: 'any', expiresAt: null } as const;
  await store.createKey({ ...about, ...rights }, Date.now());
  await store.close();
  return { memberIds, key };
}

async function createMember(store: Store, name: string): Promise<string> {
  const now = Date.now();
  const about = { email: `${name}@example.com`, name, role: 'member' } as const;
  const member = await store.createMember({ ...about, passwordHash: null }, now);
  if (member.kind !== 'created') throw new Error(`the member ${name} is there already`);
  const { id: ownerId } = member.value;
  const token = { ownerId, name: `${name}-pc`, hash: sha256(name), replaces: null };
  await store.createJoinToken({ ...token, expiresAt: now + RUN_MS * 100 }, now);
  const hashes = { joinTokenHash: token.hash, tokenHash: sha256(`agent of ${name}`) };
  const provider = await store.enroll({ ...hashes, name: null, approved: true }, now);
  if (provider.kind !== 'created') throw new Error(`the provider of ${name} is not enrolled`);
  const link = { providerId: provider.value.id, linkId: 'bench' };
  await store.resumeClaims({ ...link, claimIds: [], leaseUntil: now, random: 0 }, now);
  const host = { os: 'linux', arch: 'x64', gpus: [] };
  await store.recordServed(link, { services: [SERVICE], host }, now);
  return ownerId;
}

const SERVICE = {
  service_id: 'llm-bench',
  service_type: 'llm' as const,
  slots: 4,
  models: [
    {
      id: BENCH_MODEL,
      served_name: BENCH_MODEL,
      context_length: null,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supported_features: [],
      loaded: null,
    },
  ],
};

function writeJobs(folder: string, memberIds: readonly string[], rows: number): string[] {
  const database = openDatabase(join(folder, DATABASE_FILE));
  // Nothing of it has to survive a power cut.
  database.pragma('synchronous = OFF');
  database.pragma(`cache_size = -${CACHE_KIB}`);
  const write = jobWriter(database, memberIds, rows);
  const writeChunk = database.transaction((from: number, to: number) => {
    for (let i = from; i < to; i++) write(i);
  });
  for (let from = 0; from < rows; from += ROWS_A_TRANSACTION) {
    writeChunk.immediate(from, Math.min(rows, from + ROWS_A_TRANSACTION));
  }
  const ids = sampleOf(database, memberIds[0] ?? '');
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  return ids;
}

type Database = ReturnType<typeof openDatabase>;

/** Of any ten jobs of a member one waits, one has failed, one is canceled, and seven are done. */
const STATUSES = ['QUEUED', 'FAILED', 'CANCELED', ...Array<string>(7).fill('PROCESSED')];

function jobWriter(
  database: Database,
  memberIds: readonly string[],
  rows: number,
): (index: number) => void {
  const insert = database.prepare(
    `insert into jobs (
       id, member_id, key_id, request_id, endpoint, service_type, model, scope, needs, body_bytes,
       status, created_at, queued_at, started_at, finished_at, attempt, attempt_counted,
       max_attempts, lane, fair_key, last_claim_id, provider_id, service_id, error)
     values (
       @id, @memberId, 'bench', @requestId, 'chat', 'llm', @model, 'any', @needs, @bodyBytes,
       @status, @createdAt, @createdAt, @startedAt, @finishedAt, @attempt, @attempt,
       3, @lane, @fairKey, @claimId, @providerId, @serviceId, @error)`,
  );
  const insertBody = database.prepare('insert into job_bodies (job_id, body) values (?, ?)');
  const insertResult = database.prepare('insert into job_results values (?, ?)');
  const drawKey = database
    .prepare(
      `insert into fair_callers values ('llm', @model, @memberId, 1)
       on conflict do update set last_key = last_key + 1 returning last_key`,
    )
    .pluck();
  const firstAt = Date.now() - SPAN_MS;
  const needs = JSON.stringify(NEEDS);
  return (index) => {
    const memberId = memberIds[index % MEMBERS] ?? '';
    const status = STATUSES[Math.floor(index / MEMBERS) % STATUSES.length] ?? '';
    const createdAt = firstAt + Math.floor((index * SPAN_MS) / rows);
    const id = ulid(createdAt);
    const waits = status === 'QUEUED';
    const told = { memberId, keyId: 'bench', scope: 'any' } as const;
    const lane = { ...told, needs: NEEDS, excluded: [], avoided: [] };
    const model = BENCH_MODEL;
    const about = {
      id,
      memberId,
      requestId: requestId(createdAt),
      model,
      needs,
      status,
      createdAt,
    };
    insert.run({
      ...about,
      bodyBytes: waits ? BODY.length : 0,
      lane: laneKey(lane),
      fairKey: waits ? drawKey.get({ model, memberId }) : 0,
      error: status === 'FAILED' ? ERROR : null,
      ...(waits ? NEVER_RAN : hasRun(createdAt)),
    });
    if (waits) insertBody.run(id, BODY);
    if (status === 'PROCESSED') insertResult.run(id, RESULT);
  };
}

const NEVER_RAN = {
  startedAt: null,
  finishedAt: null,
  attempt: 0,
  claimId: null,
  providerId: null,
  serviceId: null,
};

function hasRun(createdAt: number) {
  const times = { startedAt: createdAt + 5, finishedAt: createdAt + RUN_MS };
  return { ...times, attempt: 1, claimId: randomId(), providerId: 'bench-pc', serviceId: 'llm' };
}

/** Spread over the whole table. */
function sampleOf(database: Database, memberId: string): string[] {
  const all = database
    .prepare<[string], string>(
      `select id from jobs where member_id = ? and status = 'PROCESSED' order by id`,
    )
    .pluck()
    .all(memberId);
  const step = Math.max(1, Math.floor(all.length / SAMPLE));
  return all.filter((_, i) => i % step === 0).slice(0, SAMPLE);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
