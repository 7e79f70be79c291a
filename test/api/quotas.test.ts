import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { answer, chunks, hangAfterHeaders, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startHeldModel } from '../support/held-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';
import { ended, getJob, keyOf, submitted } from './job-calls.js';
import { chat, failureOf, post, remaining } from './requests.js';

const DAY_MS = 86_400_000;
/** Each answer of the fake server has seven tokens of prompt and some words. */
const ONE_ANSWER = { text: 'one two three' };
const ANSWER_TOKENS = 10;

interface Stage {
  readonly gateway: TestGateway;
  readonly home: FakeModelServer;
  readonly clock: { aheadMs: number };
}

async function openStage(server?: FakeModelServer, settings: Settings = {}): Promise<Stage> {
  const ahead = { aheadMs: 0 };
  const clock: Clock = { ...SYSTEM_CLOCK, now: () => Date.now() + ahead.aheadMs };
  const gateway = await startGateway({ clock, ...settings });
  const home = server ?? (await startFakeOpenAi({ behaviour: answer(ONE_ANSWER) }));
  onTestFinished(() => home.close());
  await gateway.startAgent({ services: [{ baseUrl: home.baseUrl, slots: 32 }] });
  return { gateway, home, clock: ahead };
}

type Settings = Parameters<typeof startGateway>[0];

type Limits = Partial<Record<'requests' | 'tokens' | 'images' | 'audio_s', number>>;

function limitKey({ gateway }: Stage, day: Limits, month: Limits = {}): Promise<unknown> {
  return gateway.admin('key.limit', { key: gateway.anna.keyId, day, month });
}

const used = async ({ gateway }: Stage) =>
  (await gateway.admin('key.show', { key: gateway.anna.keyId })).used;

describe('a key with a limit', () => {
  it('is refused once it is used up: 429 with what, how much and until when', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await limitKey(stage, { requests: 2 });
    for (let i = 0; i < 2; i++) expect((await post(gateway, chat())).status).toBe(200);
    const refused = await post(gateway, chat());
    const end = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS);
    const untilEnd = `until ${end.toISOString()}`;
    const leftS = (end.getTime() - Date.now()) / 1_000;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(leftS - 60);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThan(leftS + 60);
    expect(await failureOf(refused)).toEqual({
      status: 429,
      retry: 'false',
      type: 'rate_limit_exceeded',
      code: 'quota_exceeded',
      param: null,
      message: `The API key 'test' has used 2 of its 2 requests of this day, ${untilEnd}.`,
    });
    expect(stage.home.requests.filter(({ path }) => path.includes('chat'))).toHaveLength(2);
  });

  it('counts tokens of prompt and answer; the call that passes the limit is the last', async () => {
    const stage = await openStage();
    await limitKey(stage, { tokens: ANSWER_TOKENS + 1 });
    const send = () => post(stage.gateway, chat({ max_tokens: 3 }));
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    expect((await send()).status).toBe(429);
    expect((await used(stage)).day).toMatchObject({ requests: 2, tokens: 2 * ANSWER_TOKENS });
  });

  it('is not held to what it does not use, and other keys and members not at all', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await limitKey(stage, { images: 0, audio_s: 0 });
    expect((await post(gateway, chat())).status).toBe(200);
    const image = { model: 'tiny', prompt: 'a cat' };
    const drawn = await post(gateway, image, { path: '/v1/images/generations' });
    expect(drawn.status).not.toBe(200);
    await limitKey(stage, { requests: 0 });
    expect((await post(gateway, chat())).status).toBe(429);
    const other = await gateway.admin('key.create', {
      user: 'anna',
      name: 'other',
      scope: 'any',
      expires_in_s: null,
    });
    const headers = { authorization: `Bearer ${other.key}` };
    expect((await post(gateway, chat(), { headers })).status).toBe(200);
    expect((await post(gateway, chat(), { headers: keyOf(gateway.ben) })).status).toBe(404);
  });

  it('is not tried again by a stock client, which gets the code', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await limitKey(stage, { requests: 0 });
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.anna.key });
    const before = await remaining(gateway);
    const call = client.chat.completions.create(chat());
    await expect(call).rejects.toMatchObject({ status: 429, code: 'quota_exceeded' });
    expect(before - (await remaining(gateway))).toBe(1);
  });

  it('works again from the next UTC day or month on', async () => {
    const stage = await openStage();
    const { gateway, clock } = stage;
    await limitKey(stage, { requests: 1 }, { requests: 2 });
    const statuses = async () => [
      (await post(gateway, chat())).status,
      (await post(gateway, chat())).status,
    ];
    expect(await statuses()).toEqual([200, 429]);
    clock.aheadMs += DAY_MS;
    const isNewMonth = new Date(Date.now() + DAY_MS).getUTCDate() === 1;
    expect(await statuses()).toEqual([200, 429]);
    clock.aheadMs += DAY_MS;
    if (!isNewMonth) expect(await statuses()).toEqual([429, 429]);
    clock.aheadMs += 31 * DAY_MS;
    expect(await statuses()).toEqual([200, 429]);
  });

  it('a change of its rules applies to the next request', async () => {
    const stage = await openStage();
    await limitKey(stage, { requests: 0 });
    expect((await post(stage.gateway, chat())).status).toBe(429);
    await limitKey(stage, {});
    expect((await post(stage.gateway, chat())).status).toBe(200);
  });
});

