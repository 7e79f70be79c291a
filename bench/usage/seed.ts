/** A year of a gateway's hours and days, written straight into the tables of either engine. */
import { createHash } from 'node:crypto';
import { periodsBetween } from '@inference-gateway/coordinator/core/usage/periods';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { ulid } from '@inference-gateway/shared/ids';
import type { Run } from '../engines.js';

const MEMBERS = 500;
const PROVIDERS = 100;
const MODELS = 50;
/** In which a member calls each of two models, every day. */
const MEMBER_HOURS = 6;
const MODELS_A_SUBJECT = 2;
const YEAR_MS = 365 * 86_400_000;
const DAYS = 90;
const RAW_ROWS = 1_000_000;

export interface Seeded {
  /** One of many members. */
  readonly memberId: string;
  /** Has five providers, and a million single requests in 90 days. */
  readonly ownerId: string;
  readonly model: string;
  readonly now: number;
}

export interface Size {
  /** Of the usual amounts. */
  readonly share: number;
}

export async function seed(store: Store, run: Run, { share }: Size): Promise<Seeded> {
  const now = Date.now();
  const ownerId = await createOwner(store, now);
  const own = await Promise.all([1, 2, 3, 4, 5].map((i) => createProvider(store, ownerId, i)));
  const others = Array.from({ length: PROVIDERS - own.length }, () => ulid(now));
  const members = [ownerId, ...Array.from({ length: MEMBERS - 1 }, () => ulid(now))];
  const gateway = ['', ...Array.from({ length: MODELS }, (_, i) => modelName(i))];
  const all = [...[...own, ...others].flatMap(modelsOf), ...gateway.map((model) => `|${model}`)];
  const since = now - YEAR_MS * share;
  const hours = periodsBetween('hour', since, now);
  const active = hours.filter((hour) => Number(hour.slice(-2)) < MEMBER_HOURS);
  const days = periodsBetween('day', since, now);
  const minutes = periodsBetween('minute', now - 3_600_000, now);
  const add = (step: string, periods: readonly string[], names: readonly string[]) =>
    run(insertOf(step), JSON.stringify(periods), JSON.stringify(names));
  await add('hour', active, members.flatMap(modelsOf));
  await add('hour', hours, all);
  await add('day', days, [...members.flatMap(modelsOf), ...all]);
  await add('minute', minutes, ['|']);
  await addRaw(run, { ownerId, now, rows: RAW_ROWS * share });
  return { memberId: members[1] ?? '', ownerId, model: modelName(0), now };
}

function modelsOf(id: string, index: number): string[] {
  const models = Array.from({ length: MODELS_A_SUBJECT }, (_, i) => modelName(index + i * 7));
  return models.map((model) => `${id}|${model}`);
}

function modelName(index: number): string {
  return `organization/model-${index % MODELS}`;
}

/** Five of the 25 buckets of each kind of duration have requests. */
const COUNTED = ['first_byte', 'queue', 'total'].flatMap((name) =>
  [8, 9, 10, 11, 12].map((bucket) => `${name}_${bucket}`),
);

function insertOf(step: string): string {
  return `insert into usage_periods (step, period, subject, model, requests, failed, canceled,
      prompt_tokens, completion_tokens, audio_ms, images, total_ms, generation_ms,
      ${COUNTED.join()})
    select '${step}', p.value, substr(s.value, 1, instr(s.value, '|') - 1),
      substr(s.value, instr(s.value, '|') + 1), 12, 1, 1, 9000, 4000, 0, 0, 60000, 50000,
      ${COUNTED.map(() => 2).join()}
    from json_each(@one) as p cross join json_each(@two) as s`;
}

interface Raw {
  readonly ownerId: string;
  readonly now: number;
  readonly rows: number;
}

/** Single requests of one member, and their daily sums. */
async function addRaw(run: Run, { ownerId, now, rows }: Raw): Promise<void> {
  const side = Math.ceil(Math.sqrt(rows));
  const numbers = JSON.stringify(Array.from({ length: side }, (_, i) => String(i)));
  const start = now - DAYS * 86_400_000;
  const stepMs = Math.floor((now - start) / side ** 2);
  const about = `'${ownerId}', 'bench', null, 'model', 'llm', 'chat', 100, 50, 0, 300, 3000, 1,
    'ok', null, 'api'`;
  await run(
    `insert into usage (request_id, at, member_id, key_id, provider_id, model, service_type,
       endpoint, prompt_tokens, completion_tokens, queue_ms, first_byte_ms, total_ms, attempts,
       outcome, error_code, source)
     select 'req_' || a.value || '_' || b.value,
       ${start} + (cast(a.value as bigint) * ${side} + cast(b.value as bigint)) * ${stepMs},
       ${about}
     from json_each(@one) as a cross join json_each(@two) as b`,
    numbers,
    numbers,
  );
  const models = JSON.stringify(Array.from({ length: MODELS }, (_, i) => modelName(i)));
  await run(
    `insert into usage_daily (day, member_id, key_id, provider_id, model, endpoint, source, outcome,
       requests, prompt_tokens, completion_tokens, audio_ms, images, total_ms)
     select d.value, '${ownerId}', 'bench', '', m.value, 'chat', 'api', 'ok', 200, 9, 9, 0, 0, 9
     from json_each(@one) as d cross join json_each(@two) as m`,
    JSON.stringify(periodsBetween('day', start, now)),
    models,
  );
}

async function createOwner(store: Store, now: number): Promise<string> {
  const about = { email: 'owner@example.com', name: 'owner', role: 'member' } as const;
  const created = await store.createMember({ ...about, passwordHash: null }, now);
  if (created.kind !== 'created') throw new Error('the database is not fresh');
  return created.value.id;
}

async function createProvider(store: Store, ownerId: string, index: number): Promise<string> {
  const now = Date.now();
  const hash = sha256(`join ${index}`);
  const token = { ownerId, name: `pc-${index}`, hash, replaces: null, expiresAt: now + 60_000 };
  await store.createJoinToken(token, now);
  const hashes = { joinTokenHash: hash, tokenHash: sha256(`agent ${index}`) };
  const provider = await store.enroll({ ...hashes, name: null, approved: true }, now);
  if (provider.kind !== 'created') throw new Error(`the provider ${index} is not enrolled`);
  return provider.value.id;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
