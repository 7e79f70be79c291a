import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../api/requests.js';
import type { RawCaller } from '../api/raw-caller.js';
import {
  beginUpload,
  chunkOf,
  halfBody,
  spooled,
  TRANSCRIPTIONS,
  uploadBody,
} from '../api/upload-caller.js';
import { startFakeMedia } from '../support/fake-media-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startProcessGateway } from '../support/process-gateway.js';
import { tone } from '../support/sound.js';
import { until } from '../support/until.js';

const MIB = 1024 * 1024;
const WAV = tone(1);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openGateway();
  const fake = await startFakeMedia();
  await gateway.startAgent({ services: [fake.service('stt', { plain: [] })] });
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

/** Whatever was done to it, the gateway serves others, and keeps nothing. */
afterEach(async () => {
  const body = new FormData();
  body.append('model', 'plain');
  body.append('file', new Blob([new Uint8Array(WAV)]), 'a.wav');
  const headers = { authorization: `Bearer ${gateway.ben.key}` };
  const response = await gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body, headers });
  expect(response.status).toBe(404);
  await until(async () => (await spooled(gateway.dataDir)) === 0, { what: 'no file on disk' });
  const own = await gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body });
  expect(own.status).toBe(200);
});

/** Writes this and then the same piece again and again, until an answer comes. */
async function flood(caller: RawCaller, begin: string, piece: Buffer): Promise<void> {
  caller.socket.write(chunkOf(Buffer.from(begin)));
  const chunk = chunkOf(piece);
  while (!caller.received.includes('\r\n\r\n') && !caller.socket.destroyed) {
    if (!caller.socket.write(chunk)) await Promise.race([once(caller.socket, 'drain'), answered()]);
  }
  async function answered(): Promise<void> {
    await until(() => caller.received.includes('\r\n\r\n') || caller.socket.destroyed);
  }
}

const part = (name: string) =>
  `--gateway-test\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
const filePart = (name: string) => part(name).replace('\r\n\r\n', '; filename="a.wav"\r\n\r\n');

describe('what never ends is ended:', () => {
  it.each([
    ['a field', part('prompt'), 'body_too_large'],
    ['a file', filePart('file') + WAV.toString('latin1'), 'file_too_large'],
    ['a form without a boundary', 'nothing of the kind', 'body_too_large'],
    ['fields', `${part('prompt')}x\r\n${part('x')}`, 'body_too_large'],
  ])('%s', async (_, begin, code) => {
    const caller = beginUpload(gateway);
    await flood(caller, begin, Buffer.alloc(MIB, 'x'));
    expect(await caller.status()).toBe(413);
    await until(() => caller.received.includes(code), { what: code });
    expect(caller.received.toLowerCase()).toContain('connection: close');
  });

  it('the head of a part', async () => {
    const caller = beginUpload(gateway);
    await flood(caller, '--gateway-test\r\nx: ', Buffer.alloc(64 * 1024, 'x'));
    expect(await caller.status()).toBe(400);
    await until(() => caller.received.includes('invalid_multipart'));
    caller.socket.destroy();
  });

  it('a file of which no more comes, when its caller leaves', async () => {
    const caller = beginUpload(gateway, uploadBody(WAV).length);
    caller.socket.write(halfBody(WAV));
    await until(async () => (await spooled(gateway.dataDir)) === 1);
    caller.socket.destroy();
  });
});

async function refusal(text: string) {
  const headers = { 'content-type': 'multipart/form-data; boundary=gateway-test' };
  const body = Buffer.from(text, 'latin1');
  return failureOf(await gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body, headers }));
}

describe('a form is refused', () => {
  const wav = WAV.toString('latin1');
  const short = tone(0.01).toString('latin1');
  const end = '\r\n--gateway-test--\r\n';

  it.each<[string, string, object]>([
    ['with 10,000 fields', `${part('x')}y\r\n`.repeat(10_000), { code: 'invalid_multipart' }],
    [
      'with 1,000 files',
      `${filePart('file')}${short}\r\n`.repeat(1_000),
      { code: 'invalid_multipart' },
    ],
    ['with two files', `${filePart('file')}${wav}\r\n`.repeat(2), { code: 'invalid_value' }],
    ['with a file of another name', filePart('audio') + wav, { code: 'unsupported_value' }],
    [
      'with bytes at random',
      '--gateway-test\r\n\x01\xff: y\r\n\r\n',
      { code: 'invalid_multipart' },
    ],
    ['with heads of nothing', '--gateway-test\r\n\r\nx\r\n'.repeat(100), { param: null }],
  ])('%s', async (_, text, expected) => {
    const failure = await refusal(text + end);
    expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', ...expected });
  });

  it('without a boundary', async () => {
    const headers = { 'content-type': 'multipart/form-data' };
    const init = { method: 'POST', body: uploadBody(WAV), headers };
    const failure = await failureOf(await gateway.fetch(TRANSCRIPTIONS, init));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_multipart' });
  });
});

it('20 callers who send one byte a second keep nobody else waiting', async () => {
  const body = uploadBody(WAV);
  const start = halfBody(WAV);
  const callers = Array.from({ length: 20 }, () => beginUpload(gateway, body.length));
  for (const { socket } of callers) socket.write(start);
  let at = start.length;
  const trickle = setInterval(() => {
    for (const { socket } of callers) socket.write(body.subarray(at, at + 1));
    at += 1;
  }, 1_000);
  onTestFinished(() => clearInterval(trickle));
  await until(async () => (await spooled(gateway.dataDir)) === 20);
  for (let i = 0; i < 5; i++) {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(WAV)]), 'a.wav');
    form.append('model', 'plain');
    const sentAt = performance.now();
    const response = await gateway.fetch(TRANSCRIPTIONS, { method: 'POST', body: form });
    expect(response.status).toBe(200);
    expect(performance.now() - sentAt).toBeLessThan(2_000);
  }
  await until(async () => (await spooled(gateway.dataDir)) === 20);
  for (const { socket } of callers) socket.destroy();
});

it('what a killed coordinator leaves on disk, the next start removes', async () => {
  const { gateway: killed, coordinator } = await startProcessGateway([]);
  const dataDir = `${killed.folder}/data`;
  const caller = beginUpload(
    { address: killed.url, anna: { key: killed.key } },
    uploadBody(WAV).length,
  );
  caller.socket.write(halfBody(WAV));
  await until(async () => (await spooled(dataDir)) === 1);
  coordinator.child.kill('SIGKILL');
  await coordinator.finished;
  expect(await spooled(dataDir)).toBe(1);
  await killed.startCoordinator();
  expect(await spooled(dataDir)).toBe(0);
});
