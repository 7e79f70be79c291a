/**
 * What remains of a deleted member: usage sums under an id, and nothing that identifies the member.
 */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { fillWithEverything } from '../docs/full-folder.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NOW, createMember, createProvider, newAsset, usageRow } from './store-rows.js';

const STATS = { since: null, memberId: null } as const;

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore(folder);
  return () => store.close();
});

/** Every value of every table as text, without indexes. */
function everyRow(): { table: string; text: string }[] {
  const database = openForReading(join(folder, 'gateway.db'));
  onTestFinished(() => void database.close());
  const tables = database
    .prepare<[], string>(`select name from sqlite_master where type = 'table'`)
    .pluck()
    .all();
  return tables.flatMap((table) =>
    database
      .prepare(`select * from "${table}"`)
      .all()
      .map((row) => ({ table, text: JSON.stringify(row) })),
  );
}

async function idOf(reference: string): Promise<string> {
  const member = await store.findMember(reference);
  if (member === null) throw new Error(`${reference} is not there`);
  return member.id;
}

describe('deleting a member who has something of everything', () => {
  test('leaves an id to the sums and to the log, and a name and an address to nobody', async () => {
    await fillWithEverything(store);
    const id = await idOf('anna@example.org');
    await store.changeMember(id, { name: 'Annabel' }, NOW);
    const email = 'anna@example.org';
    expect(everyRow().filter(({ text }) => text.includes(id)).length).toBeGreaterThan(20);
    const deleted = await store.by('cli:root').deleteMember(id, Date.now());
    expect(deleted.kind).toBe('deleted');
    const rows = everyRow();
    const tables = new Set(rows.filter(({ text }) => text.includes(id)).map(({ table }) => table));
    expect([...tables].toSorted()).toEqual(['audit_log', 'usage', 'usage_daily']);
    expect(rows.filter(({ text }) => text.toLowerCase().includes(email))).toEqual([]);
    expect(rows.filter(({ text }) => /annabel|"anna"|anna\//i.test(text))).toEqual([]);
    const [entry] = await store.listAudit({
      since: null,
      action: 'user.delete',
      actor: null,
      subjectId: id,
      limit: 1,
    });
    expect(entry).toMatchObject({
      actor: 'cli:root',
      subject: { kind: 'user', id, name: 'deleted member' },
    });
  });

  test('changes no sum of what was used', async () => {
    await fillWithEverything(store);
    const id = await idOf('anna');
    const before = await store.usageStats({ ...STATS, by: 'day' });
    const ofTheirs = await store.usageStats({ since: null, memberId: id, by: 'model' });
    expect(ofTheirs.length).toBeGreaterThan(0);
    // Unfinished jobs are canceled, and metered as canceled.
    for (const job of await unfinishedOf(id)) await store.cancelJob(job, id, Date.now());
    const counted = await store.usageStats({ ...STATS, by: 'day' });
    await store.deleteMember(id, Date.now());
    expect(await store.usageStats({ ...STATS, by: 'day' })).toEqual(counted);
    const sum = (rows: typeof before): number =>
      rows.reduce((total, { promptTokens }) => total + promptTokens, 0);
    expect(sum(counted)).toBe(sum(before));
  });

  test('tells before what there is, and after it whose files have no row any more', async () => {
    await fillWithEverything(store);
    const id = await idOf('anna');
    const holdings = await store.memberHoldings(id);
    expect(holdings).toMatchObject({ providers: expect.arrayContaining(['den-pc']) });
    const deleted = await store.deleteMember(id, Date.now());
    if (deleted.kind !== 'deleted') throw new Error(deleted.kind);
    expect(deleted.assetIds).toHaveLength(holdings?.assets ?? 0);
    expect(deleted.assetIds.length).toBeGreaterThan(0);
    expect(await store.knownAssets(deleted.assetIds)).toEqual([]);
    expect(await store.memberHoldings(id)).toBeNull();
    expect(await store.deleteMember(id, Date.now())).toEqual({ kind: 'unknown' });
  });
});

async function unfinishedOf(memberId: string): Promise<string[]> {
  const jobs = await store.listJobs({
    memberId,
    statuses: ['QUEUED', 'PROCESSING'],
    endpoints: null,
    model: null,
    limit: 500,
    after: null,
    order: 'asc',
  });
  return jobs.map(({ id }) => id);
}

test('the last admin who can log in is not deleted, and nothing of theirs', async () => {
  const anna = await createMember(store, 'anna');
  const ben = await createMember(store, 'ben');
  for (const { id } of [anna, ben]) await store.changeMember(id, { role: 'admin' }, NOW);
  await store.changeMember(ben.id, { disabled: true }, NOW);
  expect(await store.deleteMember(anna.id, NOW)).toEqual({ kind: 'last_admin' });
  expect(await store.findMember('anna')).toMatchObject({ id: anna.id });
  await store.changeMember(ben.id, { disabled: false }, NOW);
  expect(await store.deleteMember(anna.id, NOW)).toMatchObject({ kind: 'deleted' });
  expect(await store.deleteMember(ben.id, NOW)).toEqual({ kind: 'last_admin' });
});

test("others keep what is theirs: machines, networks, files and the log's entries", async () => {
  const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
  await createProvider(store, { ownerId: anna.id, name: 'den-pc' });
  await createProvider(store, { ownerId: ben.id, name: 'anna' });
  await store.createAsset(newAsset(ben.id), { memberBytes: 1e9, totalBytes: 1e9 });
  const network = await store.createNetwork({ name: 'annas friends', ownerId: ben.id }, NOW);
  if (network.kind !== 'created') throw new Error(network.kind);
  await store.joinNetwork(network.value.id, anna.id, NOW);
  store.recordUsage([{ ...usageRow(1), memberId: anna.id, model: 'anna' }]);
  await store.deleteMember(anna.id, NOW);
  const [left] = await store.listNetworks();
  expect(left).toMatchObject({ name: 'annas friends', members: [{ name: 'ben' }] });
  expect((await store.listProviders()).map(({ name }) => name)).toEqual(['anna']);
  expect(await store.assetSpace(ben.id)).toMatchObject({ memberBytes: 1_000, totalBytes: 1_000 });
  expect(await store.usageStats({ ...STATS, by: 'model' })).toMatchObject([{ group: 'anna' }]);
  expect(everyRow().some(({ text }) => text.includes('ben/anna'))).toBe(true);
});

test('the log stays append-only for everybody else', async () => {
  await createMember(store, 'anna');
  await store.deleteMember((await createMember(store, 'ben')).id, NOW);
  await store.close();
  const { openDatabase } = await import('@inference-gateway/coordinator/store/sqlite/database');
  const database = openDatabase(join(folder, 'gateway.db'));
  for (const sql of ['delete from audit_log', `update audit_log set actor = 'nobody'`]) {
    expect(() => database.exec(sql)).toThrow('append-only');
  }
  database.close();
  store = await openStore(folder);
});
