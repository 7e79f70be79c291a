import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { send } from '../support/recording-server.js';
import { tone } from '../support/sound.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';
import { beginUpload, partBehind, spooled, uploadBody } from './upload-caller.js';

const MIB = 1024 * 1024;
const WAV = tone(0.1);
const FILE = Buffer.concat([WAV, randomBytes(4 * MIB)]);
/** What is sent first of a body: enough to be sent on. */
const FIRST = 2 * MIB;

/** A transcription that a local server receives. */
interface Hearing {
  bytes: number;
  isOver: boolean;
  form: FormData | null;
}

interface Ear {
  readonly hearings: Hearing[];
  readonly baseUrl: string;
  /** Cuts the next call after so many bytes. */
  cutAfter: number;
}

/** A local server that shows what has arrived so far. */
async function startEar(): Promise<Ear> {
  const hearings: Hearing[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'GET') return send(response, 200, { object: 'list', data: [] });
    void hear(request).then(
      () => send(response, 200, { text: 'Hello' }),
      () => response.destroy(),
    );
  });
  const hear = async (request: IncomingMessage): Promise<void> => {
    const hearing: Hearing = { bytes: 0, isOver: false, form: null };
    hearings.push(hearing);
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request as AsyncIterable<Buffer>) {
        hearing.bytes += piece.length;
        pieces.push(piece);
        if (hearing.bytes > ear.cutAfter) throw new Error('cut');
      }
      const headers = { 'content-type': request.headers['content-type'] ?? '' };
      hearing.form = await new Response(Buffer.concat(pieces), { headers }).formData();
    } finally {
      hearing.isOver = true;
      ear.cutAfter = Infinity;
    }
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const ear: Ear = { hearings, baseUrl: `http://127.0.0.1:${port}/v1`, cutAfter: Infinity };
  return ear;
}

async function startHome(gateway: TestGateway, name: string): Promise<Ear> {
  const ear = await startEar();
  const facts = { contextLength: null, inputModalities: null, supportedFeatures: [] };
  const models = [{ id: 'plain', servedName: 'plain', ...facts }];
  const services = [{ id: 'stt-0', type: 'stt' as const, baseUrl: ear.baseUrl, slots: 1, models }];
  await gateway.startAgent({ name, services });
  return ear;
}

async function stage() {
  const gateway = await startGateway();
  return { gateway, ear: await startHome(gateway, 'pc') };
}

/** Sends the beginning of the body; `rest` sends what is missing. */
function begin(gateway: TestGateway, body: Buffer) {
  const caller = beginUpload(gateway, body.length);
  caller.socket.write(body.subarray(0, FIRST));
  return { caller, rest: () => void caller.socket.write(body.subarray(FIRST)) };
}

