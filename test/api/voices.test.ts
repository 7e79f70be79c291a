import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { failureOf, remaining } from './requests.js';

const PATH = '/v1/audio/voices';

/** The voices of the model `m`, for Anna or for another key's member. */
async function voicesOf(own: TestGateway, key = own.anna.key): Promise<unknown> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await own.fetch(`${PATH}?model=m`, { headers });
  return ((await response.json()) as { voices?: unknown }).voices;
}

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  const voices = ['af_sky', 'af_bella'];
  ({ fake } = await startStudio(gateway, { types: ['tts', 'image'], voices }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

describe('Response 200: voice list', () => {
  it('{voices: [string]}, as the local server names them', async () => {
    const response = await gateway.fetch(`${PATH}?model=kokoro`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ voices: ['af_sky', 'af_bella'] });
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(response.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  });

  it('is answered from memory: the local server sees no request', async () => {
    const before = [fake.gets.length, fake.requests.length];
    for (let i = 0; i < 5; i++) await gateway.fetch(`${PATH}?model=kokoro`);
    expect([fake.gets.length, fake.requests.length]).toEqual(before);
  });

  it('HEAD tells the same without the list', async () => {
    const response = await gateway.fetch(`${PATH}?model=kokoro`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('counts as a request', async () => {
    const before = await remaining(gateway);
    await gateway.fetch(`${PATH}?model=kokoro`);
    expect(await remaining(gateway)).toBe(before - 1);
  });
});

describe('the list is the union of what the caller’s providers have', () => {
  it('each voice once', async () => {
    const own = await startGateway();
    await connectMediaAgent(own, { type: 'tts', name: 'a-pc', model: { voices: ['ann', 'bob'] } });
    await connectMediaAgent(own, { type: 'tts', name: 'b-pc', model: { voices: ['bob', 'cat'] } });
    await connectMediaAgent(own, { type: 'tts', name: 'c-pc' });
    expect(await voicesOf(own)).toEqual(['ann', 'bob', 'cat']);
  });

  it('and of nobody else’s', async () => {
    const own = await startGateway();
    const { ben } = own;
    await connectMediaAgent(own, { type: 'tts', name: 'a-pc', model: { voices: ['ann'] } });
    const theirs = { type: 'tts', name: 'b-pc', owner: ben, model: { voices: ['ben'] } } as const;
    await connectMediaAgent(own, theirs);
    expect(await voicesOf(own)).toEqual(['ann']);
    expect(await voicesOf(own, ben.key)).toEqual(['ben']);
  });

  it('is empty where no server tells its voices', async () => {
    const own = await startGateway();
    await connectMediaAgent(own, { type: 'tts' });
    expect(await voicesOf(own)).toEqual([]);
  });

  it('leaves out a provider that is gone, or takes no work', async () => {
    const own = await startGateway({ reconnectWaitMs: 0 });
    const a = { type: 'tts', name: 'a-pc', model: { voices: ['ann'] } } as const;
    const b = { type: 'tts', name: 'b-pc', model: { voices: ['bob'] } } as const;
    const paused = await connectMediaAgent(own, a);
    const leaving = await connectMediaAgent(own, b);
    expect(await voicesOf(own)).toEqual(['ann', 'bob']);
    leaving.socket.close();
    await until(async () => JSON.stringify(await voicesOf(own)) === '["ann"]');
    paused.send({ t: 'HEARTBEAT', seq: 1, slots: [], claims: [], accepts: 'none' });
    await paused.first('HEARTBEAT_OK');
    const gone = await failureOf(await own.fetch(`${PATH}?model=m`));
    expect(gone).toMatchObject({ status: 404, type: 'no_provider', code: 'model_offline' });
    expect(gone.message).toContain("'m' is draining or paused");
    const headers = { authorization: `Bearer ${own.ben.key}` };
    const hidden = await failureOf(await own.fetch(`${PATH}?model=m`, { headers }));
    expect(hidden).toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('Errors: 401, 404', () => {
  it('401 without a key, with or without a model', async () => {
    for (const query of ['', '?model=kokoro']) {
      const response = await fetch(gateway.address + PATH + query);
      expect(await failureOf(response)).toMatchObject({ status: 401, code: 'missing_api_key' });
    }
  });

  it.each(['', '?model='])('400 without a model: %s', async (query) => {
    const failure = await failureOf(await gateway.fetch(PATH + query));
    expect(failure).toMatchObject({ status: 400, param: 'model' });
    expect(failure.message).not.toContain('body');
  });

  it('404 of an unknown model, with one that is near', async () => {
    const failure = await failureOf(await gateway.fetch(`${PATH}?model=kokoru`));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_not_found' });
    expect(failure.message).toContain("'kokoro'");
  });

  it('404 of a model of another type', async () => {
    const failure = await failureOf(await gateway.fetch(`${PATH}?model=sd`));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', param: 'model' });
    expect(failure.message).toContain("'sd' as tts");
  });

  it('405 of a POST', async () => {
    const response = await gateway.fetch(`${PATH}?model=kokoro`, { method: 'POST' });
    expect(response.headers.get('allow')).toContain('GET');
    expect(await failureOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });
});
