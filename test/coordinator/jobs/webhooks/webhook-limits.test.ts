/** How many webhooks are sent at the same time, and how sending stops. */
import type { Resolve } from '@inference-gateway/coordinator/jobs/webhooks/receiver';
import { expect, test } from 'vitest';
import { send } from '../../../support/recording-server.js';
import { until } from '../../../support/until.js';
import { MemoryWebhooks, createSender, idsOf, startReceiver } from './webhook-stage.js';

/** Every name resolves to this machine. */
const resolve: Resolve = async () => [{ address: '127.0.0.1', family: 4 }];

/** Holds each answer until the test releases it, and records the most held per host. */
async function startHoldingReceiver() {
  const held: (() => void)[] = [];
  const hosts: string[] = [];
  const most = new Map<string, number>();
  const receiver = await startReceiver(async ({ headers }, response) => {
    const host = (headers.host ?? '').split(':')[0] ?? '';
    hosts.push(host);
    const now = hosts.filter((one) => one === host).length;
    most.set(host, Math.max(most.get(host) ?? 0, now));
    await new Promise<void>((done) => held.push(done));
    hosts.splice(hosts.indexOf(host), 1);
    send(response, 200, '');
  });
  const port = new URL(receiver.origin).port;
  return { receiver, held, hosts, most, urlOf: (name: string) => `http://${name}:${port}/` };
}

test('at most two messages are on their way to one host', async () => {
  const store = new MemoryWebhooks();
  const { receiver, held, most, urlOf } = await startHoldingReceiver();
  for (let index = 0; index < 7; index += 1) store.add(urlOf('one.example'));
  createSender(store, { resolve }).wake();
  await until(() => held.length === 2);
  await until(() => {
    held.splice(0).forEach((letGo) => letGo());
    return store.rows.size === 0;
  });
  expect(most.get('one.example')).toBe(2);
  expect(new Set(idsOf(receiver.requests)).size).toBe(7);
  expect(receiver.requests).toHaveLength(7);
});

test('at most sixteen messages are on their way at all', async () => {
  const store = new MemoryWebhooks();
  const { receiver, held, hosts, urlOf } = await startHoldingReceiver();
  for (let index = 0; index < 40; index += 1) {
    store.add(urlOf(`host-${index}.example`), { memberId: `member-${index % 8}` });
  }
  createSender(store, { resolve }).wake();
  await until(() => hosts.length === 16);
  let most = 0;
  await until(() => {
    most = Math.max(most, hosts.length);
    held.splice(0, 3).forEach((letGo) => letGo());
    return store.rows.size === 0;
  });
  expect(most).toBe(16);
  expect(receiver.requests).toHaveLength(40);
});

test('at most four messages of one member are on their way', async () => {
  const store = new MemoryWebhooks();
  const { receiver, held, hosts, urlOf } = await startHoldingReceiver();
  for (let index = 0; index < 20; index += 1) store.add(urlOf(`host-${index}.example`));
  createSender(store, { resolve }).wake();
  await until(() => hosts.length === 4);
  let most = 0;
  await until(() => {
    most = Math.max(most, hosts.length);
    held.splice(0, 1).forEach((letGo) => letGo());
    return store.rows.size === 0;
  });
  expect(most).toBe(4);
  expect(receiver.requests).toHaveLength(20);
});

test('a host that hangs delays no other, of the same member', async () => {
  const store = new MemoryWebhooks();
  const { hosts, urlOf } = await startHoldingReceiver();
  const prompt = await startReceiver((_, response) => send(response, 200, ''));
  for (let index = 0; index < 10; index += 1) store.add(urlOf('hangs.example'), { createdAt: 1 });
  const id = store.add(prompt.origin.replace('127.0.0.1', 'prompt.example'));
  createSender(store, { resolve }).wake();
  await until(() => !store.rows.has(id));
  expect(hosts).toEqual(['hangs.example', 'hangs.example']);
});

