import { gzipSync } from 'node:zlib';
import { toFile } from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerWell, sha256Of, startFakeMedia } from '../support/fake-media-server.js';
import type { FakeMediaServer } from '../support/fake-media-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture } from '../support/pictures.js';
import { connectRawAgent, HELLO } from '../support/raw-agent.js';
import { send } from '../support/recording-server.js';
import { silentWav, tone } from '../support/sound.js';
import { until } from '../support/until.js';
import { failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';
import {
  beginUpload,
  chunkOf,
  halfBody,
  spooled,
  TRANSCRIPTIONS,
  uploadBody,
} from './upload-caller.js';

const MOST = 26_214_400;
const WAV = tone(2);
const largest = Buffer.concat([WAV, Buffer.alloc(MOST - WAV.length, 1)]);
const tooLarge = Buffer.concat([largest, Buffer.of(0)]);
const TOO_LARGE = {
  status: 413,
  type: 'request_too_large',
  code: 'file_too_large',
  param: 'file',
};

let gateway: TestGateway;
let fake: FakeMediaServer;
/** Serves `tiny` for chats only. */
let chat: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeMedia();
  chat = await startFakeOpenAi();
  const stt = { ...fake.service('stt', { plain: [] }), slots: 1 };
  await gateway.startAgent({ services: [stt, { baseUrl: chat.baseUrl }] });
  return async () => {
    await gateway.stop();
    await Promise.all([fake.close(), chat.close()]);
  };
});

beforeEach(() => fake.reset());

function transcribe(file: Buffer, init: RequestInit = {}, at = gateway): Promise<Response> {
  const body = new FormData();
  body.append('model', 'plain');
  body.append('file', new Blob([new Uint8Array(file)]), 'a.wav');
  return at.fetch(TRANSCRIPTIONS, { method: 'POST', body, ...init });
}

const removed = (at = gateway) =>
  until(async () => (await spooled(at.dataDir)) === 0, { what: 'no file on disk' });

/** The form of a transcription before compression. */
async function formOf(file: Buffer) {
  const body = new FormData();
  body.append('model', 'plain');
  body.append('file', new Blob([new Uint8Array(file)]), 'a.wav');
  const form = new Response(body);
  const type = form.headers.get('content-type') ?? '';
  return { form: Buffer.from(await form.arrayBuffer()), type };
}

function sendAs(body: Buffer, type: string, encoding: string): Promise<Response> {
  const headers = { 'content-type': type, 'content-encoding': encoding };
  return gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body: new Uint8Array(body), headers });
}

describe('a compressed form', () => {
  it('is read as what it was', async () => {
    const { form, type } = await formOf(WAV);
    expect((await sendAs(gzipSync(form), type, 'gzip')).status).toBe(200);
    expect(fake.last.files).toMatchObject([{ sha256: sha256Of(WAV) }]);
  });

  it('is limited by what comes out, and nothing of it stays', async () => {
    const { form, type } = await formOf(tooLarge);
    expect(await failureOf(await sendAs(gzipSync(form), type, 'gzip'))).toMatchObject(TOO_LARGE);
    await removed();
  });

  it.each([
    ['that ends early is 400', 'gzip', { status: 400, code: 'invalid_multipart' }],
    ['in an unknown encoding is 415', 'zstd', { status: 415, code: 'unsupported_content_type' }],
  ])('%s', async (_, encoding, expected) => {
    const { form, type } = await formOf(WAV);
    const failure = await failureOf(await sendAs(gzipSync(form).subarray(0, -20), type, encoding));
    expect(failure).toMatchObject(expected);
    expect(failure.message).toContain(encoding);
    await removed();
  });
});

const ENDPOINTS = [
  { path: TRANSCRIPTIONS, type: 'stt', file: 'file', bytes: WAV, fields: {} },
  {
    path: '/v1/images/edits',
    type: 'image',
    file: 'image',
    bytes: picture(),
    fields: { prompt: 'x' },
  },
  { path: '/v1/voice/generations', type: 'tts', file: 'file', bytes: WAV, fields: { input: 'x' } },
];

describe.each(ENDPOINTS)('POST $path', ({ path, type, file, bytes, fields }) => {
  const call = async (more: Record<string, string>) => {
    const body = new FormData();
    body.append(file, new Blob([new Uint8Array(bytes)]), 'file');
    for (const [name, value] of Object.entries({ ...fields, ...more })) body.append(name, value);
    return failureOf(await gateway.fetch(path, { method: 'POST', body }));
  };
  const notFound = { status: 404, type: 'no_provider', code: 'model_not_found', param: 'model' };

  it('reaches only a provider whose service matches the endpoint’s type', async () => {
    const failure = await call({ model: 'tiny' });
    expect(failure).toMatchObject(notFound);
    expect(failure.message).toContain(`'tiny' as ${type}`);
    expect([fake.heard, chat.requests]).toEqual([[], []]);
  });

  it('needs a model', async () => {
    const missing = { status: 400, code: 'missing_required_parameter', param: 'model' };
    expect(await call({})).toMatchObject(missing);
  });

  it('is synchronous only: async: true is 400', async () => {
    const type400 = 'invalid_request_error';
    const refused = { status: 400, type: type400, code: 'async_not_supported', param: 'async' };
    expect(await call({ model: 'tiny', async: 'true' })).toMatchObject(refused);
    expect(await call({ model: 'tiny', async: 'false' })).toMatchObject(notFound);
  });
});

it.each(STOCK_CLIENTS)('$version raises NotFoundError for a model of another type', async (one) => {
  const client = connect(one.Sdk, gateway);
  const file = await toFile(WAV, 'a.wav');
  const image = await toFile(picture(), 'a.png');
  for (const create of [
    () => client.audio.transcriptions.create({ file, model: 'tiny' }),
    () => client.images.edit({ model: 'tiny', prompt: 'x', image }),
  ]) {
    const failure = await create().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(one.Sdk.NotFoundError);
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  }
});

