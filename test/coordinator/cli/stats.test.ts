import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Member, Store, UsageRow } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { createKey, createProvider, created, usageRow } from '../../store/store-rows.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

const DAY_MS = 86_400_000;

/** A store with 5 calls of Anna's, 2 of them today, and one of Ben's that no provider took. */
interface Used {
  readonly anna: Member;
  readonly keyId: string;
  readonly providerId: string;
}

async function use(store: Store): Promise<Used> {
  const now = Date.now();
  const [anna, ben] = [await addMember(store, 'anna'), await addMember(store, 'ben')];
  const { key } = await createKey(store, anna.id, { name: 'laptop' });
  const provider = await createProvider(store, { ownerId: ben.id });
  const annas = { memberId: anna.id, keyId: key.id, providerId: provider.id, model: 'whisper' };
  const row = (index: number, change: Partial<UsageRow>): UsageRow => ({
    ...usageRow(index),
    at: now,
    ...annas,
    ...change,
  });
  store.recordUsage([
    row(1, { audioMs: 1_500, totalMs: 100 }),
    row(2, { outcome: 'failed', totalMs: 51 }),
    row(3, { at: now - 3 * DAY_MS }),
    row(4, { at: now - 3 * DAY_MS, outcome: 'canceled' }),
    row(5, { at: now - 40 * DAY_MS, images: 3 }),
    row(6, { memberId: ben.id, keyId: 'gone', providerId: null, model: 'llama' }),
  ]);
  return { anna, keyId: key.id, providerId: provider.id };
}

async function addMember(store: Store, name: string): Promise<Member> {
  const member = {
    email: `${name}@example.org`,
    name,
    role: 'member',
    passwordHash: null,
  } as const;
  return created(await store.createMember(member, 1));
}

const WHERE = [
  [
    'without a coordinator',
    async ({ path }: DataFolder) => {
      const store = await openStore(path);
      const used = await use(store);
      await store.close();
      return used;
    },
  ],
  [
    'beside a running one, what it has not written yet included',
    async ({ path }: DataFolder) => use((await serveAdminOn(path)).store),
  ],
] as const;

describe.each(WHERE)('%s', (_, prepare) => {
  test('members, keys and providers go by their names, with their ids in JSON', async () => {
    const folder = await dataFolder();
    const { anna, keyId, providerId } = await prepare(folder);
    expect(await folder.json('stats --by member')).toMatchObject([
      {
        id: anna.id,
        name: 'anna',
        requests: 5,
        ok: 3,
        failed: 1,
        canceled: 1,
        prompt_tokens: 15,
        completion_tokens: 20,
        audio_ms: 1_500,
        images: 3,
        total_ms: 190,
      },
      { name: 'ben', requests: 1 },
    ]);
    const keys = (await folder.json('stats --by key')) as Record<string, unknown>[];
    expect(keys.map(({ id, name }) => [id, name])).toEqual([
      [keyId, 'anna@example.org/laptop'],
      ['gone', null],
    ]);
    const providers = (await folder.json('stats --by provider')) as Record<string, unknown>[];
    expect(providers.map(({ id, name }) => [id, name])).toEqual([
      [providerId, 'ben/den-pc'],
      [null, null],
    ]);
    expect((await folder.output('stats --by key')).split('\n')[1]).toMatch(/^gone\t1\t/);
    expect((await folder.output('stats --by provider')).split('\n')[1]).toMatch(/^-\t1\t/);
  });
});

test('days are shown in their order, from the day on that --since falls into', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await use(store);
  await store.close();
  const requests = async (command: string): Promise<number[]> =>
    ((await folder.json(command)) as { requests: number }[]).map((row) => row.requests);
  expect(await requests('stats')).toEqual([1, 2, 3]);
  expect(await requests('stats --since 30d')).toEqual([2, 3]);
  expect(await requests('stats --since 3d --user anna')).toEqual([2, 2]);
  expect(await requests('stats --since 1d')).toEqual([3]);
  const [first] = (await folder.json('stats --since 3d')) as { id: string; name: string }[];
  const day = new Date(Date.now() - 3 * DAY_MS).toISOString().slice(0, 10);
  expect(first).toMatchObject({ id: day, name: day });
});

test('by hour, day or month a row has a speed, and quantiles unless it is of a model', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await use(store);
  await store.close();
  const days = (await folder.json('stats --step day --since 3d')) as Record<string, unknown>[];
  expect(days.map(({ requests }) => requests)).toEqual([2, 3]);
  expect(days.at(-1)).toMatchObject({
    period: new Date().toISOString().slice(0, 10),
    failed: 1,
    tokens_per_s: expect.any(Number) as number,
    total_p50_ms: expect.any(Number) as number,
    queue_p95_ms: expect.any(Number) as number,
  });
  const [hour] = (await folder.json('stats --step hour --by model')) as object[];
  expect(hour).toMatchObject({ id: 'whisper', requests: 2 });
  expect(hour).not.toHaveProperty('total_p50_ms');
  const month = await folder.output('stats --step month --user ben');
  expect(month).toMatch(/^\d{4}-\d\d\t1\t1\t0\t0\t3\t4\t/);
  for (const wrong of ['--step hour --by key', '--step hour --since 32d', '--step week']) {
    expect(await folder.run(`stats ${wrong}`)).toMatchObject({ code: 2, stdout: '' });
  }
});

test('in a pipe a row is a line of numbers, and the total is talk', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await use(store);
  await store.close();
  const run = await folder.run('stats --by model --since 30d');
  expect(run.stdout).toBe(
    'whisper\t4\t2\t1\t1\t12\t16\t1.5\t0\t44\nllama\t1\t1\t0\t0\t3\t4\t0\t0\t13\n',
  );
  expect(run.stderr).toBe(
    'In all 5 requests, 1 of them failed; 15 tokens in, 20 out; 1.5 s of audio; 0 images.\n',
  );
});

test('nothing used is an empty list; wrong use is told', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  expect(await folder.json('stats')).toEqual([]);
  expect(await folder.alone('stats')).toMatchObject({ code: 0, stdout: '' });
  expect(await folder.alone('stats --by week')).toMatchObject({ code: 2, stdout: '' });
  expect(await folder.run('stats --since yesterday')).toMatchObject({ code: 2, stdout: '' });
  expect(await folder.run('stats --user ben')).toMatchObject({ code: 3, stdout: '' });
});
