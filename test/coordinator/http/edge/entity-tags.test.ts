import { entityTags } from '@inference-gateway/coordinator/http/edge/entity-tags';
import Koa from 'koa';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';

let server: Server;
let body: object = {};

beforeAll(async () => {
  const app = new Koa();
  app.use(entityTags);
  app.use((ctx) => {
    ctx.body = body;
  });
  // Koa's handler catches its errors itself.
  const handle = app.callback();
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  server.close();
});

async function tagOf(answer: object): Promise<string> {
  body = answer;
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/api/inference/queue/summary`);
  expect(await response.json()).toEqual(answer);
  return response.headers.get('etag') ?? '';
}

test.each([
  ['as the API tells it', { last_tick_at: '2026-05-31T10:00:00.000Z', queued: 1 }],
  ['as the console tells it', { last_tick_at: 1_780_000_000_000, queued: 1 }],
])('a tick of the dispatcher changes nothing, %s', async (_, later) => {
  const tag = await tagOf({
    ...later,
    last_tick_at: typeof later.last_tick_at === 'string' ? '' : 7,
  });
  expect(tag).toMatch(/^W\/"/);
  expect(await tagOf(later)).toBe(tag);
});

test('whatever else differs does, and so does a text that looks like a tick', async () => {
  const tag = await tagOf({ last_tick_at: 1, name: '"last_tick_at":"1"' });
  expect(await tagOf({ last_tick_at: 1, name: '"last_tick_at":"2"' })).not.toBe(tag);
  expect(await tagOf({ last_tick_at: null, name: '"last_tick_at":"1"' })).not.toBe(tag);
});