describe('up to 25 MB', () => {
  it('26,214,400 bytes pass, and arrive as they were sent', async () => {
    expect((await transcribe(largest)).status).toBe(200);
    expect(fake.last.files).toMatchObject([{ bytes: MOST, sha256: sha256Of(largest) }]);
  });

  it.each(STOCK_CLIENTS)('$version learns of one byte more', async ({ Sdk }) => {
    const file = await toFile(tooLarge, 'a.wav');
    const create = connect(Sdk, gateway).audio.transcriptions.create({ file, model: 'plain' });
    const failure = await create.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.APIError);
    expect(failure).toMatchObject(TOO_LARGE);
  });

  it.each<[string, number | undefined]>([
    ['announced', uploadBody(tooLarge).length],
    ['in chunks', undefined],
  ])('one byte more, %s, is 413 within a second, and the connection ends', async (_, announced) => {
    const caller = beginUpload(gateway, announced);
    const whole = uploadBody(tooLarge);
    // All but the end of the form: the gateway must not wait for the end.
    const most = whole.subarray(0, whole.length - 20);
    caller.socket.write(announced === undefined ? chunkOf(most) : most);
    await until(() => caller.socket.writableLength === 0, { what: 'all to be sent' });
    const sentAt = performance.now();
    expect(await caller.status()).toBe(413);
    expect(performance.now() - sentAt).toBeLessThan(1_000);
    expect(caller.received.toLowerCase()).toContain('connection: close');
    expect(caller.received).toContain('file_too_large');
    await until(() => caller.ended);
    expect(caller.reset).toBe(false);
    await removed();
  });

  it('one that is announced to be far larger is not read at all', async () => {
    const caller = beginUpload(gateway, 100 * MOST);
    expect(await caller.status()).toBe(413);
    expect(caller.received).toContain('file_too_large');
  });
});

describe('a file lies on disk for as long as its call runs, and no longer:', () => {
  it('after a success', async () => {
    let during = 0;
    fake.behave(async (heard, response) => {
      during = await spooled(gateway.dataDir);
      return answerWell(heard, response);
    });
    expect((await transcribe(WAV)).status).toBe(200);
    expect(during).toBe(1);
    await removed();
  });

  it.each([400, 500])('after a local server’s %i', async (status) => {
    fake.behave((_, response) => send(response, status, { error: { message: 'No.' } }));
    const failure = await failureOf(await transcribe(WAV));
    expect(failure.status).toBe(status === 400 ? 400 : 502);
    await removed();
  });

  it('after a refusal', async () => {
    const failure = await failureOf(await transcribe(Buffer.from('no sound, but long enough')));
    expect(failure.status).toBe(415);
    await removed();
  });

  it('when the caller leaves in the middle of the upload', async () => {
    const caller = beginUpload(gateway, uploadBody(WAV).length);
    caller.socket.write(halfBody(WAV));
    await until(async () => (await spooled(gateway.dataDir)) === 1);
    caller.socket.destroy();
    await removed();
    expect(fake.heard).toEqual([]);
  });

  it('when the caller leaves at its end, with slots or without', async () => {
    const own = await startGateway();
    const services = [{ ...HELLO.services[0], service_type: 'stt' as const }];
    const agent = await connectRawAgent(own.address, await own.anna.enroll('pc'), {
      services: services as typeof HELLO.services,
    });
    const body = Buffer.from(uploadBody(WAV).toString('latin1').replace('plain', 'm'), 'latin1');
    // This agent never reports that it stopped, so after four calls no slot is free.
    for (let i = 0; i < 20; i++) {
      const caller = beginUpload(own, body.length);
      await until(() => caller.socket.readyState === 'open');
      caller.socket.end(body);
    }
    const open = () => agent.messages.filter(({ t }) => t === 'OPEN').length;
    const reset = () => agent.messages.filter(({ t }) => t === 'RESET').length;
    await removed(own);
    await until(() => open() === reset(), { what: 'a RESET for every OPEN' });
  });

  it('when the caller leaves while it waits for a slot, and while the provider works', async () => {
    const leaving = new AbortController();
    fake.behave(() => new Promise(() => {}));
    const { signal } = leaving;
    const calls = [transcribe(WAV, { signal }), transcribe(WAV, { signal })];
    await until(() => fake.heard.length === 1);
    await until(async () => (await spooled(gateway.dataDir)) === 2);
    leaving.abort();
    for (const call of calls) await expect(call).rejects.toThrow('abort');
    await removed();
    await until(() => fake.aborts > 0, { what: 'the local server to be told' });
    fake.reset();
    expect((await transcribe(WAV)).status).toBe(200);
  });
});

describe('when a provider fails, the next one gets the very same bytes', () => {
  it('from the first to the last', async () => {
    const own = await startGateway();
    const other = await startFakeMedia();
    await own.startAgent({ services: [fake.service('stt', { plain: [] })] });
    await own.startAgent({ name: 'attic', services: [other.service('stt', { plain: [] })] });
    let failed = false;
    for (const server of [fake, other]) {
      server.behave((heard, response) => {
        if (failed) return answerWell(heard, response);
        failed = true;
        return send(response, 500, { error: { message: 'CUDA out of memory' } });
      });
    }
    const file = silentWav(100);
    const response = await transcribe(file, {}, own);
    expect([response.status, response.headers.get('x-attempts')]).toEqual([200, '2']);
    for (const { last } of [fake, other]) {
      expect(last.files).toMatchObject([{ bytes: file.length, sha256: sha256Of(file) }]);
    }
    await removed(own);
    await other.close();
  });
});
