import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { arrivals, openLoad } from '../../bench/load/open-load.js';
import { stampNow, stampSpanMs } from '../../bench/load/stamp.js';

const LOAD = {
  kind: 'open',
  perSecond: 200,
  durationMs: 500,
  models: ['a', 'b'],
  seed: 1,
} as const;

test('callers come at moments that a seed repeats, so many a second on average', () => {
  const minute = { ...LOAD, durationMs: 60_000 };
  const drawn = [...arrivals(minute)];
  expect([...arrivals(minute)]).toEqual(drawn);
  expect(drawn.length / 60).toBeCloseTo(200, -1);
  expect(drawn.filter(({ model }) => model === 'a').length / drawn.length).toBeCloseTo(0.5, 1);
  const gaps = drawn.map(({ dueMs }, i) => dueMs - (drawn[i - 1]?.dueMs ?? 0));
  expect(gaps.every((gap) => gap > 0)).toBe(true);
});

test('what the home itself takes is not counted', async () => {
  const { latencyMs, requests, errors } = await openLoad({
    ...LOAD,
    target: await serve(async (_, response) => {
      const heard = stampNow();
      await pause(500);
      response.end(`${heard}${stampNow()}`);
    }),
  });
  expect(requests).toBe([...arrivals(LOAD)].length);
  expect(errors).toEqual({});
  expect(latencyMs.p50).toBeLessThan(400);
});

test('a server that stands still for a while is late for all who came meanwhile', async () => {
  const stoodStill = pause(400);
  const { latencyMs } = await openLoad({
    ...LOAD,
    target: await serve(async (_, response) => {
      await stoodStill;
      response.end(`${stampNow()}${stampNow()}`);
    }),
  });
  // A closed loop would have one slow answer a connection, and no trace of the others.
  expect(latencyMs.p50).toBeGreaterThan(80);
  expect(latencyMs.max).toBeGreaterThan(300);
});

test('errors are counted by what they say, and end nothing', async () => {
  let calls = 0;
  const { latencyMs, requests, errors } = await openLoad({
    ...LOAD,
    target: await serve((request, response) => {
      request.resume();
      calls += 1;
      if (calls % 2 === 0) return void response.end(`${stampNow()}${stampNow()}`);
      const error = { message: `call ${calls}`, type: 'no_provider', code: 'model_offline' };
      return void response.writeHead(404).end(JSON.stringify({ error }));
    }),
  });
  expect(errors).toEqual({ '404 model_offline': Math.ceil(requests / 2) });
  expect(latencyMs.p50).toBeGreaterThan(0);
});

test('the span of a text is that from its first stamp to its last', async () => {
  const first = stampNow();
  await pause(20);
  const span = stampSpanMs(`a ${first} b ${stampNow()} c ${stampNow()} d`);
  expect(span).toBeGreaterThan(15);
  expect(stampSpanMs(`only ${first}`)).toBe(0);
  expect(stampSpanMs('none')).toBeNull();
});

async function serve(listener: (...args: Parameters<RequestListener>) => unknown) {
  const server = createServer((...args) => void listener(...args));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, headers: {} };
}
