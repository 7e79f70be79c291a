import { Agent, request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hangBeforeHeaders } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { RawCaller } from './raw-caller.js';
import { chat, failureOf, post } from './requests.js';

const LIMIT = 64 * 1024;

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ maxJsonBytes: LIMIT, maxBodyMemoryBytes: 2 * LIMIT });
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
});

afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

/** A chat whose JSON has exactly this many bytes. */
function chatOf(bytes: number): string {
  const empty = JSON.stringify(chat({ padding: '' }));
  return JSON.stringify(chat({ padding: 'x'.repeat(bytes - empty.length) }));
}

type BodyForm = Pick<RequestInit, 'body' | 'duplex'>;

/** Sends text as a stream of chunks, without a Content-Length. */
function chunked(text: string): BodyForm {
  return { body: new Blob([text]).stream(), duplex: 'half' };
}

const ENCODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};
type Encoding = keyof typeof ENCODERS;
const ENCODINGS = Object.keys(ENCODERS) as Encoding[];

/** Posts these bytes with this content encoding in the header, whether or not it is true. */
function postEncoded(bytes: Uint8Array, encoding: string, at = gateway): Promise<Response> {
  const headers = { 'content-encoding': encoding };
  return post(at, '', { body: new Uint8Array(bytes), headers });
}

