/** An alias shows nobody more than they would see without it, and opens nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { act, my, readMy } from '../api/console-calls.js';
import { ended, getJson, submit, submitted } from '../api/job-calls.js';
import { chat, failureOf, post } from '../api/requests.js';
import type { Caller } from '../api/requests.js';
import { visit } from '../api/visitor.js';
import type { Visitor } from '../api/visitor.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';

let gateway: TestGateway;
let annas: FakeModelServer;
let bens: FakeModelServer;
let ben: Caller;
let bensPage: Visitor;

beforeAll(async () => {
  gateway = await openGateway({ reconnectWaitMs: 50 });
  annas = await startFakeOpenAi({ models: ['secret', 'open'] });
  bens = await startFakeOpenAi({ models: ['tiny', 'other'] });
  await gateway.startAgent({ services: [{ baseUrl: annas.baseUrl }] });
  const services = [{ baseUrl: bens.baseUrl }];
  await gateway.startAgent({ name: 'bens-pc', owner: gateway.ben, services });
  ben = holder(gateway.ben.key);
  bensPage = await visit(gateway, 'ben@example.org');
});

beforeEach(async () => {
  for (const { name, owner } of await gateway.admin('alias.list', { user: null })) {
    await gateway.admin('alias.remove', { name, user: owner });
  }
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([annas.close(), bens.close()]);
});

function holder(key: string): Caller {
  return {
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${key}`);
      return gateway.fetch(path, { ...init, headers });
    },
  };
}

let keys = 0;

async function keyWith(models: string[], scope: 'own' | 'any' = 'any'): Promise<Caller> {
  const name = `key-${(keys += 1)}`;
  const rules = { user: 'ben', name, scope, expires_in_s: null, models };
  return holder((await gateway.admin('key.create', rules)).key);
}

const set = (name: string, models: string[], user: string | null = null) =>
  gateway.admin('alias.set', { name, models, user });

const ask = (caller: Caller, model: string) => post(caller, chat({ model }));

const servedBy = async (caller: Caller, model: string): Promise<string | number> => {
  const response = await ask(caller, model);
  if (response.status !== 200) return response.status;
  return ((await response.json()) as { model: string }).model;
};

const listed = async (caller: Caller): Promise<string> =>
  JSON.stringify(await getJson(caller, '/v1/models'));

/** All that Ben is told of a name, by every way of asking, without the name itself. */
async function toldOf(name: string): Promise<unknown[]> {
  const asked = [
    await ask(ben, name),
    await submit(ben, { model: name }),
    await post(ben, { model: name, input: 'a' }, { path: '/v1/embeddings' }),
    await post(ben, chat({ model: name }), { path: '/v1/messages/count_tokens' }),
    await ben.fetch(`/v1/audio/voices?model=${name}`),
    await ben.fetch(`/v1/models/${name}`),
  ];
  const told = await Promise.all(asked.map((response) => failureOf(response)));
  return told.map(({ message, ...rest }) => ({ ...rest, message: message.replaceAll(name, 'N') }));
}

/** What Ben is told when he makes an alias of his own for a model. */
const toldOfChain = async (model: string): Promise<string> => {
  const alias = await my(bensPage, 'alias.set', { name: 'probe', models: [model] });
  const failure = await failureOf(await ask(ben, 'probe'));
  return JSON.stringify([alias.warnings, failure]).replaceAll(model, 'M');
};

describe('an alias of the gateway for models that a member may not use', () => {
  it('is the same to them as none', async () => {
    await set('fast', ['secret', 'open']);
    await set('sec-*', ['secret']);
    const none = await toldOf('nono');
    expect(await toldOf('fast')).toEqual(none);
    expect(await toldOf('sec-x')).toEqual(none);
    expect(await listed(ben)).not.toMatch(/fast|secret|open/);
    expect(await readMy(bensPage, 'alias.list', {})).toEqual([]);
    // To whom the models belong, it is one.
    expect((await ask(gateway, 'fast')).status).toBe(200);
  });

  it('leads to those that they may use, and names no other', async () => {
    await set('fast', ['secret', 'tiny']);
    expect(await servedBy(ben, 'fast')).toBe('tiny');
    const text = await listed(ben);
    expect(text).toContain('"alias_of":["tiny"]');
    expect(text).not.toContain('secret');
    expect(await readMy(bensPage, 'alias.list', {})).toMatchObject([
      { name: 'fast', models: ['tiny'], own: false, owner: null },
    ]);
    bens.once((_, response) => void response.destroy());
    const { message } = await failureOf(await ask(ben, 'fast'));
    expect(message).toContain("stands for 'tiny', and");
    expect(message).not.toContain('secret');
  });

  it('leads no further than a share reaches, from the next call on', async () => {
    await set('fast', ['open', 'tiny']);
    const share = { provider: 'den-pc', service: null, slots: null, hours: null, time_zone: null };
    const toBen = { network: null, user: 'ben' };
    const limits = { ...share, ...toBen, model: 'open', max_tokens: null };
    await gateway.admin('provider.share', limits);
    expect(await servedBy(ben, 'fast')).toBe('open');
    expect(await servedBy(ben, 'secret')).toBe(404);
    const own = { 'x-provider-scope': 'own' };
    const at = await post(ben, chat({ model: 'fast' }), { headers: own });
    expect(((await at.json()) as { model: string }).model).toBe('tiny');
    const ending = { provider: 'den-pc', service: null, model: 'open', share: null, all: false };
    await gateway.admin('provider.unshare', { ...ending, ...toBen });
    expect(await servedBy(ben, 'fast')).toBe('tiny');
  });
});

