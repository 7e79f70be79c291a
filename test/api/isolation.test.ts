import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { administer, chat, failureOf, post } from './requests.js';

let gateway: TestGateway;
let annas: FakeModelServer;
let bens: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway({ reconnectWaitMs: 50 });
  annas = await startFakeOpenAi({ models: ['tiny', 'annas-secret-model'] });
  bens = await startFakeOpenAi({ models: ['tiny'] });
  await gateway.startAgent({ services: [{ baseUrl: annas.baseUrl }] });
  await gateway.startAgent({
    name: 'bens-pc',
    owner: gateway.ben,
    services: [{ baseUrl: bens.baseUrl }],
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([annas.close(), bens.close()]);
});

/** The error that Ben gets for this model, without the model's name. */
async function refusalOf(model: string) {
  const sent = await post(gateway, chat({ model }), { headers: asBen() });
  const { message, ...failure } = await failureOf(sent);
  return { ...failure, message: message.replaceAll(model, 'M') };
}

const asBen = () => ({ authorization: `Bearer ${gateway.ben.key}` });

describe('models and providers visible to a call depend on the authenticated caller', () => {
  it('Ben’s list holds his own models alone', async () => {
    const response = await gateway.fetch('/v1/models', { headers: asBen() });
    const { data } = (await response.json()) as { data: { id: string; owned_by: string }[] };
    expect(data).toMatchObject([{ id: 'tiny', owned_by: 'Ben' }]);
    expect(data).toHaveLength(1);
  });

  it('a model of Anna’s is the same to Ben as one that is not there', async () => {
    const foreign = await refusalOf('annas-secret-model');
    expect(foreign).toEqual(await refusalOf('nobodys-other-model'));
    expect(foreign).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
  });

  it('and so it is by its id', async () => {
    const response = await gateway.fetch('/v1/models/annas-secret-model', { headers: asBen() });
    expect(await failureOf(response)).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('no hint names a model of somebody else’s', async () => {
    const body = chat({ model: 'annas-secret-modal' });
    const sent = await post(gateway, body, { headers: asBen() });
    const { message } = await failureOf(sent);
    expect(message.replaceAll('annas-secret-modal', '')).not.toContain('annas');
    expect(message).toContain("'tiny'");
  });

  it('a model of one name goes to the caller’s own machine', async () => {
    const before = annas.requests.length;
    const response = await post(gateway, chat(), { headers: asBen() });
    expect(response.headers.get('x-provider')).toBe('bens-pc');
    expect(bens.requests).toHaveLength(1);
    expect(annas.requests).toHaveLength(before);
    expect((await post(gateway, chat())).headers.get('x-provider')).toBe('den-pc');
  });

  it('nor by time: only a caller who may use a lost provider waits for it', async () => {
    const own = await startGateway({ reconnectWaitMs: 60_000 });
    const agent = await connectRawAgent(own.address, await own.anna.enroll('den-pc'));
    agent.socket.terminate();
    const departure = new AbortController();
    const { signal } = departure;
    const [annas, bens] = [own.anna, own.ben].map(({ key }) =>
      post(own, chat({ model: 'm' }), { headers: { authorization: `Bearer ${key}` }, signal }).then(
        ({ status }) => status,
        () => 'left',
      ),
    );
    expect(await bens).toBe(404);
    departure.abort();
    expect(await annas).toBe('left');
  });

  it('owned_by is never an e-mail address', async () => {
    const text = await (await gateway.fetch('/v1/models')).text();
    expect(text).not.toContain('@');
  });
});

describe('x-provider-scope', () => {
  it.each(['own', 'any'])('%s reaches the caller’s own machines', async (scope) => {
    const headers = { 'x-provider-scope': scope };
    const response = await post(gateway, chat(), { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-provider')).toBe('den-pc');
  });

  it('anything else is 400 invalid_value', async () => {
    const headers = { 'x-provider-scope': 'everybody' };
    const failure = await failureOf(await post(gateway, chat(), { headers }));
    expect(failure).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'x-provider-scope',
    });
    expect(failure.message).toContain("'everybody'");
  });

  it('a key whose setting is own works for the caller’s own machines', async () => {
    const args = { user: 'Anna', name: 'private', scope: 'own', expires_in_s: null };
    const { key } = await administer(gateway, 'key.create', args);
    const headers = { authorization: `Bearer ${String(key)}`, 'x-provider-scope': 'any' };
    expect((await post(gateway, chat(), { headers })).status).toBe(200);
  });
});
