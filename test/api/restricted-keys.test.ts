/** A restricted key is in somebody's program: it learns nothing of what its member does. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import {
  accepted,
  act,
  BATCHES,
  chatItem,
  getJson,
  JOBS,
  listJobs,
  pauseQueue,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody, ListBody } from './job-calls.js';
import { ASSETS, bytesOf, fetchAsset, listAssets, speak } from './media-calls.js';
import { chat, failureOf, post } from './requests.js';
import type { Caller } from './requests.js';

let gateway: TestGateway;
let studio: Studio;
let home: FakeModelServer;
/** Keys of Anna: the first may do everything, the others are restricted. */
let holders: readonly [all: Holder, one: Holder, two: Holder];

interface Holder extends Caller {
  readonly key: string;
}

beforeAll(async () => {
  gateway = await openGateway();
  studio = await startStudio(gateway);
  home = await startFakeOpenAi();
  await gateway.startAgent({ name: 'chats', services: [{ baseUrl: home.baseUrl }] });
  holders = [
    holder(gateway.anna.key),
    holder(await newKey('fenced', { day: { requests: 1_000 } })),
    holder(await newKey('other', { models: ['tiny', 'kokoro'] })),
  ];
  // So that what is queued stays.
  await pauseQueue(gateway);
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([home.close(), studio.fake.close()]);
});

async function newKey(name: string, rules: object): Promise<string> {
  const told = { user: 'anna', name, scope: 'any', expires_in_s: null } as const;
  return (await gateway.admin('key.create', { ...told, ...rules })).key;
}