describe('a restricted key', () => {
  it('that names an alias reaches its chain through it, and by no other name', async () => {
    await set('fast', ['tiny', 'other']);
    const key = await keyWith(['fast']);
    expect(await servedBy(key, 'fast')).toBe('tiny');
    expect(await servedBy(key, 'tiny')).toBe(404);
    const { data } = await getJson<{ data: { id: string }[] }>(key, '/v1/models');
    expect(data.map(({ id }) => id)).toEqual(['fast']);
    expect((await failureOf(await ask(key, 'fasd'))).message).not.toMatch(/tiny|other/);
    const job = await submitted(key, { model: 'fast' });
    expect(await ended(key, job.id)).toMatchObject({ served_model: 'tiny' });
    expect((await submit(key, { model: 'tiny' })).status).toBe(404);
  });

  it('that names models reaches those alone, also through an alias', async () => {
    await set('fast', ['tiny', 'other']);
    const key = await keyWith(['other']);
    expect(await servedBy(key, 'fast')).toBe('other');
    expect(await listed(key)).not.toContain('tiny');
    const job = await submitted(key, { model: 'fast' });
    expect(await ended(key, job.id)).toMatchObject({ served_model: 'other' });
    expect(await servedBy(await keyWith(['nothing']), 'fast')).toBe(404);
  });

  it('reaches no more because a pattern covers a name in its list', async () => {
    await set('*', ['other']);
    const key = await keyWith(['gone']);
    expect(await servedBy(key, 'gone')).toBe(404);
    expect((await submit(key, { model: 'gone' })).status).toBe(404);
    expect(await servedBy(await keyWith(['*']), 'gone')).toBe('other');
  });

  it('runs no job on a model that is added to an alias which it does not name', async () => {
    await set('fast', ['other'], 'ben');
    const key = await keyWith(['other']);
    await gateway.admin('queue.pause', {});
    const job = await submitted(key, { model: 'fast' });
    await set('fast', ['tiny'], 'ben');
    await gateway.admin('queue.resume', {});
    const waiting = await getJson<{ waiting_reason: string }>(key, `/v1/jobs/${job.id}`);
    expect(waiting).toMatchObject({ status: 'QUEUED' });
    expect(waiting.waiting_reason).toContain("may no longer use the alias 'fast'");
    expect(waiting.waiting_reason).not.toContain('tiny');
  });

  it('tells a waiting job’s key only of the models that it may use', async () => {
    await set('fast', ['tiny', 'other']);
    const key = await keyWith(['other']);
    await gateway.admin('provider.drain', { provider: 'bens-pc' });
    const job = await submitted(key, { model: 'fast' });
    const { waiting_reason: reason } = await getJson<{ waiting_reason: string }>(
      key,
      `/v1/jobs/${job.id}`,
    );
    await gateway.admin('provider.resume', { provider: 'bens-pc' });
    expect(reason).toContain("the alias 'fast' ('other')");
    expect(reason).not.toContain('tiny');
  });
});

describe('a member', () => {
  it('sets and removes their own aliases alone', async () => {
    await set('gateways', ['tiny']);
    await set('annas', ['open'], 'anna');
    const own = await my(bensPage, 'alias.set', { name: 'bens', models: ['tiny'] });
    expect(own).toMatchObject({ name: 'bens', models: ['tiny'], owner: 'Ben', warnings: [] });
    for (const name of ['gateways', 'annas']) {
      expect((await act(bensPage, ['my', 'alias.remove'], { name })).status).toBe(404);
    }
    const forged = { name: 'x', models: ['tiny'], user: 'anna' };
    expect((await act(bensPage, ['my', 'alias.set'], forged)).status).toBe(400);
    expect((await act(bensPage, ['admin', 'alias.set'], { ...forged, user: null })).status).toBe(
      403,
    );
    expect(await servedBy(gateway, 'bens')).toBe(404);
    expect(await servedBy(ben, 'bens')).toBe('tiny');
    expect(JSON.stringify(await readMy(bensPage, 'alias.list', {}))).not.toContain('annas');
  });

  it('learns nothing of others’ models by naming them in a chain', async () => {
    expect(await toldOfChain('secret')).toBe(await toldOfChain('no-such'));
  });

  it('learns nothing of an alias of the gateway that leads them nowhere', async () => {
    await set('fast', ['secret']);
    const told = await act(bensPage, ['my', 'alias.set'], { name: 'mine', models: ['fast'] });
    expect(told.status).toBe(200);
    await set('quick', ['tiny']);
    const nested = await act(bensPage, ['my', 'alias.set'], { name: 'mine', models: ['quick'] });
    expect(await failureOf(nested)).toMatchObject({
      status: 409,
      message: expect.stringContaining('do not nest') as unknown,
    });
  });
});
