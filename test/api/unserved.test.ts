import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { openServedGateway } from '../support/served-gateway.js';
import { CHAT, chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

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