describe('what counts is what the ledger meters', () => {
  it('a call that nobody takes or that fails is a request, a canceled one what came', async () => {
    const stage = await openStage();
    const { gateway, home } = stage;
    await limitKey(stage, { requests: 3, tokens: 1_000 });
    expect((await post(gateway, chat({ model: 'nothing' }))).status).toBe(404);
    home.once(reply(400, { error: { message: 'no' } }));
    expect((await post(gateway, chat())).status).toBe(400);
    home.once(chunks({ count: 1_000, delayMs: 20 }));
    const leaving = new AbortController();
    const stream = await post(gateway, chat({ stream: true }), { signal: leaving.signal });
    await stream.body?.getReader().read();
    leaving.abort();
    await until(() => usageRows(gateway).some(({ outcome }) => outcome === 'canceled'));
    expect((await post(gateway, chat())).status).toBe(429);
    await expectAgreement(stage);
  });

  it('after a restart, only finished requests count', async () => {
    const dataDir = await temporaryFolder();
    const stage = await openStage(undefined, { dataDir });
    const { gateway, home } = stage;
    await limitKey(stage, { requests: 4 });
    expect((await post(gateway, chat())).status).toBe(200);
    home.once(hangAfterHeaders());
    const lost = post(gateway, chat({ stream: true })).then((response) => response.text());
    await until(() => home.inFlight === 1);
    await gateway.stop();
    await lost.catch(() => null);
    const again = await startGateway({ dataDir });
    const { requests } = (await used({ ...stage, gateway: again })).day;
    expect(requests).toBe(usageRows(gateway).length);
    // No machine is online: such a call is a request, too.
    const statuses = [];
    for (let i = requests; i < 6; i++) statuses.push((await post(again, chat())).status);
    expect(statuses.indexOf(429)).toBe(4 - requests);
  });

  it('100 calls at once pass a limit by one at most, and what is left may be used', async () => {
    const held = await startHeldModel(ONE_ANSWER.text);
    const stage = await openStage(held.server);
    const { gateway } = stage;
    await limitKey(stage, { tokens: 5 * ANSWER_TOKENS });
    const calls = Array.from({ length: 100 }, () => post(gateway, chat({ max_tokens: 3 })));
    await until(() => held.server.inFlight >= 2);
    held.release();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    const ok = statuses.filter((status) => status === 200).length;
    expect(statuses.filter((status) => status === 429)).toHaveLength(100 - ok);
    const { day } = await used(stage);
    expect(day.tokens).toBe(ok * ANSWER_TOKENS);
    expect(day.tokens).toBeLessThan(6 * ANSWER_TOKENS);
    // Estimates reserve too much rather than too little: the rest is free once they have ended.
    const later = [];
    for (let i = 0; i < 7; i++) later.push((await post(gateway, chat({ max_tokens: 3 }))).status);
    expect((await used(stage)).day.tokens).toBe(5 * ANSWER_TOKENS);
    expect(later.at(-1)).toBe(429);
    await expectAgreement(stage);
  });

  it('100 calls at once against a limit of requests: exactly as many', async () => {
    const stage = await openStage();
    await limitKey(stage, { requests: 7 });
    const calls = Array.from({ length: 100 }, () => post(stage.gateway, chat()));
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(7);
    expect((await used(stage)).day.requests).toBe(7);
  });
});

/** The counts in memory, which refuse, are those of the ledger. */
async function expectAgreement(stage: Stage): Promise<void> {
  const { gateway } = stage;
  const { day } = await used(stage);
  const shown = usageRows(gateway);
  expect(shown).toHaveLength(day.requests);
  const tokens = shown.map((row) => row.promptTokens + row.completionTokens);
  expect(tokens.reduce((sum, one) => sum + one, 0)).toBe(day.tokens);
  // The limit that is one more than used lets exactly one call through.
  await limitKey(stage, { requests: day.requests + 1 });
  const statuses = [];
  for (let i = 0; i < 2; i++) statuses.push((await post(gateway, chat())).status);
  expect(statuses).toEqual([200, 429]);
}

describe("a member's limit, set by an administrator", () => {
  it('holds for all keys and the key’s own for one; the stricter counts', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await gateway.admin('limit.set', { member: 'anna', day: { requests: 3 } });
    await limitKey(stage, { requests: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(gateway, chat())).status);
    expect(statuses).toEqual([200, 200, 429]);
    const other = await gateway.admin('key.create', {
      user: 'anna',
      name: 'other',
      scope: 'any',
      expires_in_s: null,
      day: { requests: 100 },
    });
    const headers = { authorization: `Bearer ${other.key}` };
    expect((await post(gateway, chat(), { headers })).status).toBe(200);
    const refused = await failureOf(await post(gateway, chat(), { headers }));
    expect(refused.message).toContain('Your account has used 3 of its 3 requests of this day');
  });
});

