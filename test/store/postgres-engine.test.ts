/** Two coordinators on one database, of which each operation must decide as if it were alone. */
import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store, Submission } from '@inference-gateway/coordinator/store/port';
import { numbered } from '@inference-gateway/coordinator/store/postgres/compiled';
import {
  DatabaseUnavailable,
  Pool,
} from '@inference-gateway/coordinator/store/postgres/connection';
import { openPeer, openPostgres } from '@inference-gateway/coordinator/store/postgres/engine';
import { ulid } from '@inference-gateway/shared/ids';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import type { ServerConnection } from '../support/postgres.js';
import { until } from '../support/until.js';
import { claimed, newClaim, newFinish } from './dispatch-rows.js';
import { NEWEST_JOBS, newItem, newSubmission, ROOMY, submitJob } from './job-rows.js';
import {
  createJoinToken,
  createKey,
  createMember,
  createProvider,
  newAsset,
  newKey,
  newMember,
  newProvider,
  NOW,
  randomHex,
  sha256,
} from './store-rows.js';

const server = usePostgres();
/** Each race is run several times: who collides with whom is a matter of luck. */
const RACES = 4;
const CLIENTS = 8;

let url: string;
let stores: readonly [Store, Store];

beforeAll(async () => {
  url = await server().createDatabase();
});

afterAll(() => server().dropDatabase(url));

beforeEach(async () => {
  stores = [open('one'), open('other')];
  // Connected before, so that none is late.
  await race((store) => store.isWritable());
});

afterEach(async () => {
  for (const store of stores) await store.close();
  await server().emptyDatabase(url);
});

function open(nodeId: string): Store {
  return createStore(openPeer({ url, nodeId }), { now: Date.now });
}

/** Eight clients at once, four at each coordinator. */
function race<T>(run: (store: Store, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: CLIENTS }, (_, i) => run(stores[i % 2 === 0 ? 0 : 1], i)),
  );
}

