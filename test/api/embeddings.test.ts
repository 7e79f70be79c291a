/** Embeddings and reranking. */
import type OpenAI from 'openai';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import { sendJson } from '../support/fake-model-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { base64Of, DIMENSIONS, vectorModel, vectorOf } from '../support/vector-model.js';
import { ended, submitBatch } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const EMBEDDINGS = '/v1/embeddings';
const RERANK = '/v1/rerank';
const TEXTS = ['good morning', 'good night', 'bread'];

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ breakerOpenMs: 0 });
  fake = await startFakeOpenAi({ models: ['embedder', 'ranker'] });
  const service = { baseUrl: fake.baseUrl };
  await gateway.startAgent({
    services: [
      { ...service, id: 'vectors', type: 'embedding', models: [modelOf('embedder')] },
      { ...service, id: 'ranks', type: 'rerank', models: [modelOf('ranker')] },
    ],
  });
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

beforeEach(() => fake.behave(vectorModel()));

function modelOf(id: string) {
  const unknown = { contextLength: null, inputModalities: null, supportedFeatures: null };
  return { id, servedName: `${id}-served`, ...unknown };
}

const embed = (fields: object = {}) =>
  post(gateway, { model: 'embedder', input: TEXTS, ...fields }, { path: EMBEDDINGS });

const rerank = (fields: object = {}, path = RERANK) =>
  post(gateway, { model: 'ranker', query: 'good night', documents: TEXTS, ...fields }, { path });

/** What the local server was asked for, by each of its requests. */
const sent = () => fake.requests.filter(({ body }) => 'input' in body || 'documents' in body);

interface Embeddings {
  readonly data: readonly { readonly index: number; readonly embedding: unknown }[];
  readonly model: string;
  readonly usage: object;
}

async function embeddingsOf(response: Response): Promise<Embeddings> {
  const body = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body as Embeddings;
}

async function vectorsOf(response: Response): Promise<unknown[]> {
  const { data } = await embeddingsOf(response);
  expect(data.map(({ index }) => index)).toEqual([...data.keys()]);
  return data.map(({ embedding }) => embedding);
}

describe.each(STOCK_CLIENTS)('embeddings.create of $version', ({ Sdk }) => {
  let client: OpenAI;
  beforeAll(() => {
    client = connect(Sdk, gateway);
  });

  it.each([
    ['a text', 'good morning', ['good morning']],
    ['texts', TEXTS, TEXTS],
  ])('%s', async (_, input, texts) => {
    const { data, model, usage } = await client.embeddings.create({ model: 'embedder', input });
    expect(data.map(({ embedding }) => embedding)).toEqual(texts.map(vectorOf));
    expect(model).toBe('embedder');
    expect(usage.prompt_tokens).toBeGreaterThan(0);
  });

  it('asks for base64, and gets the same numbers from a server without it', async () => {
    for (const base64 of ['ignores', 'refuses'] as const) {
      fake.behave(vectorModel({ base64 }));
      const { data } = await client.embeddings.create({ model: 'embedder', input: TEXTS });
      expect(data.map(({ embedding }) => embedding)).toEqual(TEXTS.map(vectorOf));
    }
  });
});