function holder(key: string): Holder {
  return {
    key,
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${key}`);
      return gateway.fetch(path, { ...init, headers });
    },
  };
}

const idsOf = ({ data }: ListBody<{ id: string }>): string[] => data.map(({ id }) => id);

const made = async (caller: Caller) =>
  (await accepted<BatchBody>(await submitBatch(caller, [chatItem()]))).id;

const list = (caller: Caller) => getJson<ListBody<BatchBody>>(caller, BATCHES);

const ask = async (caller: Caller): Promise<string> => {
  const body = { model: 'tiny', input: 'hello', background: true };
  const response = await post(caller, body, { path: '/v1/responses' });
  return ((await response.json()) as { id: string }).id;
};

const queued = async (caller: Caller) =>
  (await getJson<{ queued: number }>(caller, '/api/inference/queue/summary')).queued;

const listed = async (caller: Caller) => (await listJobs(caller, '?status=QUEUED')).data.length;

describe('a restricted key sees only its own', () => {
  it('jobs: in lists, by id, to cancel and to retry; the unrestricted one sees all', async () => {
    const [all, one, two] = holders;
    const jobs = await Promise.all([all, one, two].map((caller) => submitted(caller)));
    const [ofAll = '', ofOne = '', ofTwo = ''] = jobs.map(({ id }) => id);
    expect(idsOf(await listJobs(one))).toEqual([ofOne]);
    expect(idsOf(await listJobs(two, '?status=QUEUED'))).toEqual([ofTwo]);
    expect(idsOf(await listJobs(all)).toSorted()).toEqual([ofAll, ofOne, ofTwo].toSorted());
    expect(idsOf(await listJobs(one, `?after=${ofTwo}&order=asc`))).toEqual([]);
    expect((await one.fetch(`${JOBS}/${ofOne}`)).status).toBe(200);
    const unknown = '01'.padEnd(26, 'A');
    const requests = [
      (id: string) => one.fetch(`${JOBS}/${id}`),
      (id: string) => act(one, `${JOBS}/${id}/cancel`),
      (id: string) => act(one, `${JOBS}/${id}/retry`),
    ];
    for (const request of requests) {
      const refused = await failureOf(await request(ofAll));
      const absent = await failureOf(await request(unknown));
      expect(refused).toEqual({ ...absent, message: absent.message.replace(unknown, ofAll) });
      expect(refused.status).toBe(404);
    }
    expect(await getJson(all, `${JOBS}/${ofAll}`)).toMatchObject({ status: 'QUEUED' });
    expect((await act(one, `${JOBS}/${ofOne}/cancel`)).status).toBe(200);
    expect((await act(all, `${JOBS}/${ofTwo}/cancel`)).status).toBe(200);
  });

  it('batches, likewise', async () => {
    const [all, one] = holders;
    const [ofAll, ofOne] = [await made(all), await made(one)];
    expect(idsOf(await list(one))).toEqual([ofOne]);
    expect(idsOf(await list(all))).toEqual([ofOne, ofAll]);
    expect((await one.fetch(`${BATCHES}/${ofAll}`)).status).toBe(404);
    expect((await act(one, `${BATCHES}/${ofAll}/cancel`)).status).toBe(404);
    expect(await getJson(all, `${BATCHES}/${ofAll}`)).toMatchObject({ canceled: 0 });
    expect((await one.fetch(`${BATCHES}/${ofOne}`)).status).toBe(200);
    expect((await act(one, `${BATCHES}/${ofOne}/cancel`)).status).toBe(200);
  });

  it('responses in the background, likewise', async () => {
    const [all, one] = holders;
    const [ofAll, ofOne] = [await ask(all), await ask(one)];
    expect((await one.fetch(`/v1/responses/${ofAll}`)).status).toBe(404);
    expect((await act(one, `/v1/responses/${ofAll}/cancel`)).status).toBe(404);
    expect((await one.fetch(`/v1/responses/${ofOne}`)).status).toBe(200);
    expect((await all.fetch(`/v1/responses/${ofAll}`)).status).toBe(200);
  });

  it('files: in lists, by address, to delete', async () => {
    const [all, , two] = holders;
    const make = async ({ key }: Holder): Promise<string> => {
      const headers = { authorization: `Bearer ${key}` };
      const spoken = await speak(gateway, {}, { headers });
      await bytesOf(spoken);
      return spoken.headers.get('x-asset-url') ?? '';
    };
    const [ofAll, ofTwo] = [await make(all), await make(two)];
    const urls = async ({ key }: Holder) => (await listAssets(gateway, key)).map(({ url }) => url);
    expect(await urls(two)).toEqual([ofTwo]);
    expect((await urls(all)).toSorted()).toEqual([ofAll, ofTwo].toSorted());
    expect((await fetchAsset(ofAll, two.key)).status).toBe(404);
    const id = (await listAssets(gateway, all.key)).find(({ url }) => url === ofAll)?.id ?? '';
    expect((await two.fetch(`${ASSETS}/${id}`, { method: 'DELETE' })).status).toBe(404);
    expect(await getJson(two, `${ASSETS}?after=${id}`)).toMatchObject({ data: [] });
    expect((await fetchAsset(ofAll, all.key)).status).toBe(200);
    expect((await fetchAsset(ofTwo, two.key)).status).toBe(200);
  });

  it('part of the queue, and submissions by an Idempotency-Key', async () => {
    const [all, one, two] = holders;
    const headers = { 'idempotency-key': 'nightly' };
    const ids = [];
    for (const caller of [all, one, two, one]) {
      ids.push((await submitted(caller, {}, { headers })).id);
    }
    expect(new Set(ids).size).toBe(3);
    expect(ids[3]).toBe(ids[1]);
    for (const caller of [all, one, two]) expect(await queued(caller)).toBe(await listed(caller));
    expect(await queued(one)).toBeLessThan(await queued(all));
  });

  it('once it is restricted; without rules it sees all of its member again', async () => {
    const [all] = holders;
    const key = await newKey('free', {});
    const free = holder(key);
    const count = (await listJobs(all)).data.length;
    expect((await listJobs(free)).data).toHaveLength(count);
    await gateway.admin('key.limit', { key: 'anna/free', month: { images: 1 } });
    expect((await listJobs(free)).data).toEqual([]);
    await gateway.admin('key.limit', { key: 'anna/free', month: {} });
    expect((await listJobs(free)).data).toHaveLength(count);
    expect((await post(free, chat())).status).toBe(200);
  });
});