describe.each(Array.from({ length: RACES }, (_, i) => i + 1))('in race %d', () => {
  test('one of many becomes the first member', async () => {
    const { email: _, ...rest } = newMember('anna');
    const made = await race((store, i) =>
      store.createFirstMember({ ...rest, name: `anna-${i}`, email: `anna-${i}@example.org` }, NOW),
    );
    expect(made.filter((member) => member !== null)).toHaveLength(1);
    expect(await stores[0].listMembers()).toHaveLength(1);
  });

  test('an invite is accepted once', async () => {
    const hash = sha256(randomHex());
    const invite = { hash, email: 'eve@example.org', role: 'member', networkId: null } as const;
    await stores[0].createInvite({ ...invite, expiresAt: NOW + 1_000 }, NOW);
    const accepted = await race((store, i) =>
      store.acceptInvite({ hash, name: `eve-${i}`, passwordHash: '$scrypt$p' }, NOW),
    );
    expect(tally(accepted)).toEqual({ created: 1, refused: CLIENTS - 1 });
    expect(accepted).toContainEqual({ kind: 'refused', reason: 'used' });
    expect(await stores[0].listMembers()).toHaveLength(1);
  });

  test('an idempotency key makes one job', async () => {
    const anna = await createMember(stores[0], 'anna');
    const submitted = await race((store) =>
      store.createJob(newJob(anna.id, { idempotencyKey: 'again' }), ROOMY, NOW),
    );
    expect(tally(submitted)).toEqual({ created: 1, replayed: CLIENTS - 1 });
    const ids = submitted.map((outcome) => ('value' in outcome ? outcome.value.id : null));
    expect(new Set(ids).size).toBe(1);
    expect(await stores[0].listJobs(NEWEST_JOBS)).toHaveLength(1);
  });

  test('a queue is never longer than its limit', async () => {
    const anna = await createMember(stores[0], 'anna');
    const limits = { jobs: 3, bytes: 1_000_000 };
    const submitted = await race((store) => store.createJob(newJob(anna.id), limits, NOW));
    expect(tally(submitted)).toEqual({ created: 3, queue_full: CLIENTS - 3 });
    expect(await stores[0].listJobs(NEWEST_JOBS)).toHaveLength(3);
  });

  test('assets never use more than the space of their member, or of all', async () => {
    const limits = { memberBytes: 3_000, totalBytes: 5_000 };
    const anna = await createMember(stores[0], 'anna');
    const own = await race((store) => store.createAsset(newAsset(anna.id), limits));
    expect(counts(own)).toEqual({ created: 3, member_full: CLIENTS - 3 });
    const members = await race((store, i) => createMember(store, `other-${i}`));
    const others = await race((store, i) =>
      store.createAsset(newAsset(members[i]?.id ?? ''), limits),
    );
    expect(counts(others)).toEqual({ created: 2, full: CLIENTS - 2 });
    const space = { memberBytes: 3_000, totalBytes: 5_000 };
    expect(await stores[0].assetSpace(anna.id)).toEqual(space);
  });

  test('a job is claimed once', async () => {
    const anna = await createMember(stores[0], 'anna');
    const { id } = await submitJob(stores[0], anna.id);
    const taken = await race((store) => store.claimJobs([newClaim(id)], NOW + 1));
    const claims = taken.flat().filter((claim) => claim !== null);
    expect(claims).toHaveLength(1);
    const found = await stores[0].findJob(id, null);
    expect(found?.job).toMatchObject({ status: 'PROCESSING', attempts: 1 });
  });

  test('a result is stored once, and is a duplicate after that', async () => {
    const anna = await createMember(stores[0], 'anna');
    const { id } = await submitJob(stores[0], anna.id);
    const { claimId } = await claimed(stores[0], id);
    const finished = await race((store) => store.finishJob(newFinish(claimId), NOW + 2));
    expect(tally(finished)).toEqual({ stored: 1, duplicate: CLIENTS - 1 });
    const usage = await stores[0].recentUsage({ memberId: anna.id, after: null, limit: 10 });
    expect(usage).toHaveLength(1);
  });

  test('a member who is deleted gets no more jobs, and leaves none', async () => {
    const anna = await createMember(stores[0], 'anna');
    let isAsked = false;
    const ended = await race(async (store, i) => {
      for (let jobs = 0; ; jobs++) {
        if (i === 0 && jobs === 3) {
          isAsked = true;
          return store.deleteMember(anna.id, NOW);
        }
        const { kind } = await (i % 2 === 0
          ? store.createJob(newJob(anna.id), ROOMY, NOW)
          : store.createBatch(newBatch(anna.id), ROOMY, NOW));
        if (kind !== 'created') return { kind: isAsked ? kind : 'too early' };
      }
    });
    expect(tally(ended)).toEqual({ deleted: 1, member_gone: CLIENTS - 1 });
    expect(await stores[0].listJobs(NEWEST_JOBS)).toEqual([]);
  });

  test('a name is given to one key', async () => {
    const anna = await createMember(stores[0], 'anna');
    const made = await race((store) => store.createKey(newKey(anna.id, { name: 'laptop' }), NOW));
    expect(tally(made)).toEqual({ created: 1, taken: CLIENTS - 1 });
    expect(await stores[0].listKeys(anna.id)).toHaveLength(1);
  });

  test('rotations of a key follow each other: the last two secrets are valid', async () => {
    const anna = await createMember(stores[0], 'anna');
    const { key, hash } = await createKey(stores[0], anna.id);
    const hashes = Array.from({ length: CLIENTS }, () => sha256(randomHex()));
    const rotated = await race((store, i) => {
      const rotation = { prefix: `gwk_${i}`, hash: hashes[i] ?? '', previousUntil: NOW + 1_000 };
      return store.rotateKey(key.id, rotation, NOW);
    });
    expect(rotated).not.toContain(null);
    const valid = [];
    for (const one of [hash, ...hashes]) {
      if ((await stores[1].findKeyHolder(one)) !== null) valid.push(one);
    }
    expect(valid).toHaveLength(2);
    expect(valid).not.toContain(hash);
  });

  test('a join token enrolls one provider', async () => {
    const { joinTokenHash } = await createJoinToken(stores[0], {});
    const enrolled = await race((store, i) =>
      store.enroll(newProvider(joinTokenHash, { name: `den-${i}` }), NOW),
    );
    expect(tally(enrolled)).toEqual({ created: 1, refused: CLIENTS - 1 });
    expect(enrolled).toContainEqual({ kind: 'refused', reason: 'used' });
    expect(await stores[0].listProviders()).toHaveLength(1);
  });

  test('the same share is one share', async () => {
    const den = await createProvider(stores[0]);
    const ben = await createMember(stores[0], 'ben');
    const share = {
      providerId: den.id,
      subject: { serviceId: null, model: null },
      audience: { kind: 'member', id: ben.id },
      caps: { slots: null, maxTokens: null, hours: null },
    } as const;
    const shared = await race((store) => store.putShare(share, NOW));
    expect(tally(shared)).toEqual({ shared: CLIENTS });
    expect(await stores[0].listShares(den.id)).toHaveLength(1);
  });
});

