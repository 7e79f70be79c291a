import { readImageSize, readChunks, writeChunks } from '@inference-gateway/agent/media/images';
import { measure } from '@inference-gateway/coordinator/media/measure';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../bench/load/connection.js';
import { BENCH_MODEL, IMAGE_BYTES } from '../../bench/load/job.js';
import type { Call, RequestsResult } from '../../bench/load/job.js';
import { noiseWav, uploadRequest } from '../../bench/load/media-request.js';
import { closedLoad } from '../../bench/load/request-load.js';
import { streamLoad } from '../../bench/load/stream-load.js';
import { noisePng } from '../../bench/mock-image.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const MOCK = fileURLToPath(new URL('../../build/bench/mock-process.js', import.meta.url));
const UPLOAD = { kind: 'upload', fileBytes: 300_000 } as const;
const IMAGE = { kind: 'image' } as const;

test.each([UPLOAD, IMAGE])('a load of kind $kind is answered by the mock', async (call) => {
  expect((await load(await startMock(), call)).requests).toBe(4);
});

test('an upload is the form that fetch writes, with the file first', async () => {
  let form = new FormData();
  const origin = await serve((request, response) => {
    void readForm(request).then((read) => {
      form = read;
      response.end('ok');
    });
  });
  const connection = new Connection(origin);
  onTestFinished(() => connection.close());
  await connection.send(await uploadRequest({ origin, headers: {} }, UPLOAD.fileBytes));
  expect([...form.keys()]).toEqual(['file', 'model']);
  expect(form.get('model')).toBe(BENCH_MODEL);
  expect(form.get('file')).toMatchObject({ name: 'noise.wav', size: UPLOAD.fileBytes });
});

test('the noise is a WAV file as long as its samples', async () => {
  const path = join(await temporaryFolder(), 'noise');
  writeFileSync(path, noiseWav(44 + 2 * 32_000));
  expect(await measure({ path, contentType: 'audio/wav' })).toBe(2);
});

test('the image is a whole PNG of the announced size', () => {
  const image = noisePng(IMAGE_BYTES);
  expect(image.length).toBe(IMAGE_BYTES);
  expect(readImageSize(image)).toEqual({ width: 1_024, height: 1_024 });
  expect(writeChunks(readChunks(image)).equals(image)).toBe(true);
});

test.each([
  ['a byte less', UPLOAD, { text: `${UPLOAD.fileBytes - 1} bytes` }],
  ['no count of bytes', UPLOAD, { text: 'something else' }],
  ['a small image', IMAGE, { data: [{ b64_json: 'c2hvcnQ=' }] }],
  ['no base64', IMAGE, { data: [{ url: 'x'.repeat(IMAGE_BYTES * 2) }] }],
])('a load ends at an answer with %s', async (_, call, answer) => {
  const origin = await serve((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(answer)));
  });
  await expect(load(origin, call)).rejects.toThrow(/file of|not the image/);
});

test('the gaps of a stream are the times between its chunks', async () => {
  const target = { origin: await startMock(), headers: {} };
  const paced = { streams: 1, chunks: 6, intervalMs: 30 };
  const { gapMs } = await streamLoad({ kind: 'streams', target, ...paced });
  // The mock keeps the pace of the whole stream: a late chunk is followed by a short gap.
  expect(gapMs.p99).toBeGreaterThanOrEqual(29);
  const flood = { streams: 1, chunks: 6, intervalMs: 0 };
  const flooded = await streamLoad({ kind: 'streams', target, ...flood });
  expect(flooded.gapMs.p50).toBeLessThan(29);
});

function load(origin: string, call: Call): Promise<RequestsResult> {
  const target = { origin, headers: {} };
  const least = { connections: 2, durationMs: 60_000, maxRequests: 4 };
  return closedLoad({ kind: 'closed', target, call, ...least });
}

async function startMock(): Promise<string> {
  const child = spawn(process.execPath, [MOCK], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const origin = /ready on (\S+)/.exec(line)?.[1];
    if (origin !== undefined) return origin;
  }
  throw new Error('the mock ended before it was ready');
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** As another implementation than the gateway's reads it. */
async function readForm(request: IncomingMessage): Promise<FormData> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const bytes = Buffer.concat(await request.toArray());
  return new Response(bytes, { headers }).formData();
}