describe('a job', () => {
  it('of a key without budget waits and says why, and runs when the day turns', async () => {
    const stage = await openStage();
    const { gateway, clock } = stage;
    await limitKey(stage, { requests: 1 });
    expect((await post(gateway, chat())).status).toBe(200);
    const { id, waiting_reason: reason, position } = await submitted(gateway);
    expect(reason).toContain("The API key 'test' has used 1 of its 1 requests of this day");
    expect(position).toBeNull();
    expect((await getJob(gateway, id)).waiting_reason).toBe(reason);
    expect(usageRows(gateway).length).toBeLessThan(2);
    clock.aheadMs += DAY_MS;
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    // It counts when it has run, not when it was submitted.
    expect((await post(gateway, chat())).status).toBe(429);
  });

  it('does not keep the jobs of another key of the member waiting', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await limitKey(stage, { requests: 0 });
    await submitted(gateway);
    const other = await gateway.admin('key.create', {
      user: 'anna',
      name: 'other',
      scope: 'any',
      expires_in_s: null,
    });
    const headers = { authorization: `Bearer ${other.key}` };
    const { id } = await submitted(gateway, {}, { headers });
    // The key with a limit does not see it.
    const response = await gateway.fetch(`/v1/jobs/${id}?wait=20`, { headers });
    expect(await response.json()).toMatchObject({ status: 'PROCESSED' });
  });

  it('20 jobs at once run only as far as the limit goes, one over it at most', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    await limitKey(stage, { tokens: 4 * ANSWER_TOKENS + 1 });
    const jobs = await Promise.all(Array.from({ length: 20 }, () => submitted(gateway)));
    await until(async () => (await used(stage)).day.tokens >= 4 * ANSWER_TOKENS + 1);
    const states = await Promise.all(
      jobs.map(async ({ id }) => (await getJob(gateway, id)).status),
    );
    expect(states.filter((status) => status === 'PROCESSED')).toHaveLength(5);
    expect((await used(stage)).day.tokens).toBe(5 * ANSWER_TOKENS);
  });

  test.each([
    ['disabled', 'is disabled'],
    ['restricted to other models', "may no longer use the model 'tiny'"],
    ['restricted to other endpoints', 'may no longer call /v1/chat/completions'],
  ] as const)('whose key was %s meanwhile waits until that ends', async (change, why) => {
    const stage = await openStage();
    const { gateway } = stage;
    await gateway.admin('queue.pause', {});
    const { id } = await submitted(gateway);
    const key = gateway.anna.keyId;
    if (change === 'disabled') await gateway.admin('key.disable', { key });
    else if (change === 'restricted to other models') {
      await gateway.admin('key.limit', { key, models: ['other'] });
    } else await gateway.admin('key.limit', { key, endpoints: ['/v1/embeddings'] });
    await gateway.admin('queue.resume', {});
    await until(async () => {
      const { waiting_reason: reason } = await gateway.admin('job.show', { job: id });
      return reason?.includes(why);
    });
    if (change === 'disabled') await gateway.admin('key.enable', { key });
    else await gateway.admin('key.limit', { key, models: null, endpoints: null });
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
  });

  it('that is tried again meets the rules of its key again', async () => {
    const stage = await openStage();
    const { gateway, home } = stage;
    await limitKey(stage, { tokens: 1_000 });
    home.once(reply(500, { error: { message: 'broken' } }));
    const { id } = await submitted(gateway);
    await until(async () => (await getJob(gateway, id)).attempts === 1);
    await limitKey(stage, { tokens: 0 });
    await gateway.admin('queue.requeue-stuck', {});
    await until(async () => (await getJob(gateway, id)).waiting_reason?.includes('tokens of this'));
    await limitKey(stage, {});
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
  });
});

describe('a key that is restricted to models', () => {
  it('sees and reaches only these; any other is unknown, as if it did not exist', async () => {
    const stage = await openStage();
    const { gateway } = stage;
    const listed = async () => {
      const { data } = (await (await gateway.fetch('/v1/models')).json()) as { data: object[] };
      return data.length;
    };
    expect(await listed()).toBeGreaterThan(0);
    const key = gateway.anna.keyId;
    await gateway.admin('key.limit', { key, models: ['another'] });
    expect(await listed()).toBe(0);
    const hidden = await failureOf(await gateway.fetch('/v1/models/tiny'));
    const absent = await failureOf(await gateway.fetch('/v1/models/nope'));
    expect(hidden).toEqual({ ...absent, message: absent.message.replace('nope', 'tiny') });
    for (const fields of [{}, { stream: true }, { async: true }]) {
      const refused = await failureOf(await post(gateway, chat(fields)));
      const unknown = await failureOf(await post(gateway, chat({ ...fields, model: 'nope' })));
      expect(refused).toEqual({ ...unknown, message: unknown.message.replace('nope', 'tiny') });
      expect(refused).toMatchObject({ status: 404, code: 'model_not_found' });
    }
    await gateway.admin('key.limit', { key, models: ['another', 'tiny'] });
    expect(await listed()).toBeGreaterThan(0);
    expect((await post(gateway, chat())).status).toBe(200);
  });
});