test('jobs of many members pass two coordinators without a deadlock, each once', async () => {
  const members = await race((store, i) => createMember(store, `member-${i}`));
  const before = await deadlocks();
  const rounds = 12;
  const ran: string[] = [];
  await race(async (store, i) => {
    for (let round = 0; round < rounds; round++) {
      // Each client submits for two members, and claims and ends whatever is queued.
      for (const at of [i, i + 3]) {
        const memberId = members[at % CLIENTS]?.id ?? '';
        await store.createJob(newJob(memberId), ROOMY, NOW + round);
      }
      const heads = await store.laneHeads(2);
      const claims = heads.flatMap(({ jobs }) => jobs.map(({ id }) => newClaim(id)));
      const taken = await store.claimJobs(i % 2 === 0 ? claims : claims.toReversed(), NOW + round);
      const claimIds = taken.flatMap((claim) => (claim === null ? [] : claim[0].claimId));
      const ended = await Promise.all(
        claimIds.map((claimId) => store.finishJob(newFinish(claimId), NOW + round)),
      );
      ran.push(...ended.flatMap((end) => (end.kind === 'stored' ? end.job.id : [])));
    }
  });
  expect(new Set(ran).size).toBe(ran.length);
  const left = (await stores[0].laneHeads(1_000)).flatMap(({ jobs }) => jobs);
  expect(ran.length + left.length).toBe(CLIENTS * rounds * 2);
  expect(await deadlocks()).toBe(before);
});

test('submissions of one member leave connections to others', async () => {
  const [store] = stores;
  const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
  await onServer(url, async (sql) => {
    await sql.rows('begin');
    await sql.rows(`select pg_advisory_xact_lock(738201, hashtext('jobs of ${anna.id}'))`);
    const waiting = Array.from({ length: 50 }, () => store.createJob(newJob(anna.id), ROOMY, NOW));
    await until(async () => (await waitingForLocks()) > 0);
    expect(await store.createJob(newJob(ben.id), ROOMY, NOW)).toMatchObject({ kind: 'created' });
    expect(await store.isWritable()).toBe(true);
    expect(await waitingForLocks()).toBe(1);
    await sql.rows('commit');
    expect(tally(await Promise.all(waiting))).toEqual({ created: 50 });
  });
});

test('who stands still within a transaction is put out, and its locks are free', async () => {
  const [store] = stores;
  const anna = await createMember(store, 'anna');
  const pool = new Pool(url, { max: 1 });
  const standing = pool.use(async (connection) => {
    await connection.query({ text: 'begin' });
    const text = `select pg_advisory_xact_lock(738201, hashtext('jobs of ${anna.id}'))`;
    await connection.query({ text });
    expect(await store.createJob(newJob(anna.id), ROOMY, NOW)).toMatchObject({ kind: 'created' });
    await connection.query({ text: 'commit' });
  });
  await expect(standing).rejects.toBeInstanceOf(DatabaseUnavailable);
  const { rows } = await pool.use((connection) => connection.query({ text: 'select 1 as one' }));
  expect(rows).toEqual([{ one: 1 }]);
  await pool.close();
});

test('of submissions that are written together, a faulty one fails alone', async () => {
  const [store] = stores;
  const anna = await createMember(store, 'anna');
  const first = newJob(anna.id);
  await store.createJob(first, ROOMY, NOW);
  const faulty = { ...newJob(anna.id), id: first.id };
  const made = await Promise.allSettled(
    [newJob(anna.id), faulty, newJob(anna.id)].map((one) => store.createJob(one, ROOMY, NOW)),
  );
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await store.listJobs(NEWEST_JOBS)).toHaveLength(3);
});

test('one coordinator does the upkeep, and another one when it is gone', async () => {
  const engines = [
    await openPostgres({ url, nodeId: 'north' }),
    await openPostgres({ url, nodeId: 'south' }),
  ];
  const [north, south] = engines.map((engine) => createStore(engine, { now: Date.now }));
  if (north === undefined || south === undefined) throw new Error('two stores were opened');
  expect([await north.holdsUpkeep(), await south.holdsUpkeep()]).toEqual([true, false]);
  expect([await north.holdsUpkeep(), await south.holdsUpkeep()]).toEqual([true, false]);
  await north.close();
  await until(() => south.holdsUpkeep(), { timeoutMs: 15_000 });
  await south.close();
});

