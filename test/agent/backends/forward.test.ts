import { forward } from '@inference-gateway/agent/backends/forward';
import { multipartForm } from '@inference-gateway/agent/backends/multipart';
import type { FormBody } from '@inference-gateway/agent/backends/multipart';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../support/until.js';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const MIB = 1024 * 1024;
const ENDLESS = 64 * 1024 * MIB;

type Listener = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

async function serve(listener: Listener): Promise<string> {
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/upload`;
}

interface Upload {
  readonly form: FormBody;
  /** Bytes that have been asked for so far. */
  pulled: number;
  /** Whether the source was canceled. */
  closed: boolean;
}

function upload(bytes: number, breakAt = Infinity, reason: unknown = null): Upload {
  const read = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (; state.pulled < bytes; state.pulled += PIECE.length) {
        if (state.pulled >= breakAt) throw reason;
        yield PIECE;
      }
    } finally {
      state.closed = true;
    }
  };
  const file = { name: 'file', filename: 'file.wav', contentType: 'audio/wav', bytes, read };
  const state: Upload = { form: multipartForm([['a', 'ü']], [file]), pulled: 0, closed: false };
  return state;
}

function send(url: string, body: FormBody | string | null, signal = new AbortController().signal) {
  return forward({ url, apiKey: 'sk-local', body, signal });
}

test('a form arrives with its exact length, not chunked', async () => {
  let seen: IncomingMessage | undefined;
  let received = 0;
  const url = await serve(async (request, response) => {
    seen = request;
    received = (await buffer(request)).length;
    response.end('{}');
  });
  const { form } = upload(2 * MIB);
  const { status, body } = await send(url, form);
  expect([status, await text(body)]).toEqual([200, '{}']);
  expect(seen?.headers).toEqual({
    host: new URL(url).host,
    connection: 'keep-alive',
    'content-type': form.contentType,
    'content-length': String(form.bytes),
    'accept-encoding': 'identity',
    authorization: 'Bearer sk-local',
  });
  expect(received).toBe(form.bytes);
});

test('a server that reads slowly slows the upload down', async () => {
  let received = 0;
  let lead = 0;
  const sent = upload(64 * MIB);
  const url = await serve(async (request, response) => {
    for await (const piece of request as AsyncIterable<Buffer>) {
      received += piece.length;
      lead = Math.max(lead, sent.pulled - received);
      for (let turn = 0; turn < 5; turn++) await nextTurn();
    }
    response.end('{}');
  });
  expect((await send(url, sent.form)).status).toBe(200);
  expect([sent.pulled, received]).toEqual([64 * MIB, sent.form.bytes]);
  // What sockets and streams hold between the two, which does not grow with the file.
  expect(lead).toBeLessThan(16 * MIB);
});

test('a caller who leaves in the middle of an upload stops it at both ends', async () => {
  let gone = false;
  const url = await serve((request) => {
    request.resume().on('close', () => (gone = true));
  });
  const leaving = new AbortController();
  const sent = upload(ENDLESS);
  const outcome = send(url, sent.form, leaving.signal).catch((error: unknown) => error);
  await until(() => sent.pulled > 0);
  leaving.abort('canceled');
  expect(await outcome).toBe('canceled');
  await until(() => gone && sent.closed, { timeoutMs: 1_000 });
});

test.each([
  ['an error', new Error('the link broke')],
  ['a bare reason', 'link lost'],
])('where the file breaks off with %s, that is what is thrown', async (_what, reason) => {
  let gone = false;
  const url = await serve((request) => {
    request.resume().on('close', () => (gone = true));
  });
  const sent = upload(4 * MIB, MIB, reason);
  await expect(send(url, sent.form)).rejects.toBe(reason);
  await until(() => gone, { timeoutMs: 1_000 });
});

const refuse = (response: ServerResponse): void => {
  response.writeHead(413, { 'content-type': 'application/json' }).end('{"error":"too large"}');
};

test.each<[string, Listener]>([
  ['reads nothing', (_request, response) => refuse(response)],
  [
    'reads a little',
    (request, response) => {
      request.once('data', () => {
        request.pause();
        refuse(response);
      });
    },
  ],
  [
    'closes the connection',
    (_request, response) => {
      response.setHeader('connection', 'close');
      refuse(response);
    },
  ],
])('an answer that comes before the upload is over is the answer: %s', async (_what, listener) => {
  const url = await serve(listener);
  for (let round = 0; round < 5; round++) {
    const sent = upload(64 * MIB);
    const { status, body } = await send(url, sent.form);
    expect([status, await text(body)]).toEqual([413, '{"error":"too large"}']);
    await until(() => sent.closed, { timeoutMs: 2_000 });
    expect(sent.pulled).toBeLessThan(64 * MIB);
  }
});

test('a server that breaks off in the middle of an upload is a failure', async () => {
  const url = await serve((request) => void request.once('data', () => request.destroy()));
  await expect(send(url, upload(64 * MIB).form)).rejects.toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringContaining('broke off'),
  });
});

test('a file is fetched with GET, and no redirect is followed', async () => {
  const asked: string[] = [];
  const url = await serve((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(302, { location: '/elsewhere' }).end();
  });
  const { status } = await send(url, null);
  expect([status, asked]).toEqual([302, ['GET /v1/upload']]);
});
