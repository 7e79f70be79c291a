import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { answerAll, connectMediaAgent } from '../support/media-agent.js';
import { make, sendFile, SPEECH, startStudio } from '../support/studio.js';
import { usageOf } from '../support/usage-rows.js';
import { bytesOf, listAssets, speak } from './media-calls.js';
import { failureOf } from './requests.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  const voices = ['af_sky', 'af_bella', 'bm_george'];
  ({ fake } = await startStudio(gateway, { types: ['tts'], voices }));
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

afterEach(() => {
  fake.behave(make);
  fake.requests.length = 0;
});

describe('the voice', () => {
  it('is a name from /audio/voices', async () => {
    const response = await speak(gateway, { voice: 'bm_george' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-voice-fallback')).toBeNull();
    expect(fake.lastRequest.body['voice']).toBe('bm_george');
  });

  it('that is unknown is 400, with names that are near', async () => {
    const failure = await failureOf(await speak(gateway, { voice: 'af_bela' }));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_value', param: 'voice' });
    expect(failure.message).toContain("'af_bella'");
    expect(fake.requests).toEqual([]);
  });

  it.each(['alloy', 'nova', 'verse'])(
    '%s of OpenAI, which the model lacks, falls to the model’s own',
    async (voice) => {
      const response = await speak(gateway, { voice });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-voice-fallback')).toBe('af_sky');
      expect(fake.lastRequest.body['voice']).toBe('af_sky');
    },
  );

  it('may be a blend of known ones', async () => {
    const voice = 'af_bella(2)+af_sky(1)';
    expect((await speak(gateway, { voice })).status).toBe(200);
    expect(fake.lastRequest.body['voice']).toBe(voice);
  });

  it('that only one of two providers has is routed there', async () => {
    const own = await startGateway();
    for (const [name, voices] of [
      ['a-pc', ['ann']],
      ['b-pc', ['bob', 'cat']],
    ] as const) {
      const told = { type: 'tts', name, model: { voices: [...voices] } } as const;
      const agent = await connectMediaAgent(own, told);
      answerAll(agent, ({ stream }) => agent.media(stream, [{ bytes: SPEECH }]));
    }
    for (const [voice, provider] of [
      ['ann', 'a-pc'],
      ['cat', 'b-pc'],
      ['ann', 'a-pc'],
      ['bob', 'b-pc'],
    ]) {
      const response = await speak(own, { model: 'm', voice });
      expect(response.headers.get('x-provider')).toBe(provider);
    }
  });
});

describe('Errors: 400, 401, 404, 413', () => {
  it.each<[number, string, string | null, object]>([
    [400, 'missing_required_parameter', 'model', { model: null }],
    [400, 'missing_required_parameter', 'input', { input: null }],
    [400, 'invalid_value', 'input', { input: '' }],
    [400, 'invalid_type', 'voice', { voice: 7 }],
    [400, 'invalid_value', 'response_format', { response_format: 'midi' }],
    [400, 'unsupported_value', 'stream_format', { stream_format: 'sse' }],
    [404, 'model_not_found', 'model', { model: 'kokoru' }],
    [413, 'body_too_large', 'input', { input: 'x'.repeat(5_001) }],
  ])('%i %s %s', async (...row) => {
    const [status, code, param, fields] = row;
    expect(await failureOf(await speak(gateway, fields))).toMatchObject({ status, code, param });
    expect(fake.requests).toEqual([]);
  });

  it('5,000 characters are spoken', async () => {
    const response = await speak(gateway, { input: 'x'.repeat(5_000) });
    expect(response.status).toBe(200);
    await bytesOf(response);
  });

  it('401 without a key', async () => {
    const response = await fetch(`${gateway.baseUrl}/audio/speech`, { method: 'POST' });
    expect(await failureOf(response)).toMatchObject({ status: 401, type: 'not_authenticated' });
  });

  it.each<[string, Parameters<FakeModelServer['behave']>[0], string]>([
    ['HTML instead of sound', sendFile('audio/wav', '<!doctype html><h1>Oops</h1>'), 'no sound'],
    ['nothing', sendFile('audio/wav', ''), ''],
    ['an image', sendFile('audio/wav', Buffer.from('\x89PNG\r\n\x1a\n0000', 'latin1')), ''],
    ['an error', reply(500, { error: { message: 'out of memory' } }), 'out of memory'],
  ])('502 where the local server answers %s', async (_, behaviour, said) => {
    fake.behave(behaviour);
    const before = (await listAssets(gateway)).length;
    const response = await speak(gateway);
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 502, type: 'upstream_error', code: 'provider_error' });
    expect(failure.message).toContain(said);
    expect(await usageOf(gateway, response)).toMatchObject({ outcome: 'failed', audioMs: 0 });
    expect(await listAssets(gateway)).toHaveLength(before);
  });

  it('400 where the local server refuses the request itself', async () => {
    fake.behave(reply(400, { error: { message: 'input is in no known language' } }));
    const failure = await failureOf(await speak(gateway));
    expect(failure).toMatchObject({ status: 400, code: 'provider_rejected' });
    expect(failure.message).toContain('no known language');
  });
});
