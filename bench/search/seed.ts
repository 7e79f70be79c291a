/** Ended jobs and files of one member, written straight into the tables of either engine. */
import type { Store } from '@inference-gateway/coordinator/store/port';
import type { Run } from '../engines.js';

/** Jobs that are written by one statement: a side of their square is one of its lists. */
const SIDE = 100;
/** Characters of the ids of jobs and of files. */
const LENGTHS = { job: 26, file: 22 } as const;
const SPAN_MS = 20 * 86_400_000;
const DAY_MS = 86_400_000;
/** As many as one read of the store searches. */
const PART = 2_500;

export interface Seeded {
  readonly memberId: string;
  /** The id of a job with as many newer as older ones. */
  readonly middle: string;
  /** Of the last of the newest 2,500. */
  readonly part: string;
}

interface Amounts {
  readonly jobs: number;
  readonly files: number;
}

export async function seed(store: Store, run: Run, { jobs, files }: Amounts): Promise<Seeded> {
  const about = { email: 'member@example.com', name: 'member', role: 'member' } as const;
  const created = await store.createMember({ ...about, passwordHash: null }, Date.now());
  if (created.kind !== 'created') throw new Error('the database is not fresh');
  const memberId = created.value.id;
  await run(jobsOf(memberId), listed(jobs / SIDE), listed(SIDE));
  await run(filesOf(memberId), listed(files / SIDE), listed(SIDE));
  const last = Math.ceil(jobs / SIDE) * SIDE - 1;
  return { memberId, middle: idOf(Math.floor(last / 2)), part: idOf(last - PART + 1) };
}

function listed(count: number): string {
  return JSON.stringify(Array.from({ length: Math.ceil(count) }, (_, i) => String(i)));
}

function idOf(index: number): string {
  return String(index).padStart(LENGTHS.job, '0');
}

const NUMBER = `(cast(a.value as bigint) * ${SIDE} + cast(b.value as bigint))`;
/** Its last digits: `right` and negative positions are of one engine each. */
const idIn = (length: number): string =>
  `substr('${'0'.repeat(length)}' || ${NUMBER}, length(cast(${NUMBER} as text)) + 1)`;
const FROM = 'from json_each(@one) as a cross join json_each(@two) as b';
const ERROR = `'{"type":"upstream_error","code":"provider_error","message":"It broke."}'`;
const EXCERPT = `'Explain the number ' || ${NUMBER} || ' in three sentences, with an example'`;

function jobsOf(memberId: string): string {
  const at = `${Date.now() - SPAN_MS} + ${NUMBER}`;
  // Of ten jobs one has failed.
  const byTen = (failed: string, done: string) => {
    return `case ${NUMBER} % 10 when 0 then ${failed} else ${done} end`;
  };
  const status = byTen(`'FAILED'`, `'PROCESSED'`);
  return `insert into jobs (
      id, member_id, key_id, request_id, endpoint, service_type, model, scope, needs, body_bytes,
      status, created_at, queued_at, started_at, finished_at, attempt, attempt_counted,
      max_attempts, lane, fair_key, last_claim_id, provider_id, service_id, error, excerpt)
    select ${idIn(LENGTHS.job)}, '${memberId}', 'bench', 'req_' || ${NUMBER}, 'chat', 'llm',
      'organization/model-' || (${NUMBER} % 10), 'any',
      '{"features":[],"voices":[],"format":null}', 300, ${status}, ${at}, ${at}, ${at}, ${at} + 900,
      1, 1, 3, 'lane', ${NUMBER}, 'claim-' || ${NUMBER}, 'pc', 'llm', ${byTen(ERROR, 'null')},
      ${EXCERPT} ${FROM}`;
}

function filesOf(memberId: string): string {
  const at = `${Date.now() - SPAN_MS} + ${NUMBER}`;
  return `insert into assets (
      id, member_id, key_id, provider_id, request_id, model, endpoint, content_type, bytes, sha256,
      seconds, created_at, expires_at, excerpt)
    select ${idIn(LENGTHS.file)}, '${memberId}', null, null, 'req_' || ${NUMBER}, 'flux',
      'images', 'image/png', 1000, '${'0'.repeat(64)}', null, ${at}, ${Date.now() + DAY_MS},
      ${EXCERPT} ${FROM}`;
}