test.each([
  ['one host that hangs', 1, 2],
  ['many hosts that hang', 100, 4],
])('%s, with thousands of messages due, delay no other member', async (_, names, underWay) => {
  const store = new MemoryWebhooks();
  const { hosts, urlOf } = await startHoldingReceiver();
  const prompt = await startReceiver((_request, response) => send(response, 200, ''));
  for (let index = 0; index < 2_000; index += 1) {
    store.add(urlOf(`hangs-${index % names}.example`), { createdAt: 1 });
  }
  const memberId = 'berta';
  const first = store.add(prompt.origin.replace('127.0.0.1', 'one.example'), { memberId });
  const sender = createSender(store, { resolve, timings: { tryMs: 600_000 } });
  sender.wake();
  await until(() => !store.rows.has(first));
  const second = store.add(prompt.origin.replace('127.0.0.1', 'two.example'), { memberId });
  sender.wake();
  await until(() => !store.rows.has(second));
  expect(hosts).toHaveLength(underWay);
});

test('of a host that two members share, the next place is for who has none', async () => {
  const store = new MemoryWebhooks();
  const { receiver, held, urlOf } = await startHoldingReceiver();
  for (let index = 0; index < 10; index += 1) store.add(urlOf('shared.example'), { createdAt: 1 });
  const id = store.add(urlOf('shared.example'), { memberId: 'berta' });
  createSender(store, { resolve }).wake();
  await until(() => held.length === 2);
  held.shift()?.();
  await until(() => receiver.requests.length === 3);
  expect(idsOf(receiver.requests)[2]).toBe(id);
});

test('closing waits for what is under way', async () => {
  const store = new MemoryWebhooks();
  const { held, urlOf } = await startHoldingReceiver();
  store.add(urlOf('one.example'));
  const sender = createSender(store, { resolve, timings: { closeMs: 5_000 } });
  sender.wake();
  await until(() => held.length === 1);
  const closed = sender.close();
  held[0]?.();
  await closed;
  expect(store.rows.size).toBe(0);
});

test('closing stops what takes too long, and leaves it to the next start as it was', async () => {
  const store = new MemoryWebhooks();
  const { receiver, held, urlOf } = await startHoldingReceiver();
  const id = store.add(urlOf('one.example'));
  const before = store.rows.get(id);
  const sender = createSender(store, { resolve, timings: { closeMs: 20 } });
  sender.wake();
  await until(() => held.length === 1);
  await sender.close();
  expect(store.rows.get(id)).toEqual(before);
  expect(store.postponed).toEqual([]);
  expect(store.released).toEqual([id]);
  held[0]?.();
  createSender(store, { resolve, timings: { closeMs: 20 } }).wake();
  await until(() => held.length === 2);
  expect(idsOf(receiver.requests)).toEqual([id, id]);
});

test('a name never resolved, or a subject never read, does not keep it open', async () => {
  const store = new MemoryWebhooks();
  const asked: string[] = [];
  const never = (what: string) => (): Promise<never> => {
    asked.push(what);
    return new Promise(() => {});
  };
  store.add('http://one.example/');
  const resolving = createSender(store, { resolve: never('name'), timings: { closeMs: 20 } });
  const reading = createSender(store, { describe: never('subject'), timings: { closeMs: 20 } });
  resolving.wake();
  reading.wake();
  await until(() => asked.length === 2);
  await resolving.close();
  await reading.close();
  expect(store.postponed).toEqual([]);
});

test('nothing begins after the end', async () => {
  const store = new MemoryWebhooks();
  const receiver = await startReceiver((_, response) => send(response, 200, ''));
  const sender = createSender(store);
  sender.wake();
  await sender.close();
  const id = store.add(receiver.origin);
  sender.wake();
  const other = createSender(store);
  other.wake();
  await until(() => store.rows.size === 0);
  expect(idsOf(receiver.requests)).toEqual([id]);
});