describe('a compressed body', () => {
  it.each(ENCODINGS)('in %s is read as what it was', async (encoding) => {
    const text = chatOf(LIMIT);
    const response = await postEncoded(ENCODERS[encoding](text), encoding.toUpperCase());
    expect(response.status).toBe(200);
    expect(fake.lastRequest.body['padding']).toBe(
      (JSON.parse(text) as { padding: string }).padding,
    );
    expect(fake.lastRequest.headers).not.toHaveProperty('content-encoding');
  });

  it('that is said to be as it is, is', async () => {
    expect((await postEncoded(Buffer.from(chatOf(200)), 'identity')).status).toBe(200);
  });

  it.each(ENCODINGS)(
    'in %s is limited by what comes out: one byte more is 413',
    async (encoding) => {
      const response = await postEncoded(ENCODERS[encoding](chatOf(LIMIT + 1)), encoding);
      expect(await failureOf(response)).toMatchObject({ status: 413, code: 'body_too_large' });
    },
  );

  it('that grows without end is stopped early', async () => {
    // Decoded it has 2 GiB; decoding takes more than a second.
    const bomb = Buffer.concat(Array<Buffer>(256).fill(gzipSync(Buffer.alloc(8 * 1024 * 1024))));
    const headers = { 'content-encoding': 'gzip' };
    const before = process.cpuUsage();
    const body = new Blob([new Uint8Array(bomb)]).stream();
    const response = await post(gateway, '', { body, duplex: 'half', headers });
    const { user, system } = process.cpuUsage(before);
    expect(await failureOf(response)).toMatchObject({ status: 413, code: 'body_too_large' });
    expect(user + system).toBeLessThan(500_000);
  });

  it.each([
    ['is not in its encoding', Buffer.from(chatOf(200)), 'gzip'],
    ['ends early', gzipSync(chatOf(20_000)).subarray(0, -12), 'gzip'],
    ['is broken inside', brotliCompressSync(chatOf(20_000)).fill(0xff, 10, 30), 'br'],
  ])('that %s is 400', async (_, bytes, encoding) => {
    const failure = await failureOf(await postEncoded(bytes, encoding));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_json' });
    expect(failure.message).toContain(`it is not ${encoding}, as Content-Encoding says`);
  });

  it.each(['zstd', 'compress', 'gzip, gzip', 'odd'])('in %s is 415', async (encoding) => {
    const response = await postEncoded(Buffer.from(chatOf(200)), encoding);
    expect(response.headers.get('accept-encoding')).toBe('gzip, deflate, br');
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 415, code: 'unsupported_content_type' });
    expect(failure.message).toContain(JSON.stringify(encoding));
  });

  it('leaves its connection usable', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = (body: Buffer) =>
      new Promise<number>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${gateway.anna.key}`,
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        };
        const url = `${gateway.baseUrl}/chat/completions`;
        const sending = request(url, { method: 'POST', agent, headers }, (response) => {
          response.resume().once('end', () => resolve(response.statusCode ?? 0));
        });
        sending.once('error', reject).end(body);
      });
    const good = gzipSync(chatOf(200));
    const statuses = [];
    for (const body of [
      good,
      Buffer.from('odd'),
      good,
      Buffer.concat([good, Buffer.from('odd')]),
      good,
    ])
      statuses.push(await statusOf(body));
    expect(statuses).toEqual([200, 400, 200, 400, 200]);
    agent.destroy();
  });
});

describe('the JSON limit', () => {
  it('lets a body through that is exactly as long', async () => {
    expect((await post(gateway, chatOf(LIMIT))).status).toBe(200);
  });

  it.each([
    ['announced by its length', (text: string): BodyForm => ({ body: text })],
    ['sent in chunks', chunked],
  ])('refuses one byte more with 413, %s', async (_, form) => {
    const response = await post(gateway, '', form(chatOf(LIMIT + 1)));
    expect(response.headers.get('connection')).toBe('close');
    expect(await failureOf(response)).toMatchObject({
      status: 413,
      type: 'request_too_large',
      code: 'body_too_large',
    });
  });

  it.each([
    ['announced by its length', (text: string): BodyForm => ({ body: text })],
    ['sent in chunks', chunked],
  ])('answers a caller who has far more to send, %s', async (_, form) => {
    const response = await post(gateway, '', form(chatOf(100 * LIMIT)));
    expect(await failureOf(response)).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  it('leaves no caller hanging: none that waits and none that goes on sending', async () => {
    const waits = new RawCaller(gateway);
    waits.post(gateway.anna.key, { 'content-length': LIMIT + 1 });
    const sends = new RawCaller(gateway);
    sends.post(gateway.anna.key, { 'transfer-encoding': 'chunked' });
    for (let i = 0; i < 20; i++) sends.chunk('x'.repeat(16 * 1024));
    for (const caller of [waits, sends]) {
      expect(await caller.status()).toBe(413);
      await until(() => caller.ended);
      expect(caller.received.toLowerCase()).toContain('connection: close');
      expect(caller.received).toMatch(/\{"error":.*"body_too_large".*\}$/);
      expect(caller.reset).toBe(false);
    }
  });
});

describe('the memory for bodies', () => {
  it('is one budget for all callers: beyond it 503 capacity_exhausted', async () => {
    fake.once(hangBeforeHeaders(), hangBeforeHeaders());
    const leaving = new AbortController();
    const held = [1, 2].map(() =>
      post(gateway, chatOf(LIMIT - 1000), { signal: leaving.signal }).catch(() => null),
    );
    await until(() => fake.inFlight === 2);
    const response = await post(gateway, chatOf(LIMIT - 1000));
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await failureOf(response)).toMatchObject({
      status: 503,
      type: 'server_error',
      code: 'capacity_exhausted',
      retry: null,
    });
    leaving.abort();
    await Promise.all(held);
    await until(async () => (await post(gateway, chatOf(LIMIT - 1000))).status === 200);
  });

  it('answers 503 to a caller who is still sending', async () => {
    const callers = [1, 2, 3].map(() => new RawCaller(gateway));
    for (const caller of callers) {
      caller.post(gateway.anna.key, { 'transfer-encoding': 'chunked' });
      caller.chunk('x'.repeat(LIMIT - 100));
    }
    // Two of the three fit; the network decides which.
    const refused = await until(() => callers.find(({ received }) => received !== ''));
    expect(await refused.status()).toBe(503);
    expect(callers.filter(({ received }) => received === '')).toHaveLength(2);
    for (const { socket } of callers) socket.destroy();
    await until(async () => (await post(gateway, chatOf(LIMIT))).status === 200);
  });

  it('being spent costs a caller the request, not the connection', async () => {
    const small = await startGateway({ maxJsonBytes: 400_000, maxBodyMemoryBytes: 100_000 });
    const caller = new RawCaller(small);
    caller.post(small.anna.key, { 'content-length': 400_000 });
    caller.socket.write('x'.repeat(400_000));
    expect(await caller.status()).toBe(503);
    expect(await caller.listsModels()).toBe(200);
  });

  it('is given back by requests that were refused', async () => {
    for (let i = 0; i < 5; i++) {
      expect((await post(gateway, '', chunked(chatOf(LIMIT + 1)))).status).toBe(413);
      expect((await post(gateway, chatOf(LIMIT).slice(1))).status).toBe(400);
    }
    expect((await post(gateway, chatOf(LIMIT))).status).toBe(200);
  });
});

describe('a body is told apart by content', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.api+json',
    '',
  ])("as '%s' it is JSON", async (type) => {
    const headers = { 'content-type': type };
    expect((await post(gateway, chat(), { headers })).status).toBe(200);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    "as '%s' it is 415",
    async (type) => {
      const headers = { 'content-type': type };
      const failure = await failureOf(await post(gateway, chat(), { headers }));
      expect(failure).toMatchObject({
        status: 415,
        type: 'unsupported_media_type',
        code: 'unsupported_content_type',
      });
      expect(failure.message).toContain('Send application/json.');
    },
  );

  it('never by Accept', async () => {
    const headers = { accept: 'application/octet-stream' };
    const response = await post(gateway, chat(), { headers });
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

describe('a body that is no JSON', () => {
  it.each([
    ['nothing', ''],
    ['white space', '  \n'],
    ['broken', '{"model": "tiny",'],
    ['two objects', '{}{}'],
    ['text', 'hello'],
  ])('is 400 invalid_json: %s', async (_, body) => {
    const failure = await failureOf(await post(gateway, body));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_json', param: null });
    expect(failure.message).toMatch(/^The request body is not valid JSON: .+\.$/);
  });

  it.each(['[]', '"text"', 'null', '7'])('but %s is 400 invalid_type', async (body) => {
    const failure = await failureOf(await post(gateway, body));
    expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', param: null });
  });
});

it('a body that is cut short harms nobody else and reaches no provider', async () => {
  const before = fake.requests.length;
  const caller = new RawCaller(gateway);
  caller.post(gateway.anna.key, { 'content-length': 1_000 });
  await new Promise((written) => caller.socket.write('{"model": "tiny"', written));
  caller.socket.destroy();
  expect((await post(gateway, chat())).status).toBe(200);
  expect(fake.requests).toHaveLength(before + 1);
});

describe('an upload', () => {
  const path = '/v1/audio/transcriptions';

  it('that is cut off inside its form is 400 invalid_multipart', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const body = '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhis';
    const failure = await failureOf(await post(gateway, body, { path, headers }));
    expect(failure).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_multipart',
    });
  });

  it('without a boundary is 400 invalid_multipart', async () => {
    const headers = { 'content-type': 'multipart/form-data' };
    const failure = await failureOf(await post(gateway, 'x', { path, headers }));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_multipart' });
  });

  it('that breaks off early leaves the connection usable', async () => {
    const caller = new RawCaller(gateway);
    caller.head(`POST ${path}`, {
      authorization: `Bearer ${gateway.anna.key}`,
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': 200_000,
    });
    caller.socket.write('--b\r\n:not a header\r\n\r\n'.padEnd(200_000, 'x'));
    expect(await caller.status()).toBe(400);
    expect(await caller.listsModels()).toBe(200);
  });

  it('as JSON is 415 unsupported_content_type', async () => {
    const failure = await failureOf(await post(gateway, chat(), { path }));
    expect(failure).toMatchObject({ status: 415, code: 'unsupported_content_type' });
  });
});

it('JSON bodies may have up to 32 MiB unless the operator says otherwise', async () => {
  const roomy = await startGateway();
  const failure = await failureOf(await post(roomy, chatOf(32 * 1024 * 1024)));
  expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
  const tooLarge = await failureOf(await post(roomy, chatOf(32 * 1024 * 1024 + 1)));
  expect(tooLarge).toMatchObject({ status: 413, code: 'body_too_large' });
  expect(tooLarge.message).toContain('32 MiB');
});
