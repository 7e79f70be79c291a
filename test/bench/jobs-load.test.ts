import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { batchLoad, fileLoad, jobsLoad, readLoad, startLoad } from '../../bench/load/job-load.js';
import { WHEN } from '../../bench/load/job.js';
import { closedLoad } from '../../bench/load/request-load.js';
import { stampNow } from '../../bench/load/stamp.js';

interface Asked {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

interface Answer {
  readonly status?: number;
  readonly body: unknown;
}

const NONE_FAILED = { body: { data: [] } };

test('jobs count until nothing of theirs waits or runs', async () => {
  let left = 5;
  const { origin, asked } = await serve(({ path }) => {
    if (path.startsWith('/v1/jobs')) return NONE_FAILED;
    if (path.endsWith('summary')) return { body: { queued: 0, processing: left-- > 0 ? 1 : 0 } };
    return { status: 202, body: { id: 'job' } };
  });
  const load = { target: { origin, headers: {} }, jobs: 7, connections: 3 };
  const { requests, seconds } = await jobsLoad({ kind: 'jobs', ...load });
  expect(requests).toBe(7);
  const submitted = asked.filter(({ path }) => path === '/v1/chat/completions');
  expect(submitted.map(({ body }) => body['async'])).toEqual(Array(7).fill(true));
  expect(asked.filter(({ path }) => path.endsWith('summary'))).toHaveLength(6);
  // Five looks in vain, each followed by a pause.
  expect(seconds).toBeGreaterThan(0.045);
});

test('a job that failed ends the load: its time would mean nothing', async () => {
  const { origin } = await serve(({ path }) => {
    if (path === '/v1/jobs?status=FAILED&limit=1') return { body: { data: [{ id: 'broken' }] } };
    if (path.endsWith('summary')) return { body: { queued: 0, processing: 0 } };
    return { status: 202, body: { id: 'job' } };
  });
  const load = { target: { origin, headers: {} }, jobs: 1, connections: 1 };
  await expect(jobsLoad({ kind: 'jobs', ...load })).rejects.toThrow(/a job failed.*broken/);
});

test('a batch counts until it is DONE', async () => {
  const statuses = ['PENDING', 'PROCESSING', 'DONE'];
  const { origin, asked } = await serve(({ path }) => {
    if (path.startsWith('/v1/jobs')) return NONE_FAILED;
    if (path !== '/v1/batches') return { body: { data: [{ status: statuses.shift() }] } };
    return { status: 202, body: { id: 'batch' } };
  });
  const target = { origin, headers: {} };
  const { requests } = await batchLoad({ kind: 'batch', target, items: 3 });
  expect(requests).toBe(3);
  const item = { endpoint: '/v1/chat/completions', body: expect.any(Object) };
  expect(asked[0]?.body['requests']).toEqual([item, item, item]);
  expect(statuses).toEqual([]);
});

test('a file counts until its batch is completed; one that failed ends the load', async () => {
  const statuses = ['in_progress', 'finalizing', 'completed'];
  let failed = 0;
  const { origin, asked } = await serve(({ path }) => {
    if (path === '/v1/files') return { body: { id: 'file-a' } };
    if (path === '/v1/batches') return { body: { id: 'b' } };
    const counts = { completed: 3, failed };
    return { body: { status: statuses.shift() ?? 'completed', request_counts: counts } };
  });
  const target = { origin, headers: {} };
  expect((await fileLoad({ kind: 'file', target, lines: 3 })).requests).toBe(3);
  expect(statuses).toEqual([]);
  const [, submitted] = asked;
  expect(submitted?.body).toMatchObject({ input_file_id: 'file-a', completion_window: '24h' });
  failed = 1;
  await expect(fileLoad({ kind: 'file', target, lines: 3 })).rejects.toThrow('1 requests');
});

test('a start is timed from the sending to the time that the model server tells', async () => {
  const delayMs = 40;
  const { origin, asked } = await serve(async ({ path }) => {
    if (path === '/v1/chat/completions') return { status: 202, body: { id: 'one' } };
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const content = stampNow();
    // What comes after it is not the start.
    await new Promise((resolve) => setTimeout(resolve, delayMs * 5));
    return { body: { id: 'one', result: { choices: [{ message: { content } }] } } };
  });
  const target = { origin, headers: {} };
  const { latencyMs } = await startLoad({ kind: 'starts', target, times: 1 });
  expect(latencyMs.p50).toBeGreaterThanOrEqual(delayMs - 1);
  expect(latencyMs.p50).toBeLessThan(delayMs * 5);
  expect(asked[0]?.body).toMatchObject({ async: true, messages: [{ content: WHEN }] });
  expect(asked[1]?.path).toBe('/v1/jobs/one?wait=30');
});

test('a job that ends without a result ends the load', async () => {
  const { origin } = await serve(() => ({ body: { id: 'one', status: 'FAILED' } }));
  const starts = startLoad({ kind: 'starts', target: { origin, headers: {} }, times: 1 });
  await expect(starts).rejects.toThrow(/no time in the result.*FAILED/);
});

test('each path is read once, in its order', async () => {
  const { origin, asked } = await serve(() => ({ body: {} }));
  const paths = ['/v1/jobs', '/v1/jobs/a', '/v1/jobs/b'];
  const { requests } = await readLoad({ kind: 'reads', target: { origin, headers: {} }, paths });
  expect(requests).toBe(3);
  expect(asked.map(({ path }) => path)).toEqual(paths);
});

test('a closed load of submissions is answered by 202', async () => {
  const { origin, asked } = await serve(() => ({ status: 202, body: { id: 'job' } }));
  const load = { connections: 2, durationMs: 60_000, maxRequests: 4 };
  const target = { origin, headers: {} };
  const call = { kind: 'submission' } as const;
  expect((await closedLoad({ kind: 'closed', target, call, ...load })).requests).toBe(4);
  expect(asked.every(({ body }) => body['async'] === true)).toBe(true);
});

async function serve(
  answer: (asked: Asked) => Answer | Promise<Answer>,
): Promise<{ origin: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const one = { path: request.url ?? '', body };
      asked.push(one);
      const { status = 200, body: told } = await answer(one);
      const text = JSON.stringify(told);
      response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const text = Buffer.concat(await request.toArray()).toString();
  const isJson = request.headers['content-type'] === 'application/json';
  return !isJson ? {} : (JSON.parse(text) as Record<string, unknown>);
}
