import { describe, expect, it, onTestFinished } from 'vitest';
import { reply } from '../support/fake-behaviours.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectMediaAgent } from '../support/media-agent.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';
import { draw, film, IMAGES_PATH, MUSIC_PATH, play, speak } from './media-calls.js';
import { SPEECH_PATH, VIDEOS_PATH } from './media-calls.js';
import { failureOf, post } from './requests.js';

const PATHS = [SPEECH_PATH, IMAGES_PATH, VIDEOS_PATH, MUSIC_PATH];
const CALLS = [
  ['speech', speak],
  ['images', draw],
  ['videos', film],
  ['music', play],
] as const;

async function open(
  settings: Parameters<typeof startGateway>[0] = {},
  slots = 4,
): Promise<{ gateway: TestGateway } & Studio> {
  const gateway = await startGateway(settings);
  const studio = await startStudio(gateway, { slots });
  onTestFinished(() => studio.fake.close());
  return { gateway, ...studio };
}

describe('a body that cannot be read', () => {
  it('is refused, before anybody is asked', async () => {
    const { gateway, fake } = await open({ maxJsonBytes: 10_000 });
    const types = { 'content-type': 'text/plain' };
    for (const path of PATHS) {
      const broken = await failureOf(await post(gateway, '{"model": ', { path }));
      expect(broken).toMatchObject({ status: 400, code: 'invalid_json' });
      const other = await failureOf(await post(gateway, '{}', { path, headers: types }));
      expect(other).toMatchObject({ status: 415, code: 'unsupported_content_type' });
      const large = await failureOf(await post(gateway, { x: 'x'.repeat(20_000) }, { path }));
      expect(large).toMatchObject({ status: 413, code: 'body_too_large' });
    }
    expect(fake.requests).toEqual([]);
  });
});

describe.each(CALLS)('%s', (_, call) => {
  it('502 provider_auth_failed where the local server refuses its own agent', async () => {
    const { gateway, fake } = await open();
    fake.behave(reply(401, { error: { message: 'wrong key sk-local-secret' } }));
    const failure = await failureOf(await call(gateway));
    expect(failure).toMatchObject({ status: 502, code: 'provider_auth_failed', retry: 'false' });
    expect(failure.message).not.toContain('secret');
  });

  it('502 provider_error where it fails, in its own words', async () => {
    const { gateway, fake } = await open();
    fake.behave(reply(500, { error: { message: 'CUDA out of memory' } }));
    const failure = await failureOf(await call(gateway));
    expect(failure).toMatchObject({ status: 502, code: 'provider_error', retry: 'false' });
    expect(failure.message).toContain('CUDA out of memory');
  });

  it('502 provider_timeout where it takes too long', async () => {
    const { gateway, fake } = await open({ syncDeadlineMs: 300 });
    fake.behave(() => {});
    const failure = await failureOf(await call(gateway));
    expect(failure).toMatchObject({ status: 502, code: 'provider_timeout', retry: 'false' });
    await until(() => fake.aborts.length === 1);
  });

  it('503 capacity_exhausted where every slot stays taken', async () => {
    const { gateway, fake } = await open({ syncWaitMs: 200 }, 1);
    fake.behave(() => {});
    const first = call(gateway);
    first.catch(() => {});
    await until(() => fake.requests.length === 1);
    const response = await call(gateway);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await failureOf(response)).toMatchObject({ status: 503, code: 'capacity_exhausted' });
  });

  it('404 model_offline where its machine has gone', async () => {
    const { gateway, agent } = await open({ reconnectWaitMs: 0 });
    await agent.stop();
    const failure = await failureOf(await call(gateway));
    expect(failure).toMatchObject({ status: 404, type: 'no_provider', code: 'model_offline' });
  });

  it('every error carries its id and the standing of the rate', async () => {
    const { gateway, fake } = await open();
    fake.behave(reply(500, { error: { message: 'no' } }));
    const { headers } = await call(gateway);
    expect(headers.get('x-request-id')).toMatch(/^req_/);
    expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('x-asset-url')).toBeNull();
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it('every answer carries its way', async () => {
    const { gateway } = await open();
    const { headers } = await call(gateway);
    for (const name of ['x-request-id', 'x-provider', 'x-attempts', 'x-queue-ms']) {
      expect(headers.get(name), name).toBeTruthy();
    }
    for (const name of ['x-gateway-overhead-ms', 'x-ratelimit-limit', 'x-ratelimit-remaining']) {
      expect(headers.get(name), name).toMatch(/^\d+$/);
    }
  });
});

it('502 provider_disconnected where the only machine is lost', async () => {
  const gateway = await startGateway({ reconnectWaitMs: 0 });
  const agent = await connectMediaAgent(gateway, { type: 'image' });
  const answer = draw(gateway, { model: 'm' });
  await agent.nextOpen();
  agent.socket.terminate();
  const response = await answer;
  expect(response.headers.get('x-should-retry')).toBeNull();
  expect(await failureOf(response)).toMatchObject({ status: 502, code: 'provider_disconnected' });
});
