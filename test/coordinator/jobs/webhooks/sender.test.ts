import { describe, expect, test } from 'vitest';
import { send } from '../../../support/recording-server.js';
import { until } from '../../../support/until.js';
import {
  MemoryWebhooks,
  SECRET,
  createSender,
  idsOf,
  listeningLogger,
  startReceiver,
  verify,
} from './webhook-stage.js';

const HOUR_MS = 3_600_000;

describe('a message', () => {
  test('is signed as Standard Webhooks has it, and leaves the store once it arrived', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 204, ''));
    const id = store.add(`${receiver.origin}/hook`, { createdAt: Date.UTC(2026, 0, 2) });
    createSender(store).wake();
    await until(() => store.rows.size === 0);
    const [request] = receiver.requests;
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: {
        'webhook-id': id,
        'content-type': 'application/json',
        'user-agent': 'inference-gateway/0.0.0',
      },
    });
    expect(request && verify(request)).toEqual({
      type: 'job.finished',
      timestamp: '2026-01-02T00:00:00.000Z',
      data: { id: 'job-1' },
    });
    expect(receiver.requests).toHaveLength(1);
  });

  test('of a batch says so', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, 'ok'));
    store.add(receiver.origin, { subject: 'batch', subjectId: 'batch-1' });
    createSender(store).wake();
    const request = await until(() => receiver.requests[0]);
    expect(verify(request)).toMatchObject({ type: 'batch.finished', data: { id: 'batch-1' } });
  });

  test('about something that is gone is not sent', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, 'ok'));
    store.add(receiver.origin);
    createSender(store, { describe: async () => null }).wake();
    await until(() => store.rows.size === 0);
    expect(receiver.requests).toEqual([]);
  });

  test('is sent when its time comes, without a wake', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, 'ok'));
    store.add(receiver.origin, { createdAt: Date.now() + 100 });
    createSender(store).wake();
    await until(() => store.rows.size === 0);
    expect(receiver.requests).toHaveLength(1);
  });

  test('that nobody woke for is found by the look that comes anyway', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, 'ok'));
    createSender(store, { timings: { pollMs: 20 } }).wake();
    await until(() => store.nextWebhookAt().then((at) => at === null));
    store.add(receiver.origin);
    await until(() => store.rows.size === 0);
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('a receiver that', () => {
  test('fails is tried again with the same id, until it answers 2xx', async () => {
    const store = new MemoryWebhooks();
    const statuses = [500, 429, 404, 201];
    const receiver = await startReceiver((_, response) =>
      send(response, statuses.shift() ?? 200, ''),
    );
    const id = store.add(receiver.origin);
    createSender(store).wake();
    await until(() => store.rows.size === 0);
    expect(idsOf(receiver.requests)).toEqual([id, id, id, id]);
    expect(store.postponed).toHaveLength(3);
    for (const request of receiver.requests) verify(request);
  });

  test('redirects is not followed and tried again', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => {
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    store.add(`${receiver.origin}/hook`);
    createSender(store).wake();
    await until(() => store.postponed.length >= 2);
    expect(receiver.to('/elsewhere')).toEqual([]);
  });

  test('answers 410 is left alone', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 410, ''));
    store.add(receiver.origin);
    createSender(store).wake();
    await until(() => store.rows.size === 0);
    expect(receiver.requests).toHaveLength(1);
    expect(store.postponed).toEqual([]);
  });

  test('refuses connections is tried again', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 200, ''));
    await receiver.close();
    const { logger, lines } = listeningLogger();
    store.add(receiver.origin);
    createSender(store, { logger }).wake();
    await until(() => store.postponed.length >= 2);
    expect(lines.join('')).toContain('"reason":"ECONNREFUSED"');
  });

  test('switches protocols instead of answering is tried again at once', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => {
      response.socket?.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      );
    });
    store.add(receiver.origin);
    createSender(store, { timings: { tryMs: 600_000 } }).wake();
    await until(() => store.postponed.length >= 1);
  });

  test('never answers has its time, and no more', async () => {
    const store = new MemoryWebhooks();
    const { logger, lines } = listeningLogger();
    const receiver = await startReceiver(() => {});
    store.add(receiver.origin);
    createSender(store, { logger, timings: { tryMs: 50 } }).wake();
    await until(() => store.postponed.length >= 1 && receiver.aborts.length >= 1);
    expect(lines.join('')).toContain('"reason":"no answer within 50 ms"');
  });

  test('drips its headers has the same time', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => {
      response.socket?.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => response.socket?.write('x-drip: 1\r\n'), 5);
      response.socket?.once('close', () => clearInterval(drip)).on('error', () => {});
    });
    store.add(receiver.origin);
    createSender(store, { timings: { tryMs: 100 } }).wake();
    await until(() => store.postponed.length >= 1);
  });

  test('drips its body has been told: the status came', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => {
      const drip = setInterval(() => response.write('x'), 5);
      response.once('close', () => clearInterval(drip));
    });
    store.add(receiver.origin);
    createSender(store, { timings: { tryMs: 100 } }).wake();
    await until(() => store.rows.size === 0);
    await until(() => receiver.aborts.length === 1);
    expect(receiver.requests).toHaveLength(1);
  });

  test('answers without end is cut off after 64 KiB', async () => {
    const store = new MemoryWebhooks();
    const chunk = Buffer.alloc(16 * 1024);
    const receiver = await startReceiver((_, response) => {
      const fill = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', fill);
      fill();
    });
    store.add(receiver.origin);
    createSender(store, { timings: { tryMs: 600_000 } }).wake();
    await until(() => store.rows.size === 0);
    await until(() => receiver.aborts.length === 1);
  });

  test('fails for a day is given up, and the log names its host alone', async () => {
    const store = new MemoryWebhooks();
    const receiver = await startReceiver((_, response) => send(response, 500, ''));
    const { logger, lines } = listeningLogger();
    const createdAt = Date.now() - 25 * HOUR_MS;
    const id = store.add(`${receiver.origin}/hook?token=in-the-query`, { createdAt });
    const backOff = { delaysMs: [5_000], maxAgeMs: 24 * HOUR_MS };
    createSender(store, { logger, timings: { backOff } }).wake();
    await until(() => store.rows.size === 0);
    expect(receiver.requests).toHaveLength(1);
    const line = lines.find((one) => one.includes('webhook given up'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      webhook: id,
      host: '127.0.0.1',
      tries: 1,
      reason: 'it answered 500',
    });
    expect(lines.join('')).not.toContain('in-the-query');
    expect(lines.join('')).not.toContain(SECRET);
  });
});

test('a subject that cannot be read now is told of later', async () => {
  const store = new MemoryWebhooks();
  const receiver = await startReceiver((_, response) => send(response, 200, ''));
  store.add(receiver.origin);
  let reads = 0;
  const readSubject = (): Promise<string> =>
    (reads += 1) === 1 ? Promise.reject(new Error('locked')) : Promise.resolve('{"id":"job-1"}');
  createSender(store, { describe: readSubject }).wake();
  await until(() => store.rows.size === 0);
  expect(store.postponed).toHaveLength(1);
  expect(receiver.requests).toHaveLength(1);
});

test('a store that cannot be read now is read again at the next look', async () => {
  const store = new MemoryWebhooks();
  const receiver = await startReceiver((_, response) => send(response, 200, ''));
  store.add(receiver.origin);
  let reads = 0;
  const locked = Object.assign(Object.create(store) as MemoryWebhooks, {
    dueWebhooks: (now: number, perMember: number) =>
      (reads += 1) === 1 ? Promise.reject(new Error('locked')) : store.dueWebhooks(now, perMember),
  });
  createSender(locked, { timings: { pollMs: 20 } }).wake();
  await until(() => store.rows.size === 0);
  expect(receiver.requests).toHaveLength(1);
});
