import { newSecret } from '@inference-gateway/shared/ids';
import { beforeAll, describe, expect, it, test } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { openServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { readMy } from './console-calls.js';
import { accepted, BATCHES, chatItem, getJson, submit, submitBatch } from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { CHAT, chat, failureOf, post } from './requests.js';
import { Circle } from './sharing-stage.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';
import { visit } from './visitor.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

/** Bodies with everything that an endpoint requires except the model. */
const JSON_ENDPOINTS = [
  ['/v1/audio/speech', 'tts', { input: 'x' }],
  ['/v1/images/generations', 'image', { prompt: 'x' }],
  ['/v1/videos/generations', 'video', { prompt: 'x' }],
  ['/v1/music/generations', 'music', { prompt: 'x' }],
] as const;

const NOT_FOUND = { status: 404, type: 'no_provider', code: 'model_not_found', param: 'model' };

describe('a request is routed only to a provider whose service matches the endpoint’s type', () => {
  it.each(JSON_ENDPOINTS)('POST %s with a text model is 404', async (path, type, body) => {
    const failure = await failureOf(await post(gateway, { ...body, model: 'tiny' }, { path }));
    expect(failure).toMatchObject(NOT_FOUND);
    expect(failure.message).toContain(`'tiny' as ${type}`);
  });

  it('GET /v1/audio/voices with a text model is 404', async () => {
    const failure = await failureOf(await gateway.fetch('/v1/audio/voices?model=tiny'));
    expect(failure).toMatchObject(NOT_FOUND);
  });

  it('an image model answers no chat and no completion', async () => {
    await connectMediaAgent(gateway, { type: 'image', name: 'sd-pc' });
    for (const path of [CHAT, '/v1/completions']) {
      const body = { ...chat({ model: 'm' }), prompt: 'x' };
      const failure = await failureOf(await post(gateway, body, { path }));
      expect(failure).toMatchObject(NOT_FOUND);
      expect(failure.message).toContain("'m' as llm");
    }
  });

  it('none of them reaches the local server', () => {
    expect(fake.requests).toEqual([]);
  });
});

describe('the model is required', () => {
  const MISSING = { status: 400, code: 'missing_required_parameter', param: 'model' };

  it.each(JSON_ENDPOINTS)('POST %s', async (path, _type, body) => {
    expect(await failureOf(await post(gateway, body, { path }))).toMatchObject(MISSING);
  });

  it('GET /v1/audio/voices', async () => {
    expect(await failureOf(await gateway.fetch('/v1/audio/voices'))).toMatchObject(MISSING);
  });
});

it.each(JSON_ENDPOINTS)('a non-boolean async on POST %s is 400', async (path, _type, body) => {
  const asked = { ...body, model: 'tiny', async: 1 };
  const failure = await failureOf(await post(gateway, asked, { path }));
  expect(failure).toMatchObject({ status: 400, code: 'invalid_type', param: 'async' });
});

describe.each(STOCK_CLIENTS)('$version raises NotFoundError', ({ Sdk }) => {
  const client = () => connect(Sdk, gateway);

  it.each<[string, () => Promise<unknown>]>([
    [
      'for speech',
      () => client().audio.speech.create({ model: 'kokoro', input: 'hi', voice: 'alloy' }),
    ],
    ['for an image', () => client().images.generate({ model: 'sd', prompt: 'a cat' })],
  ])('%s', async (_, call) => {
    const failure = await call().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.NotFoundError);
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });
});

test('what three members of a network ask for in vain is wanted there, without names', async () => {
  const circle = new Circle(gateway);
  const [cleo, dora] = [await circle.newcomer('Cleo'), await circle.newcomer('Dora')];
  const { id: network } = await gateway.admin('network.create', { name: 'club', owner: 'Ben' });
  for (const member of ['Cleo', 'Dora']) await gateway.admin('network.add', { network, member });
  const visitor = await visit(gateway, gateway.ben.email);
  const wanted = () => readMy(visitor, 'model.wanted', {});
  const member = { ben: circle.ben, cleo, dora };
  // Anna has `tiny`, and shares it with nobody.
  for (const who of Object.values(member)) {
    expect((await post(who, chat({ model: 'tiny' }))).status).toBe(404);
    expect((await post(who, chat({ model: newSecret('gwk') }))).status).toBe(404);
  }
  expect((await post(circle.ben, chat({ model: 'qwen3:8b' }))).status).toBe(404);
  expect((await submit(cleo, { model: 'qwen3:8b' })).status).toBe(404);
  expect(await wanted()).toEqual([]);
  // A batch takes what nobody serves; the job fails then.
  const item = chatItem({ model: 'qwen3:8b' });
  const { id } = await accepted<BatchBody>(await submitBatch(dora, [item]));
  await until(async () => (await getJson<BatchBody>(dora, `${BATCHES}/${id}`)).failed === 1);
  expect(await wanted()).toEqual([{ model: 'qwen3:8b', members: 3 }]);
  expect(await readMy(await visit(gateway, gateway.anna.email), 'model.wanted', {})).toEqual([]);
});