describe('POST /v1/embeddings', () => {
  it('passes the model server its own name, and nothing for the gateway', async () => {
    await embed({ user: 'u' });
    const { body } = sent().at(-1) ?? { body: {} };
    expect(body).toEqual({
      model: 'embedder-served',
      input: TEXTS,
      encoding_format: 'float',
      user: 'u',
    });
  });

  it('answers numbers by default, and base64 of 32-bit floats if asked', async () => {
    expect(await vectorsOf(await embed())).toEqual(TEXTS.map(vectorOf));
    const base64 = await vectorsOf(await embed({ encoding_format: 'base64' }));
    expect(base64).toEqual(TEXTS.map((text) => base64Of(vectorOf(text))));
  });

  it('numbers from a server that always answers base64', async () => {
    fake.behave((_, response) => {
      const data = TEXTS.map((text, index) => ({ index, embedding: base64Of(vectorOf(text)) }));
      sendJson(response, 200, { data });
    });
    expect(await vectorsOf(await embed())).toEqual(TEXTS.map(vectorOf));
  });

  it('keeps the order of the inputs', async () => {
    fake.behave(vectorModel({ isShuffled: true }));
    expect(await vectorsOf(await embed())).toEqual(TEXTS.map(vectorOf));
  });

  it('takes token ids, one list and several', async () => {
    expect(await vectorsOf(await embed({ input: [1, 2, 3] }))).toEqual([vectorOf([1, 2, 3])]);
    const lists = [[1, 2], [3]];
    expect(await vectorsOf(await embed({ input: lists }))).toEqual(lists.map(vectorOf));
  });

  it('takes 2,048 inputs', async () => {
    const input = Array.from({ length: 2_048 }, (_, i) => `text ${i}`);
    expect(await vectorsOf(await embed({ input }))).toEqual(input.map(vectorOf));
  });

  it('tells tokens: those of the server, else an estimate that says so', async () => {
    const counted = await embeddingsOf(await embed());
    expect(counted.usage).toEqual({ prompt_tokens: 5, total_tokens: 5 });
    fake.behave(vectorModel({ counts: false }));
    const response = await embed();
    expect(response.headers.get('x-usage')).toBe('estimated');
    expect((await embeddingsOf(response)).usage).toMatchObject({ estimated: true });
  });

  it.each<[object, string]>([
    [{ input: undefined }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', ''] }, 'input[1]'],
    [{ input: ['a', 7] }, 'input[1]'],
    [{ input: [[1], ['a']] }, 'input[1][0]'],
    [{ input: { text: 'a' } }, 'input'],
    [{ input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
    [{ encoding_format: 'int8' }, 'encoding_format'],
    [{ dimensions: 0 }, 'dimensions'],
    [{ dimensions: 1.5 }, 'dimensions'],
    [{ Input: 'a' }, 'Input'],
  ])('%# a bad request is 400 and names %s', async (fields, param) => {
    expect(await failureOf(await embed(fields))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param,
    });
  });

  it('checks the dimensions that the model made', async () => {
    expect(await vectorsOf(await embed({ dimensions: DIMENSIONS }))).toHaveLength(TEXTS.length);
    const wrong = await failureOf(await embed({ dimensions: 2, encoding_format: 'base64' }));
    expect(wrong).toMatchObject({ status: 400, param: 'dimensions' });
    expect(wrong.message).toContain(`${DIMENSIONS} numbers`);
  });

  it.each<[string, unknown]>([
    ['too few', { data: [{ index: 0, embedding: [1] }] }],
    ['the same twice', { data: TEXTS.map(() => ({ index: 0, embedding: [1] })) }],
    ['no list', { data: 'none' }],
    ['lists of lists', { data: TEXTS.map((_, index) => ({ index, embedding: [[1]] })) }],
    ['an object', { data: TEXTS.map((_, index) => ({ index, embedding: {} })) }],
  ])('an answer with %s is an error of the provider', async (_, answer) => {
    fake.behave((_request, response) => sendJson(response, 200, answer));
    expect(await failureOf(await embed())).toMatchObject({ status: 502, type: 'upstream_error' });
  });

  it('a chat model is no embedding model, and the other way round', async () => {
    const chat = { model: 'embedder', messages: [{ role: 'user', content: 'x' }] };
    expect(await failureOf(await post(gateway, chat))).toMatchObject({ status: 404 });
    expect(await failureOf(await embed({ model: 'ranker' }))).toMatchObject({ status: 404 });
  });
});

describe('POST /v1/rerank', () => {
  interface Ranking {
    readonly results: readonly { readonly index: number; readonly document?: object }[];
  }
  const ranked = async (response: Response): Promise<Ranking> => {
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as Ranking;
  };

  it('answers the documents, the best first', async () => {
    const ranking = await ranked(await rerank());
    expect(ranking).toEqual({
      object: 'list',
      model: 'ranker',
      results: [
        { index: 1, relevance_score: 1 },
        { index: 0, relevance_score: 0.5 },
        { index: 2, relevance_score: 0 },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
  });

  it('top_n, and the documents themselves', async () => {
    const documents = TEXTS.map((text) => ({ text }));
    const asked = { documents, top_n: 1, return_documents: true };
    const { results } = await ranked(await rerank(asked));
    expect(results).toEqual([{ index: 1, relevance_score: 1, document: { text: 'good night' } }]);
    expect(sent().at(-1)?.body['documents']).toEqual(TEXTS);
  });

  it('is also at /v2/rerank, as Cohere’s', async () => {
    const response = await rerank({}, '/v2/rerank');
    expect((await ranked(response)).results).toHaveLength(3);
    const stranger = await fetch(`${gateway.address}/v2/rerank`, { method: 'POST', body: '{}' });
    expect(stranger.status).toBe(401);
  });

  it.each<[object, string]>([
    [{ query: undefined }, 'query'],
    [{ query: '' }, 'query'],
    [{ documents: undefined }, 'documents'],
    [{ documents: [] }, 'documents'],
    [{ documents: ['a', 7] }, 'documents[1]'],
    [{ top_n: 0 }, 'top_n'],
  ])('%# a bad request is 400 and names %s', async (fields, param) => {
    expect(await failureOf(await rerank(fields))).toMatchObject({ status: 400, param });
  });

  it('an answer without a score for each is an error of the provider', async () => {
    fake.behave(reply(200, { results: [{ index: 0, relevance_score: 1 }] }));
    expect(await failureOf(await rerank())).toMatchObject({ status: 502 });
  });
});

describe('as jobs', () => {
  it.each([
    ['EMBEDDING', EMBEDDINGS, { model: 'embedder', input: TEXTS }],
    ['RERANK', RERANK, { model: 'ranker', query: 'good', documents: TEXTS }],
  ])('%s: async, and in a batch', async (type, endpoint, body) => {
    const accepted = await post(gateway, { ...body, async: true }, { path: endpoint });
    expect(accepted.status).toBe(202);
    const job = (await accepted.json()) as JobBody;
    expect(job).toMatchObject({ inference_type: type, endpoint });
    expect((await ended(gateway, job.id)).result).toMatchObject({ object: 'list' });
    const created = await submitBatch(gateway, [{ endpoint, body }]);
    const { id } = (await created.json()) as BatchBody;
    const batch = (await (await gateway.fetch(`/v1/batches/${id}`)).json()) as BatchBody;
    const [item] = batch.jobs ?? [];
    expect((await ended(gateway, item?.id ?? '')).status).toBe('PROCESSED');
  });
});

it('GET /models lists them with their service type', async () => {
  const { data } = (await (await gateway.fetch('/v1/models')).json()) as { data: object[] };
  expect(data).toMatchObject([
    { id: 'embedder', service_type: 'embedding', output_modalities: ['embedding'] },
    { id: 'ranker', service_type: 'rerank', output_modalities: ['score'] },
  ]);
});
