/** What a coordinator knows of changes that others make, while it can and cannot ask for them. */
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store } from '@inference-gateway/coordinator/store/port';
import {
  openPeer,
  openPostgres,
  UNCONFIRMED_MS,
} from '@inference-gateway/coordinator/store/postgres/engine';
import type { EngineEvents } from '@inference-gateway/coordinator/store/postgres/engine';
import { ulid } from '@inference-gateway/shared/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BlackHole } from '../support/black-hole.js';
import { onServer, usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';
import { claimed, newFinish } from './dispatch-rows.js';
import { newItem, newSubmission, ROOMY } from './job-rows.js';
import { createKey, createMember, createProvider, newMember, NOW } from './store-rows.js';

const server = usePostgres();
const UNAVAILABLE = { code: 'storage_unavailable', status: 503 };
const POOL = 10;
const SHARE = {
  subject: { serviceId: null, model: null },
  caps: { slots: null, maxTokens: null, hours: null },
} as const;

let url: string;
let other: Store;
const opened: Store[] = [];

beforeAll(async () => {
  url = await server().createDatabase();
});

afterAll(() => server().dropDatabase(url));

beforeEach(() => {
  other = open('other');
});

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await server().emptyDatabase(url);
});

function open(nodeId: string, { at = url, now = Date.now, ...events }: Opening = {}): Store {
  const store = createStore(openPeer({ url: at, nodeId, now, ...events }), { now });
  opened.push(store);
  return store;
}

interface Opening extends EngineEvents {
  readonly at?: string;
  readonly now?: () => number;
}

/** A line to the server that can be cut. */
async function openBehindLine(): Promise<{ readonly store: Store; readonly line: BlackHole }> {
  const line = await new BlackHole().listen(Number(new URL(url).port));
  const store = open('one', { at: Object.assign(new URL(url), { port: line.port }).href });
  await until(() => store.isCurrent());
  return { store, line };
}

async function ask(work: Promise<unknown>): Promise<unknown> {
  return work.catch((error: unknown) => error);
}

describe('a coordinator that is cut off from its database', () => {
  test('gives no key from memory once it may have been disabled for 3 s', async () => {
    const { store, line } = await openBehindLine();
    const anna = await createMember(other, 'anna');
    const { key, hash } = await createKey(other, anna.id);
    expect(await store.findKeyHolder(hash)).toMatchObject({ key: { disabledAt: null } });
    line.goDark('both ways');
    const cutAt = performance.now();
    await other.setKeyState(key.id, 'disabled', NOW);
    // In memory, at once.
    expect(await store.findKeyHolder(hash)).toMatchObject({ key: { disabledAt: null } });
    await until(() => !store.isCurrent());
    expect(performance.now() - cutAt).toBeLessThan(UNCONFIRMED_MS + 200);
    // At first it may still wait for an answer, and then it says so at once.
    await until(async () => (await ask(store.findKeyHolder(hash))) instanceof Error);
    const askedAt = performance.now();
    expect(await ask(store.findKeyHolder(hash))).toMatchObject(UNAVAILABLE);
    expect(await ask(store.listMembers())).toMatchObject(UNAVAILABLE);
    expect(performance.now() - askedAt).toBeLessThan(500);

    line.cut();
    line.heal();
    await until(() => store.isCurrent());
    expect(await store.findKeyHolder(hash)).toMatchObject({ key: { disabledAt: NOW } });
  });

  test('is current again without an operation, and told what was shared meanwhile', async () => {
    const { store, line } = await openBehindLine();
    const { id: providerId } = await createProvider(other);
    const ben = await createMember(other, 'ben');
    const told: SharingFacts[] = [];
    store.watchSharing((facts) => told.push(facts));
    line.goDark('both ways');
    await until(() => !store.isCurrent());
    told.length = 0;
    const share = { providerId, ...SHARE, audience: { kind: 'member', id: ben.id } } as const;
    await other.putShare(share, NOW);
    line.cut();
    line.heal();
    await until(() => store.isCurrent());
    expect(told.at(-1)).toEqual(await other.sharingFacts());
  });
});

test('a change elsewhere is told while every connection of the pool waits', async () => {
  const store = open('one');
  const ben = await createMember(other, 'ben');
  const { id: providerId } = await createProvider(other);
  const told: SharingFacts[] = [];
  store.watchSharing((facts) => told.push(facts));
  await until(() => store.isCurrent());
  await onServer(url, async (sql) => {
    await sql.rows('begin');
    await sql.rows('lock table write_probe in access exclusive mode');
    const blocked = Array.from({ length: POOL + 5 }, () => store.isWritable());
    await until(async () => (await onWaiting('pid')) === POOL);
    const share = { providerId, ...SHARE, audience: { kind: 'member', id: ben.id } } as const;
    await other.putShare(share, NOW);
    await until(() => told.at(-1)?.shares.length === 1);
    expect(store.isCurrent()).toBe(true);
    await sql.rows('commit');
    expect(new Set(await Promise.all(blocked))).toEqual(new Set([true]));
  });
});

