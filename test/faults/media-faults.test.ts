import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RawCaller } from '../api/raw-caller.js';
import {
  bytesOf,
  draw,
  film,
  IMAGES_PATH,
  listAssets,
  speak,
  SPEECH_PATH,
} from '../api/media-calls.js';
import { failureOf } from '../api/requests.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { answerAll, connectMediaAgent } from '../support/media-agent.js';
import { filesBelow } from '../support/open-library.js';
import { picture } from '../support/pictures.js';
import type { RawAgent } from '../support/raw-agent.js';
import { FILM, SPEECH, startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { usageOf, usageRows } from '../support/usage-rows.js';

const MIB = 1024 * 1024;
const LARGE_PNG = Buffer.concat([picture(), Buffer.alloc(64 * MIB)]);

async function startRaw(gateway: TestGateway, type: 'tts' | 'image' | 'video', slots = 1) {
  return connectMediaAgent(gateway, { type, slots });
}

/** The answer has begun: its head and these bytes are sent. */
async function begin(agent: RawAgent, bytes: Uint8Array): Promise<number> {
  const { stream } = await agent.nextOpen();
  agent.mediaHead(stream);
  agent.part(stream);
  await agent.bytes(stream, bytes);
  return stream;
}

async function resetOf(agent: RawAgent): Promise<string> {
  return (await agent.first('RESET')).code;
}

async function expectNothingKept(gateway: TestGateway): Promise<void> {
  await until(async () => (await filesBelow(gateway.dataDir)).length === 0, {
    what: 'the drafts to be removed',
  });
  expect(await listAssets(gateway)).toEqual([]);
}

async function onlyRow(gateway: TestGateway) {
  return until(() => usageRows(gateway)[0], { what: 'a usage row' });
}

/** A caller that asks with its own socket, and reads as the test says. */
function rawCall(gateway: TestGateway, path: string, body: object): RawCaller {
  const caller = new RawCaller(gateway);
  const text = JSON.stringify(body);
  caller.head(`POST ${path}`, {
    authorization: `Bearer ${gateway.anna.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  caller.socket.write(text);
  return caller;
}

describe('a caller who leaves in the middle of a file', () => {
  it('ends the work on the GPU within a second, frees its slot and leaves no draft', async () => {
    const gateway = await startGateway();
    const { fake } = await startStudio(gateway, { types: ['tts'], slots: 1 });
    onTestFinished(() => fake.close());
    fake.once((_request, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' });
      response.write(SPEECH.subarray(0, 8_000));
    });
    const departure = new AbortController();
    const response = await speak(gateway, {}, { signal: departure.signal });
    await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
    const leftAt = performance.now();
    departure.abort();
    const aborted = await until(() => fake.aborts[0]?.abortedAt, { what: 'the abort' });
    expect(aborted - leftAt).toBeLessThan(1_000);
    const next = await speak(gateway);
    expect(Number(next.headers.get('x-queue-ms'))).toBeLessThan(1_000);
    expect(await bytesOf(next)).toEqual(SPEECH);
    await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
    expect(await usageOf(gateway, response)).toMatchObject({
      outcome: 'canceled',
      audioMs: Math.round((8_000 - 44) / 32),
    });
  });

  it.each([
    ['while nothing has come yet', Buffer.alloc(0)],
    ['while images are gathered', picture()],
  ])('%s', async (_, bytes) => {
    const gateway = await startGateway();
    const agent = await startRaw(gateway, 'image');
    const departure = new AbortController();
    const answer = draw(gateway, { model: 'm', n: 2 }, { signal: departure.signal });
    answer.catch(() => {});
    await begin(agent, bytes);
    departure.abort();
    expect(await resetOf(agent)).toBe('CALLER_GONE');
    await expectNothingKept(gateway);
    expect(await onlyRow(gateway)).toMatchObject({ outcome: 'canceled', images: 0 });
  });

  it('once all of it is made, keeps it: the work is done and is metered', async () => {
    const gateway = await startGateway();
    const agent = await startRaw(gateway, 'tts');
    const caller = rawCall(gateway, SPEECH_PATH, { model: 'm', input: 'Hello' });
    const unknown = Buffer.from(SPEECH);
    unknown.writeUInt32LE(0, 40);
    const stream = await begin(agent, unknown);
    const drafts = join(gateway.dataDir, 'assets', 'drafts');
    await until(async () => (await filesBelow(gateway.dataDir)).length === 1);
    agent.send({ t: 'END', stream, ok: true });
    // The file is in its place, and is being measured: the caller has seen nothing of it yet.
    await until(async () => (await readdir(drafts)).length === 0);
    caller.socket.destroy();
    expect(await onlyRow(gateway)).toMatchObject({ audioMs: 500 });
    expect(await listAssets(gateway)).toHaveLength(1);
  });
});

describe('a caller who leaves at any moment of its request', () => {
  /** Turns of the event loop, which caller and coordinator share, after its last byte. */
  const MOMENTS = Array.from({ length: 40 }, (_, i) => i);

  it.each([
    ['speech', 'tts'],
    ['a transcription', 'stt'],
  ] as const)('of %s leaves no work behind', async (_, type) => {
    const gateway = await startGateway();
    const agent = await connectMediaAgent(gateway, { type, slots: 100 });
    answerAll(agent, () => Promise.resolve());
    for (const moment of MOMENTS) {
      const caller = type === 'tts' ? speechCall(gateway) : recordingCall(gateway);
      await once(caller.socket, 'connect');
      for (let turn = 0; turn < moment; turn++) await new Promise(setImmediate);
      caller.socket.destroy();
    }
    const count = (tag: string): number => agent.messages.filter(({ t }) => t === tag).length;
    // Each call that reached the agent was stopped there, and metered.
    await until(() => {
      const opened = count('OPEN');
      return opened > 0 && count('RESET') === opened && usageRows(gateway).length >= opened;
    });
    expect(usageRows(gateway).every(({ outcome }) => outcome === 'canceled')).toBe(true);
  });
});

function speechCall(gateway: TestGateway): RawCaller {
  return rawCall(gateway, SPEECH_PATH, { model: 'm', input: 'Hello' });
}

const part = (head: string) => `--xx\r\nContent-Disposition: form-data; ${head}\r\n\r\n`;

function recordingCall(gateway: TestGateway): RawCaller {
  const body = Buffer.concat([
    Buffer.from(`${part('name="model"')}m\r\n${part('name="file"; filename="a.wav"')}`),
    SPEECH,
    Buffer.from('\r\n--xx--\r\n'),
  ]);
  const caller = new RawCaller(gateway);
  caller.head('POST /v1/audio/transcriptions', {
    authorization: `Bearer ${gateway.anna.key}`,
    'content-type': 'multipart/form-data; boundary=xx',
    'content-length': body.length,
  });
  caller.socket.write(body);
  return caller;
}

describe('a caller who stops reading', () => {
  it('loses its answer after a while, and the slot is freed: CALLER_STALLED', async () => {
    const gateway = await startGateway({ stallMs: 300 });
    const agent = await startRaw(gateway, 'video');
    const caller = rawCall(gateway, '/v1/videos/generations', { model: 'm', prompt: 'x' });
    caller.socket.pause();
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    const sending = agent.bytes(stream, Buffer.concat([FILM, Buffer.alloc(32 * MIB)]));
    sending.catch(() => {});
    expect(await resetOf(agent)).toBe('CALLER_STALLED');
    agent.send({ t: 'RESET', stream, code: 'CANCELED' });
    expect(agent.granted.get(stream) ?? 0).toBeLessThan(16 * MIB);
    await expectNothingKept(gateway);
    expect(await onlyRow(gateway)).toMatchObject({ outcome: 'canceled', errorCode: null });
    const next = film(gateway, { model: 'm' });
    const { stream: second } = await agent.nextOpen();
    await agent.media(second, [{ bytes: FILM }]);
    expect(await bytesOf(await next)).toEqual(FILM);
  });

  it('of a list in base64 loses the connection, and the images stay', async () => {
    const gateway = await startGateway({ stallMs: 300 });
    const agent = await startRaw(gateway, 'image');
    const body = { model: 'm', prompt: 'x', response_format: 'b64_json' };
    const caller = rawCall(gateway, IMAGES_PATH, body);
    caller.socket.pause();
    const { stream } = await agent.nextOpen();
    await agent.media(stream, [{ bytes: LARGE_PNG }]);
    expect(await onlyRow(gateway)).toMatchObject({ outcome: 'ok', images: 1 });
    caller.socket.resume();
    await until(() => caller.ended || caller.reset || caller.socket.closed);
    expect(caller.received.length).toBeLessThan(LARGE_PNG.length);
    expect(await listAssets(gateway)).toMatchObject([{ bytes: LARGE_PNG.length }]);
  });
});

describe('a provider that goes silent', () => {
  it('before its first byte is 502 provider_timeout at the deadline, nothing kept', async () => {
    const gateway = await startGateway({ syncDeadlineMs: 400 });
    const agent = await startRaw(gateway, 'image');
    const answer = draw(gateway, { model: 'm', n: 2 });
    await begin(agent, picture());
    const failure = await failureOf(await answer);
    expect(failure).toMatchObject({ status: 502, code: 'provider_timeout', retry: 'false' });
    expect(await resetOf(agent)).toBe('DEADLINE');
    await expectNothingKept(gateway);
  });

  it('in the middle of a file: the connection is cut at the deadline, nothing kept', async () => {
    const gateway = await startGateway({ syncDeadlineMs: 400 });
    const agent = await startRaw(gateway, 'tts');
    const answer = speak(gateway, { model: 'm' });
    await begin(agent, SPEECH.subarray(0, 8_000));
    const response = await answer;
    await expect(bytesOf(response)).rejects.toThrow('terminated');
    expect(await resetOf(agent)).toBe('DEADLINE');
    await expectNothingKept(gateway);
    expect(await usageOf(gateway, response)).toMatchObject({ errorCode: 'provider_timeout' });
  });
});

describe('an agent that talks nonsense', () => {
  it.each<[string, (agent: RawAgent, stream: number) => void]>([
    ['ends without a file', (agent, stream) => agent.send({ t: 'END', stream, ok: true })],
    ['sends bytes of no file', (agent, stream) => agent.data(stream, picture())],
    [
      'ends in the middle',
      (agent, stream) => {
        agent.part(stream);
        agent.data(stream, picture().subarray(0, 40));
        agent.send({ t: 'END', stream, ok: false });
      },
    ],
    [
      'sends an empty file',
      (agent, stream) => {
        agent.part(stream);
        agent.send({ t: 'END', stream, ok: true });
      },
    ],
  ])('%s: 502, and nothing is kept', async (_, talk) => {
    const gateway = await startGateway();
    const agent = await startRaw(gateway, 'image');
    const answer = draw(gateway, { model: 'm' });
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    talk(agent, stream);
    const failure = await failureOf(await answer);
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    await expectNothingKept(gateway);
  });

  it('answers JSON where files are due: 502', async () => {
    const gateway = await startGateway();
    const agent = await startRaw(gateway, 'image');
    const answer = draw(gateway, { model: 'm' });
    agent.answer((await agent.nextOpen()).stream, { data: [{ url: 'http://192.0.2.1/' }] });
    const failure = await failureOf(await answer);
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    expect(failure.message).toContain('application/json where multipart/mixed was due');
  });

  it('sends a file before it says anything: its link ends', async () => {
    const gateway = await startGateway();
    const agent = await startRaw(gateway, 'image');
    const answer = draw(gateway, { model: 'm' });
    agent.part((await agent.nextOpen()).stream);
    expect(await agent.closed()).toBe(4000);
    expect(await failureOf(await answer)).toMatchObject({ status: 502 });
  });

  it('sends more bytes than it had credit for: the stream ends', async () => {
    const gateway = await startGateway({ stallMs: 60_000 });
    const agent = await startRaw(gateway, 'video');
    const caller = rawCall(gateway, '/v1/videos/generations', { model: 'm', prompt: 'x' });
    caller.socket.pause();
    const { stream } = await agent.nextOpen();
    agent.mediaHead(stream);
    agent.part(stream);
    agent.data(stream, FILM);
    for (let i = 0; i < 400; i++) agent.data(stream, Buffer.alloc(65_536));
    expect(await resetOf(agent)).toBe('FLOW_CONTROL');
    await expectNothingKept(gateway);
  });
});