test('a NUL character in a text spoils nothing that is written or asked beside it', async () => {
  const [store] = stores;
  const { id: memberId } = await createMember(store, 'anna');
  const item = { ...newItem(), model: 'a\0b' };
  const { id } = await submitJob(store, memberId, { item });
  const page = { memberId, statuses: null, endpoints: null, after: null } as const;
  const asked = { ...page, order: 'asc', limit: 9 } as const;
  expect((await store.listJobs({ ...asked, model: 'a\0' })).map((job) => job.id)).toEqual([id]);
  expect(await store.listJobs({ ...asked, model: '\0a' })).toEqual([]);
});

test('hundreds of changes at once are all carried out, by two coordinators', async () => {
  const { id } = await createMember(stores[0], 'anna');
  const made = await Promise.all(
    Array.from({ length: 300 }, (_, i) =>
      stores[i % 2 === 0 ? 0 : 1].createKey({ ...newKey(id), name: `key-${i}` }, NOW),
    ),
  );
  expect(tally(made)).toEqual({ created: 300 });
});

test('an operation whose connection ends is refused, and the next one works', async () => {
  const [store] = stores;
  const refused = await onServer(url, async (sql) => {
    await sql.rows('begin');
    await sql.rows('lock table members in access exclusive mode');
    const created = store.createMember(newMember('anna'), NOW);
    const outcome = created.catch((error: unknown) => error);
    await until(() => endConnections(sql, "wait_event_type = 'Lock'"));
    return outcome;
  });
  expect(refused).toMatchObject(UNAVAILABLE);
  expect(await store.findMember('anna')).toBeNull();
  expect(await store.createMember(newMember('anna'), NOW)).toMatchObject({ kind: 'created' });
});

test('when the server ends all connections, what is under way fails at most', async () => {
  const under = race((store, i) =>
    store.createMember(newMember(`early-${i}`), NOW).catch((error: unknown) => error),
  );
  await onServer(url, (sql) => endConnections(sql, 'true'));
  const made = [];
  for (const outcome of await under) {
    if (outcome instanceof Error) expect(outcome).toMatchObject(UNAVAILABLE);
    else made.push(outcome);
  }
  // A connection is noticed to be gone when its socket has been read.
  for (const store of stores) await until(() => store.isWritable());
  expect((await stores[0].listMembers()).length).toBeGreaterThanOrEqual(made.length);
  const later = await race((store, i) => store.createMember(newMember(`late-${i}`), NOW));
  expect(tally(later)).toEqual({ created: CLIENTS });
});

test('parameters are numbered, except in quotes', () => {
  expect(numbered("select @b, '@a', 'it''s @a', @a, name like '%_@_%' and @b = @a")).toEqual({
    text: "select $1, '@a', 'it''s @a', $2, name like '%_@_%' and $1 = $2",
    names: ['b', 'a'],
  });
  expect(numbered("select '', @a from jobs indexed by jobs_held where id = @a")).toEqual({
    text: "select '', $1 from jobs where id = $1",
    names: ['a'],
  });
});

/** So far, in this database. */
async function deadlocks(): Promise<number> {
  return onServer(url, async (sql) => {
    await sql.rows('select pg_stat_clear_snapshot()');
    const [row] = await sql.rows<{ deadlocks: number }>(
      `select deadlocks::int from pg_stat_database where datname = current_database()`,
    );
    return row?.deadlocks ?? Number.NaN;
  });
}

/** Connections of this database. */
async function waitingForLocks(): Promise<number> {
  return onServer(url, async (sql) => {
    const rows = await sql.rows(
      `select pid from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  });
}

const UNAVAILABLE = { code: 'storage_unavailable', status: 503 };

/** Of this database; returns how many, once they have ended. */
async function endConnections(sql: ServerConnection, condition: string): Promise<number> {
  const ended = await sql.rows(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and ${condition}`,
  );
  return ended.length;
}

function newJob(memberId: string, submission: Partial<Submission> = {}) {
  return { ...newSubmission(memberId, submission), id: ulid(NOW), item: newItem() };
}

function newBatch(memberId: string) {
  const items = [newItem(), newItem()];
  return { ...newSubmission(memberId), id: ulid(NOW), label: null, items };
}

/** How many outcomes are of each kind. */
function tally(outcomes: readonly { readonly kind: string }[]): Record<string, number> {
  return counts(outcomes.map(({ kind }) => kind));
}

function counts(kinds: readonly string[]): Record<string, number> {
  const each = [...new Set(kinds)].map((kind) => [
    kind,
    kinds.filter((one) => one === kind).length,
  ]);
  return Object.fromEntries(each) as Record<string, number>;
}
