/** Embeddings and reranking of every backend that has them. */
import type { Backend, LocalCall } from '@inference-gateway/agent/backends/backend';
import { readVectors } from '@inference-gateway/agent/backends/openai/vectors';
import { MODALITIES } from '@inference-gateway/agent/backends/advertise';
import { describe, expect, test } from 'vitest';
import { hangBeforeHeaders } from '../../support/fake-behaviours.js';
import { startTei, TEI_MOST } from '../../support/local-servers/tei.js';
import { until } from '../../support/until.js';
import { vectorOf } from '../../support/vector-model.js';
import { chat, parse } from './conformance-stage.js';
import { describeAt } from './dialect-stage.js';
import { VECTOR_KINDS } from './vector-kinds.js';
import type { VectorKind } from './vector-kinds.js';

const TEXTS = ['good morning', 'good night'];

/** A call of its model, whose name for callers is another one. */
function callOf({ type, models }: VectorKind, fields: object = {}): LocalCall {
  const [served_name = ''] = models;
  const asked = type === 'embedding' ? { input: TEXTS } : { query: 'good night', documents: TEXTS };
  const call = chat({}, { id: 'public', served_name });
  const endpoint = type === 'embedding' ? 'embeddings' : 'rerank';
  return { ...call, endpoint, body: { model: 'public', ...asked, ...fields } };
}

interface Answer {
  readonly model: string;
  readonly data?: readonly { readonly embedding: unknown }[];
  readonly results?: readonly { readonly index: number }[];
}

async function asked(backend: Backend, call: LocalCall): Promise<Answer> {
  return parse(await backend.call(call)) as Answer;
}

describe.each(VECTOR_KINDS)('$backend, $type', (kind) => {
  const { backend: name, type, path, start, models } = kind;

  test('lists its models of this type alone', async () => {
    const described = await describeAt(start(), { backend: name, type, path });
    expect(described.ids).toEqual(models);
    const { input, output } = MODALITIES[type];
    for (const model of described.models) {
      expect(model).toMatchObject({ input_modalities: [input], output_modalities: [output] });
    }
  });

  test('answers under the name that callers use, with the tokens', async () => {
    const { backend, fake } = await describeAt(start(), { backend: name, type, path });
    const answer = await asked(backend, callOf(kind));
    expect(answer.model).toBe('public');
    expect(fake.lastRequest.body['model']).toBe(models[0]);
    if (type === 'embedding') {
      expect(answer.data?.map(({ embedding }) => embedding)).toEqual(TEXTS.map(vectorOf));
    } else expect(answer.results?.map(({ index }) => index)).toEqual([1, 0]);
  });

  test('stops when its caller leaves', async () => {
    const { backend, fake } = await describeAt(start(), { backend: name, type, path });
    fake.behave(hangBeforeHeaders());
    const leaving = new AbortController();
    const asking = backend.call({ ...callOf(kind), signal: leaving.signal });
    await until(() => fake.inFlight === 1);
    leaving.abort(new Error('the caller left'));
    await expect(asking).rejects.toThrow('the caller left');
    await until(() => fake.inFlight === 0);
  });
});

describe('text-embeddings-inference', () => {
  const many = Array.from({ length: 2 * TEI_MOST + 1 }, (_, i) => `text ${i}`);

  test('gets a long list in portions that it takes, as one answer', async () => {
    const kind = VECTOR_KINDS.find(({ backend }) => backend === 'tei') as VectorKind;
    const { backend, fake } = await describeAt(startTei(), { backend: 'tei', type: 'embedding' });
    const { data } = await asked(backend, callOf(kind, { input: many }));
    expect(data?.map(({ embedding }) => embedding)).toEqual(many.map(vectorOf));
    expect(fake.requests.map(({ body }) => (body['input'] as string[]).length)).toEqual([
      TEI_MOST,
      TEI_MOST,
      1,
    ]);
  });

  test('ranks a long list in portions, and orders all by their scores', async () => {
    const starting = startTei({ kind: 'reranker' });
    const { backend } = await describeAt(starting, { backend: 'tei', type: 'rerank' });
    const kind: VectorKind = { ...VECTOR_KINDS[0], type: 'rerank', models: ['m'] } as VectorKind;
    const documents = [...many, 'the one'];
    const call = callOf(kind, { query: 'the one', documents, top_n: 1 });
    expect((await asked(backend, call)).results).toMatchObject([{ index: many.length }]);
  });
});

test('vectors are read with any blanks, in any order of a row’s fields, and kept as bytes', () => {
  const json = `{ "object": "list", "data": [
    {"object": "embedding", "embedding" : [1, 2.50, -3e-2], "index": 1},
    {"index": 0, "embedding":\t"AAAA", "object": "embedding"}
  ], "usage": {"prompt_tokens": 3, "total_tokens": 3}}`;
  const { vectors, usage } = readVectors(Buffer.from(json));
  expect(vectors.map(String)).toEqual(['"AAAA"', '[1, 2.50, -3e-2]']);
  expect(usage).toMatchObject({ prompt_tokens: 3 });
});

test.each(['', '[]', '{"data":[{"embedding":', '{"data":[{"embedding":[1', '{"data":[{}]}'])(
  '%j is an error',
  (json) => {
    expect(() => readVectors(Buffer.from(json))).toThrow('something else than vectors');
  },
);
