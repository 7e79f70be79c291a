import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { administer, chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const LIMIT = 3;
const WINDOW_MS = 600_000;

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway({ rateLimitRequests: LIMIT, rateLimitWindowMs: WINDOW_MS });
});

const list = () => gateway.fetch('/v1/models');

function allow(requests: number): Promise<unknown> {
  return administer(gateway, 'limit.set', { member: 'Anna', requests });
}

async function spend(): Promise<void> {
  for (let i = 0; i < LIMIT; i++) expect((await list()).status).toBe(200);
}

describe('every authenticated /v1 answer carries the standing', () => {
  it('X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset in seconds', async () => {
    const standings = [];
    for (let i = 0; i < LIMIT; i++) {
      const { headers } = await list();
      standings.push([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]);
      const resetS = Number(headers.get('x-ratelimit-reset'));
      expect(resetS).toBeGreaterThan(WINDOW_MS / 1000 - 2);
      // The window is counted in sixty slices, so a request may count for up to one slice longer.
      expect(resetS).toBeLessThanOrEqual((WINDOW_MS / 1000) * (61 / 60));
    }
    expect(standings).toEqual([
      ['3', '2'],
      ['3', '1'],
      ['3', '0'],
    ]);
  });

  it.each<[string, () => Promise<Response>, number]>([
    ['an unknown model', () => post(gateway, chat()), 404],
    ['a bad request', () => post(gateway, chat({ messages: [] })), 400],
    ['an unknown path', () => gateway.fetch('/v1/nothing'), 404],
    ['a wrong method', () => gateway.fetch('/v1/models', { method: 'DELETE' }), 405],
    ['async', () => post(gateway, chat({ async: true })), 404],
  ])('errors included: %s', async (_, send, status) => {
    const { status: given, headers } = await send();
    expect(given).toBe(status);
    expect(headers.get('x-ratelimit-limit')).toBe('3');
    expect(headers.get('x-ratelimit-remaining')).toBe('2');
    expect(headers.get('x-ratelimit-reset')).toMatch(/^\d+$/);
  });
});

describe('a request too many', () => {
  it('is 429 rate_limit_exceeded, with Retry-After in whole seconds from 1 to 60', async () => {
    await spend();
    const response = await list();
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
    await expectWorthRetrying(response);
  });

  it('is refused before its body is read and its model looked up', async () => {
    await spend();
    expect((await post(gateway, '{ broken')).status).toBe(429);
  });

  it('harms no other member', async () => {
    await spend();
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    expect((await gateway.fetch('/v1/models', { headers })).status).toBe(200);
  });

  it('with another key of the same member is one too many as well', async () => {
    const args = { user: 'Anna', name: 'second', scope: 'any', expires_in_s: null };
    const { key } = await administer(gateway, 'key.create', args);
    await spend();
    const headers = { authorization: `Bearer ${String(key)}` };
    expect((await gateway.fetch('/v1/models', { headers })).status).toBe(429);
  });
});

describe('does not count', () => {
  it('a request that was answered 429', async () => {
    const brief = await startGateway({ rateLimitRequests: 1, rateLimitWindowMs: 600 });
    expect((await brief.fetch('/v1/models')).status).toBe(200);
    const until429 = performance.now();
    // If refused requests counted, the window would never empty.
    await until(async () => (await brief.fetch('/v1/models')).status === 200);
    expect(performance.now() - until429).toBeLessThan(2_000);
  });

  it.each([
    '/v1/jobs',
    '/v1/jobs/x',
    '/v1/batches',
    '/v1/batches/x',
    '/api/inference/queue/summary',
    '/api/inference/assets',
    '/api/inference/assets/x/',
  ])('GET %s, nor HEAD', async (path) => {
    for (const method of ['GET', 'HEAD']) {
      const { headers } = await gateway.fetch(path, { method });
      expect(headers.get('x-ratelimit-limit')).toBe('3');
      expect(headers.get('x-ratelimit-remaining')).toBe('3');
      expect(headers.get('x-ratelimit-reset')).toBe('0');
    }
    await spend();
  });

  it('a GET that is free, also once the limit is spent', async () => {
    await spend();
    const { status, headers } = await gateway.fetch('/v1/jobs');
    expect(status).not.toBe(429);
    expect(headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await list()).status).toBe(429);
  });

  it('a request without a valid key, or OPTIONS', async () => {
    for (let i = 0; i < LIMIT; i++) {
      await gateway.fetch('/v1/models', { headers: { authorization: 'Bearer wrong' } });
      await gateway.fetch('/v1/models', { method: 'OPTIONS' });
    }
    await spend();
  });
});

it.each([
  ['POST', '/v1/jobs/x/cancel'],
  ['POST', '/v1/batches'],
  ['DELETE', '/api/inference/assets/x/'],
  ['GET', '/v1/jobsx'],
])('%s %s counts', async (method, path) => {
  const { headers } = await gateway.fetch(path, { method });
  expect(headers.get('x-ratelimit-remaining')).toBe('2');
});

