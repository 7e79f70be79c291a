/** What every backend does that serves sounds or images, whichever local server it speaks to. */
import { createHash } from 'node:crypto';
import { MODALITIES } from '@inference-gateway/agent/backends/advertise';
import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type { LocalAnswer } from '@inference-gateway/agent/backends/backend';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { describe, expect, test } from 'vitest';
import { documentOf, drain, errorOf } from '../../support/local-call.js';
import type { DrainedFile } from '../../support/local-call.js';
import { send } from '../../support/recording-server.js';
import type { Handler, RecordedRequest } from '../../support/recording-server.js';
import { MEDIA_KINDS } from './media-kinds.js';

const diesMidAnswer: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"text": "lar', () => response.destroy());
};

describe.each(MEDIA_KINDS)('the backend of $name', (kind) => {
  const { endpoint, path, apiKey, authorization } = kind;
  const isSpoken = endpoint === 'transcriptions';

  test('describes its models', async () => {
    const { backend } = await kind.start();
    const { models, slots } = await backend.describe(AbortSignal.timeout(2_000));
    expect(models.length).toBeGreaterThan(0);
    const { output } = MODALITIES[kind.type];
    for (const model of models) {
      expect(model.id).not.toBe('');
      expect(model.output_modalities).toEqual([output]);
    }
    expect(slots ?? 1).toBeGreaterThanOrEqual(1);
  });

  test('describes exactly the configured models', async () => {
    const facts = { contextLength: null, inputModalities: null };
    const mine = { id: 'mine', servedName: 'tiny', supportedFeatures: ['special'], ...facts };
    const { backend } = await kind.start({ models: [mine] });
    const { models } = await backend.describe(AbortSignal.timeout(2_000));
    expect(models).toMatchObject([{ id: 'mine', supported_features: ['special'] }]);
  });

  test('answers in the one form that the coordinator reads', async () => {
    const { backend, call } = await kind.start();
    const answer = await backend.call(call());
    if (isSpoken) {
      expect(answer).toMatchObject({ kind: 'document', status: 200 });
      const duration: unknown = kind.tellsDuration ?? expect.any(Number);
      const told = { text: 'large round could', language: 'en', duration };
      expect({ duration: false, ...documentOf(answer) }).toMatchObject(told);
      return;
    }
    const files = await drain(answer);
    const family = ENDPOINTS[endpoint].media;
    expect(files).toHaveLength(1);
    expect(files[0]?.contentType).toMatch(new RegExp(`^${family}/`));
    expect(files[0]?.bytes.length).toBeGreaterThan(50);
  });

  test('serves nothing of another type', async () => {
    const { backend, server, call } = await kind.start();
    const answer = await backend.call(call({ endpoint: kind.foreign, uploads: [] }));
    expect(answer).toMatchObject({ kind: 'document', status: 404 });
    expect(errorOf(answer)).toMatchObject({ code: 'model_not_found' });
    expect(server.requests).toEqual([]);
  });

  test('an error comes as an error document that says what happened', async () => {
    const { backend, call, behave } = await kind.start();
    behave((_request, response) => send(response, 500, { error: 'the card is out of memory' }));
    const answer = await backend.call(call());
    expect(answer).toMatchObject({ kind: 'document', status: 500 });
    expect(errorOf(answer)).toMatchObject({ message: 'the card is out of memory' });
  });

  test('a refused connection is told apart', async () => {
    const { backend, server, call } = await kind.start();
    await server.close();
    const unreachable = { code: 'LOCAL_UNREACHABLE' };
    await expect(backend.call(call())).rejects.toMatchObject(unreachable);
    await expect(backend.describe(AbortSignal.timeout(2_000))).rejects.toMatchObject(unreachable);
  });

  test('a local server that dies in the middle of its answer is a failure', async () => {
    const { backend, call, behave } = await kind.start();
    behave(diesMidAnswer);
    const failure = await backend.call(call()).then(readAll).catch(identity);
    expect(failure).toBeInstanceOf(LocalFailure);
    expect(failure).toMatchObject({ code: 'LOCAL_ERROR' });
  });

  test('shows the owner’s key, and no header but ours', async () => {
    const { backend, server, call } = await kind.start({ apiKey });
    await backend.describe(AbortSignal.timeout(2_000));
    await readAll(await backend.call(call()));
    for (const request of server.requests) {
      expect(request.headers.authorization, request.path).toBe(authorization);
    }
    const [request] = posted(server.requests, path);
    const allowed = ['host', 'connection', 'content-type', 'accept-encoding', 'authorization'];
    const length = request?.headers['content-length'] === undefined ? 'transfer-encoding' : LENGTH;
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([...allowed, length].toSorted());
  });
});

const UPLOAD_KINDS = MEDIA_KINDS.filter(({ endpoint }) => ENDPOINTS[endpoint].uploads.length > 0);

test.each(UPLOAD_KINDS)('a file arrives byte for byte through $name', async (kind) => {
  const { backend, server, call } = await kind.start();
  const sent = call();
  const bytes = await wholeOf(call().uploads[0]?.read());
  await readAll(await backend.call(sent));
  const [request] = posted(server.requests, kind.path);
  expect(hash(await fileOf(request))).toBe(hash(bytes));
  expect(bytes.length).toBeGreaterThan(50);
});

const LENGTH = 'content-length';
const identity = (error: unknown): unknown => error;
const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function posted(requests: readonly RecordedRequest[], path: string): RecordedRequest[] {
  return requests.filter((request) => request.method === 'POST' && request.path === path);
}

async function readAll(answer: LocalAnswer): Promise<DrainedFile[]> {
  return answer.kind === 'media' ? drain(answer) : [];
}

async function wholeOf(pieces: AsyncIterable<Uint8Array> = noPieces()): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

/** The file of a form, or of A1111's JSON. */
async function fileOf(request: RecordedRequest | undefined): Promise<Buffer> {
  if (request === undefined) throw new Error('nothing was posted');
  const type = request.headers['content-type'] ?? '';
  if (type === 'application/json') {
    const sent = JSON.parse(request.body.toString()) as { init_images: string[] };
    return Buffer.from(sent.init_images[0] ?? '', 'base64');
  }
  const headers = { 'content-type': type };
  const form = await new Response(new Uint8Array(request.body), { headers }).formData();
  const file = [...form.values()].find((value) => value instanceof File);
  if (!(file instanceof File)) throw new Error('the form has no file');
  return Buffer.from(await file.arrayBuffer());
}