/** On another connection than a transaction, which would see the same list each time. */
function onWaiting(act: string): Promise<number> {
  return onServer(url, async (sql) => {
    const rows = await sql.rows(
      `select ${act} from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  });
}

test('a change that is committed is answered, even if what it changes cannot be told', async () => {
  const store = open('one');
  const ben = await createMember(store, 'ben');
  const { id: providerId } = await createProvider(store);
  const told: SharingFacts[] = [];
  store.watchSharing((facts) => told.push(facts));
  await store.listMembers();
  told.length = 0;
  await onServer(url, async (sql) => {
    await sql.rows('begin');
    // Only the facts are read from it.
    await sql.rows('lock table aliases in access exclusive mode');
    const share = { providerId, ...SHARE, audience: { kind: 'member', id: ben.id } } as const;
    const shared = store.putShare(share, NOW);
    await until(() => onWaiting('pg_terminate_backend(pid, 5000)'));
    expect(await shared).toMatchObject({ kind: 'shared' });
    expect([store.isCurrent(), told]).toEqual([false, []]);
    await sql.rows('commit');
  });
  await until(() => store.isCurrent());
  expect(told.at(-1)).toEqual(await other.sharingFacts());
});

test('a commit whose answer is lost is safe to repeat', async () => {
  const { store, line } = await openBehindLine();
  const anna = await createMember(store, 'anna');
  const job = { ...newSubmission(anna.id, { idempotencyKey: 'again' }), item: newItem() };
  const submit = () => store.createJob({ ...job, id: ulid(NOW) }, ROOMY, NOW);
  const first = await loseAnswer(line, submit, 'select 1 from jobs');
  expect(first).toMatchObject(UNAVAILABLE);
  const again = await submit();
  expect(again.kind).toBe('replayed');

  const id = 'value' in again ? again.value.id : '';
  const { claimId } = await claimed(store, id);
  const finish = () => store.finishJob(newFinish(claimId), NOW + 2);
  const finished = await loseAnswer(line, finish, 'select 1 from job_results');
  expect(finished).toMatchObject(UNAVAILABLE);
  expect(await finish()).toMatchObject({ kind: 'duplicate' });
});

/** The commit takes a moment, in which the way back goes dark. */
async function loseAnswer(
  line: BlackHole,
  act: () => Promise<unknown>,
  written: string,
): Promise<unknown> {
  return onServer(url, async (sql) => {
    await sql.rows(`create function slow_commit() returns trigger language plpgsql as
      'begin perform pg_sleep(0.3); return null; end'`);
    await sql.rows(`create constraint trigger slow_commit after insert or update on jobs
      deferrable initially deferred for each row execute function slow_commit()`);
    const outcome = ask(act());
    await until(async () => {
      const sleeping = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'`;
      return (await sql.rows(sleeping)).length > 0;
    });
    line.goDark('to the agent');
    await until(async () => (await sql.rows(written)).length > 0);
    line.cut();
    line.heal();
    const told = await outcome;
    await sql.rows('drop function slow_commit cascade');
    return told;
  });
}

describe('a clock', () => {
  test('that differs by more than 10 s lets no coordinator start', async () => {
    for (const aheadMs of [-20_000, 20_000]) {
      const now = (): number => Date.now() + aheadMs;
      const order = aheadMs < 0 ? 'ahead of' : 'behind';
      await expect(openPostgres({ url, nodeId: 'one', now })).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(`the clock of postgres://.* is (19.\\d|20) s ${order}`),
      });
    }
  });

  test('that differs by more than 1 s is told of, and beyond 10 s nothing is current', async () => {
    const warnings: string[] = [];
    let aheadMs = 0;
    const now = (): number => Date.now() + aheadMs;
    const store = open('one', { now, onClockWarning: (warning) => warnings.push(warning) });
    await until(() => store.isCurrent());
    expect(store.clockWarning()).toBeNull();
    aheadMs = 3_000;
    await until(() => warnings.length === 1);
    expect(warnings[0]).toMatch(/is (2\.9|3) s behind this machine's: set both, leases/);
    expect([store.clockWarning(), store.isCurrent()]).toEqual([expect.any(String), true]);
    aheadMs = 12_000;
    await until(() => !store.isCurrent());
    expect(store.clockWarning()).toContain('nothing new is taken');
    // It still answers what it is asked.
    expect(await store.createMember(newMember('anna'), NOW)).toMatchObject({ kind: 'created' });
    aheadMs = 0;
    await until(() => store.isCurrent());
    expect(store.clockWarning()).toBeNull();
    expect(warnings).toHaveLength(1);
  });
});