describe('200 requests at once, with a limit of 60', () => {
  const BURST = 200;

  it('the window is exact: 60 pass and 140 are told when to come again', async () => {
    const busy = await startGateway({ rateLimitRequests: 60 });
    const answers = await Promise.all(
      Array.from({ length: BURST }, () => busy.fetch('/v1/models')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(refused).toHaveLength(BURST - 60);
    for (const answer of refused) await expectWorthRetrying(answer);
    const left = answers.map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    const passed = left.filter((_, i) => answers[i]?.status === 200);
    expect(passed.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  });

  it('several keys of one member share it, and another member has one of their own', async () => {
    const busy = await startGateway({ rateLimitRequests: 60 });
    const args = { user: 'Anna', name: 'second', scope: 'any', expires_in_s: null };
    const second = String((await administer(busy, 'key.create', args))['key']);
    const keys = [busy.anna.key, second, busy.ben.key];
    const statuses = await Promise.all(
      Array.from({ length: BURST }, async (_, i) => {
        const key = keys[i % keys.length] ?? '';
        const headers = { authorization: `Bearer ${key}` };
        const { status } = await busy.fetch('/v1/models', { headers });
        return `${key === busy.ben.key ? 'Ben' : 'Anna'} ${status}`;
      }),
    );
    expect(statuses.filter((status) => status === 'Anna 200')).toHaveLength(60);
    expect(statuses.filter((status) => status === 'Ben 200')).toHaveLength(60);
  });
});

describe("a member's own limit", () => {
  it('holds from the next request on, both ways, and for its member alone', async () => {
    await spend();
    expect((await list()).status).toBe(429);
    await allow(5);
    expect(standingOf(await list())).toEqual([200, '5', '1']);
    expect(standingOf(await list())).toEqual([200, '5', '0']);
    expect(standingOf(await list())).toEqual([429, '5', '0']);
    await allow(1);
    const lowered = await list();
    expect(standingOf(lowered)).toEqual([429, '1', '0']);
    await expectWorthRetrying(lowered);
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    expect(standingOf(await gateway.fetch('/v1/models', { headers }))).toEqual([200, '3', '2']);
    await allow(7);
    expect(standingOf(await list())).toEqual([200, '7', '1']);
    await administer(gateway, 'limit.clear', { member: 'Anna' });
    expect(standingOf(await list())).toEqual([429, '3', '0']);
  });

  it('of calls under way makes further ones wait in line', async () => {
    const narrow = await startGateway({ syncWaitMs: 100 });
    const fake = await startFakeOpenAi();
    onTestFinished(() => fake.close());
    await narrow.startAgent({ services: [{ baseUrl: fake.baseUrl, slots: 4 }] });
    await administer(narrow, 'limit.set', { member: 'Anna', concurrent: 1 });
    const held = new HeldAnswer();
    fake.once(held.behaviour);
    const first = post(narrow, chat({ stream: true }));
    await held.asked();
    const failure = await failureOf(await post(narrow, chat()));
    expect(failure).toMatchObject({ status: 503, code: 'capacity_exhausted' });
    expect(failure.message).toContain('You may have 1 calls under way');
    await administer(narrow, 'limit.set', { member: 'Anna', concurrent: 2 });
    expect((await post(narrow, chat())).status).toBe(200);
    held.finish();
    expect((await first).status).toBe(200);
  });
});

function standingOf({ status, headers }: Response) {
  return [status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')];
}

/**
 * LangChain retries only if Retry-After is whole seconds up to 60, and never if the message says
 * "quota" or "billing".
 */
async function expectWorthRetrying(response: Response): Promise<void> {
  const seconds = Number(response.headers.get('retry-after'));
  expect(Number.isInteger(seconds)).toBe(true);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(response.headers.get('retry-after-ms')).toBe(String(seconds * 1000));
  const failure = await failureOf(response);
  const code = 'rate_limit_exceeded';
  expect(failure).toMatchObject({ status: 429, type: code, code, param: null, retry: null });
  expect(failure.message).toMatch(new RegExp(`Try again in ${seconds} seconds\\.$`));
  expect(failure.message).not.toMatch(/quota|billing/i);
}

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  it('raises RateLimitError', async () => {
    await spend();
    const failure = connect(Sdk, gateway).models.list();
    await expect(failure).rejects.toBeInstanceOf(Sdk.RateLimitError);
    await expect(failure).rejects.toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  });
});

it('stock clients wait as long as they are told, and then succeed', async () => {
  const brief = await startGateway({ rateLimitRequests: 1, rateLimitWindowMs: 900 });
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  const owners = [brief.anna, brief.ben];
  for (const owner of owners) {
    await brief.startAgent({ owner, name: owner.id, services: [{ baseUrl: fake.baseUrl }] });
  }
  const waiting = STOCK_CLIENTS.map(async ({ Sdk }, i) => {
    const client = connect(Sdk, brief, { apiKey: owners[i]?.key ?? '', maxRetries: 2 });
    await client.models.list();
    const startedAt = performance.now();
    const completion = await client.chat.completions.create(chat());
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    return completion.choices[0]?.finish_reason;
  });
  expect(await Promise.all(waiting)).toEqual(['stop', 'stop']);
});