async function fileOf({ form }: Hearing | undefined = { bytes: 0, isOver: false, form: null }) {
  const file = form?.get('file');
  if (!(file instanceof File)) throw new Error('no file was heard');
  return sha256(Buffer.from(await file.arrayBuffer()));
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const arrives = (ear: Ear) => until(() => (ear.hearings[0]?.bytes ?? 0) > 100_000);

test('the local server gets the first bytes before the caller has sent the last', async () => {
  const { gateway, ear } = await stage();
  const { caller, rest } = begin(gateway, uploadBody(FILE));
  await arrives(ear);
  expect(ear.hearings[0]?.isOver).toBe(false);
  rest();
  expect(await caller.status()).toBe(200);
  expect(await fileOf(ear.hearings[0])).toBe(sha256(FILE));
  expect(ear.hearings).toHaveLength(1);
  await until(async () => (await spooled(gateway.dataDir)) === 0);
});

test('a sender that becomes slow gives the slot back, and its call runs later', async () => {
  const { gateway, ear } = await stage();
  const { caller, rest } = begin(gateway, uploadBody(FILE));
  await arrives(ear);
  const other = beginUpload(gateway, uploadBody(WAV).length);
  other.socket.write(uploadBody(WAV));
  expect(await other.status()).toBe(200);
  expect(ear.hearings[0]).toMatchObject({ isOver: true, form: null });
  expect(await fileOf(ear.hearings[1])).toBe(sha256(WAV));
  rest();
  expect(await caller.status()).toBe(200);
  expect(caller.received).toContain('x-attempts: 1');
  expect(await fileOf(ear.hearings[2])).toBe(sha256(FILE));
  await until(() => usageRows(gateway).length === 2);
});

test('a sender that is slow from the beginning is waited for', async () => {
  const { gateway, ear } = await stage();
  const body = uploadBody(FILE.subarray(0, MIB));
  const caller = beginUpload(gateway, body.length);
  for (let at = 0; at < body.length; at += 64 * 1024) {
    expect(ear.hearings).toEqual([]);
    caller.socket.write(body.subarray(at, at + 64 * 1024));
    await pause(50);
  }
  expect(await caller.status()).toBe(200);
  expect(await fileOf(ear.hearings[0])).toBe(sha256(FILE.subarray(0, MIB)));
});

test('a provider that fails in the middle is replaced, and the other gets all of it', async () => {
  const gateway = await startGateway();
  const ears = [await startHome(gateway, 'a-pc'), await startHome(gateway, 'b-pc')];
  for (const ear of ears) ear.cutAfter = 500_000;
  const { caller, rest } = begin(gateway, uploadBody(FILE));
  const first = await until(() => ears.find(({ hearings }) => hearings[0]?.isOver));
  const second = ears.find((ear) => ear !== first);
  if (second === undefined) throw new Error('there is one home only');
  second.cutAfter = Infinity;
  await arrives(second);
  rest();
  expect(await caller.status()).toBe(200);
  expect(caller.received).toContain('x-attempts: 2');
  expect(await fileOf(second.hearings[0])).toBe(sha256(FILE));
});

test('a field behind the file is heard, too', async () => {
  const { gateway, ear } = await stage();
  const body = uploadBody(FILE, partBehind('language', 'en'));
  const { caller, rest } = begin(gateway, body);
  await arrives(ear);
  rest();
  expect(await caller.status()).toBe(200);
  expect(ear.hearings.map(({ form }) => form?.get('language') ?? null)).toEqual([null, 'en']);
  expect(ear.hearings[0]?.form).toBeNull();
  expect(await fileOf(ear.hearings[1])).toBe(sha256(FILE));
});

test('a form that turns out wrong is refused, and nothing is computed for it', async () => {
  const { gateway, ear } = await stage();
  const body = uploadBody(FILE, partBehind('file', WAV.toString('latin1'), 'b.wav'));
  const { caller, rest } = begin(gateway, body);
  await arrives(ear);
  rest();
  expect(await caller.status()).toBe(400);
  await until(() => ear.hearings[0]?.isOver);
  expect(ear.hearings).toMatchObject([{ form: null }]);
  await until(async () => (await spooled(gateway.dataDir)) === 0);
});

test('a caller who leaves in the middle stops it at once', async () => {
  const { gateway, ear } = await stage();
  const { caller } = begin(gateway, uploadBody(FILE));
  await arrives(ear);
  caller.socket.destroy();
  await until(() => ear.hearings[0]?.isOver, { timeoutMs: 1_000 });
  await until(async () => (await spooled(gateway.dataDir)) === 0);
});

test('with the model behind the file it is sent when it is complete', async () => {
  const { gateway, ear } = await stage();
  const text = uploadBody(FILE, partBehind('model', 'plain')).toString('latin1');
  const body = Buffer.from(text.replace('name="model"', 'name="prompt"'), 'latin1');
  const { caller, rest } = begin(gateway, body);
  await until(async () => (await spooled(gateway.dataDir)) === 1);
  rest();
  expect(await caller.status()).toBe(200);
  expect(ear.hearings).toHaveLength(1);
  expect(await fileOf(ear.hearings[0])).toBe(sha256(FILE));
});

test.each([
  ['is told when its upload is complete', '', 200],
  ['is refused if the form turns out wrong', partBehind('file', 'RIFF', 'b.wav'), 400],
])('a caller whose provider answers before it has the upload %s', async (_, behind, status) => {
  const gateway = await startGateway();
  const agent = await connectMediaAgent(gateway, { type: 'stt', model: { id: 'plain' } });
  const { caller, rest } = begin(gateway, uploadBody(FILE, behind));
  const { stream } = await agent.nextOpen();
  agent.answer(stream, { text: 'Hello' });
  await pause(200);
  expect(caller.received).toBe('');
  rest();
  expect(await caller.status()).toBe(status);
  await until(async () => (await spooled(gateway.dataDir)) === 0);
});
