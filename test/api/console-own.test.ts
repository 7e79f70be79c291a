import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { ask, my, readMy, refusal } from './console-calls.js';
import { asking } from './device-calls.js';
import type { DeviceLogIn } from './device-calls.js';
import { chat, failureOf, post } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
let texts: FakeModelServer;
let anna: Visitor;
let ben: Visitor;
/** Anna's provider and her network. */
let provider: string;
let network: string;

beforeAll(async () => {
  gateway = await openGateway({ providerApproval: true });
  texts = await startFakeOpenAi();
  anna = await visit(gateway, 'anna@example.org');
  ben = await visit(gateway, 'ben@example.org');
  await gateway.startAgent({ services: [{ baseUrl: texts.baseUrl }], name: 'den-pc' });
  provider = (await readMy(anna, 'provider.list', {}))[0]?.id ?? '';
});

afterAll(async () => {
  await gateway.stop();
  await texts.close();
});

/** The newest entry of the audit log for this action. */
async function lastly(action: string) {
  const all = { since_s: null, actor: null, subject: null, limit: 1 };
  const [entry] = await gateway.admin('audit.list', { ...all, action });
  return entry;
}

const byAnna = (): string => `member:${gateway.anna.id}`;

describe('keys', () => {
  it('live from creation to revocation, each change written down as the member’s', async () => {
    const { id, key } = await my(anna, 'key.create', {
      name: 'laptop',
      scope: 'own',
      expires_in_s: 86_400,
    });
    const models = () =>
      fetch(`${gateway.baseUrl}/models`, { headers: { authorization: `Bearer ${key}` } });
    expect((await models()).status).toBe(200);
    await my(anna, 'key.rename', { key: id, name: 'tablet' });
    await my(anna, 'key.disable', { key: id });
    expect(await failureOf(await models())).toMatchObject({ code: 'disabled_api_key' });
    await my(anna, 'key.enable', { key: id });
    const rotated = await my(anna, 'key.rotate', { key: id, overlap_s: 0 });
    expect(rotated).toMatchObject({ id, name: 'tablet', state: 'active' });
    expect(await failureOf(await models())).toMatchObject({ status: 401 });
    await my(anna, 'key.revoke', { key: id });
    const again = await refusal(anna, 'key.enable', { key: id });
    expect(again).toMatchObject({ status: 409, code: 'conflict' });
    for (const verb of ['create', 'rename', 'disable', 'enable', 'rotate', 'revoke']) {
      expect(await lastly(`key.${verb}`)).toMatchObject({ actor: byAnna(), actor_name: 'Anna' });
    }
  });
});

describe('machines', () => {
  it('come in by a token, and with approval wait for an administrator', async () => {
    const token = await my(anna, 'token.create', { name: null, expires_in_s: 60, replace: null });
    expect(token.token).toMatch(/^gwj_/);
    expect(await readMy(anna, 'token.list', {})).toContainEqual(
      expect.objectContaining({ id: token.id, state: 'open' }),
    );
    await my(anna, 'token.revoke', { token: token.id });
    expect(await lastly('token.revoke')).toMatchObject({ actor: byAnna() });
    expect(await readMy(anna, 'provider.show', { provider })).toMatchObject({ approved: false });
  });

  it('have so many open tokens at most, however many are asked for at once', async () => {
    const seeded = (await readMy(ben, 'token.list', {})).length;
    const wanted = { name: null, expires_in_s: 60, replace: null };
    const tries = Array.from({ length: 25 }, () => refusal(ben, 'token.create', wanted));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20 - seeded);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5 + seeded);
    expect(await readMy(ben, 'token.list', {})).toHaveLength(20);
  });

  it('come in by their code, of which a member who is no admin does not vouch', async () => {
    const { path, ...init } = asking({ name: 'porch-pc', host: 'porch' });
    const asked = await fetch(`${gateway.address}${path}`, init);
    const login = (await asked.json()) as DeviceLogIn & Record<string, string>;
    expect(login['verification_uri']).toBe(`${gateway.address}/device`);
    const page = `${gateway.address}/device?code=${login.user_code}`;
    expect(login['verification_uri_complete']).toBe(page);
    const code = login.user_code.toLowerCase();
    expect(await my(anna, 'device.find', { code })).toMatchObject({ host: 'porch', owner: 'Anna' });
    await my(anna, 'device.approve', { code });
    const collected = await fetch(`${gateway.address}${path}/token`, {
      ...init,
      body: JSON.stringify({ device_code: login.device_code }),
    });
    expect(await collected.json()).toMatchObject({ name: 'porch-pc', approved: false });
    expect(await refusal(anna, 'device.deny', { code })).toMatchObject({ status: 409 });
    expect(await refusal(anna, 'device.find', { code: 'AEIOU' })).toMatchObject({ status: 400 });
    const wrong = await refusal(anna, 'device.find', { code: 'ZZZZ-ZZZZ' });
    expect(wrong).toMatchObject({ status: 404 });
    expect(wrong.message).not.toContain('"device list"');
  });
});

describe('networks', () => {
  it('are their owner’s to make, call and fill; others join, look and leave', async () => {
    network = (await my(anna, 'network.create', { name: 'friends' })).id;
    await my(anna, 'network.rename', { network, name: 'good friends' });
    await my(anna, 'network.add', { network, member: 'Ben' });
    await my(ben, 'network.accept', { network });
    const unknown = await refusal(anna, 'network.add', { network, member: 'ben@example.org' });
    expect(unknown).toMatchObject({ status: 404 });
    expect(await readMy(ben, 'network.list', {})).toMatchObject([{ id: network, own: false }]);
    expect(await readMy(ben, 'network.show', { network })).toMatchObject({
      owner_id: gateway.anna.id,
      members: [{ name: 'Anna' }, { name: 'Ben' }],
    });
    for (const name of ['network.rename', 'network.delete', 'network.remove'] as const) {
      const args = { network, ...(name !== 'network.delete' && { name: 'x', member: 'x' }) };
      expect((await refusal(ben, name, args)).status).toBeGreaterThanOrEqual(400);
    }
    expect(await refusal(ben, 'network.delete', { network })).toMatchObject({ status: 403 });
    expect(await refusal(anna, 'network.leave', { network })).toMatchObject({ status: 409 });
    await my(ben, 'network.leave', { network });
    expect(await readMy(ben, 'network.list', {})).toEqual([]);
    expect(await refusal(ben, 'network.leave', { network })).toMatchObject({ status: 404 });
    await my(anna, 'network.add', { network, member: gateway.ben.id });
    await my(ben, 'network.accept', { network });
    const owner = { network, member: gateway.anna.id };
    expect(await refusal(anna, 'network.remove', owner)).toMatchObject({ status: 409 });
  });

  it('are joined by an invite of their owner’s, which nobody else ends', async () => {
    const email = 'chiara@example.org';
    const { id, secret, role } = await my(anna, 'user.invite', {
      email,
      network,
      expires_in_s: 60,
    });
    expect([secret.slice(0, 4), role]).toEqual(['gwi_', 'member']);
    const bens = (await my(ben, 'network.create', { name: 'bens' })).id;
    const rival = await refusal(ben, 'user.invite', { email, network: bens, expires_in_s: 60 });
    expect(rival).toMatchObject({ status: 409 });
    expect(await readMy(anna, 'user.invites', {})).toMatchObject([{ id, state: 'open' }]);
    expect(await readMy(ben, 'user.invites', {})).toEqual([]);
    await my(anna, 'user.uninvite', { invite: id });
    expect(await lastly('invite.revoke')).toMatchObject({ actor: byAnna() });
    expect(await my(ben, 'user.invite', { email, network: bens, expires_in_s: 60 })).toBeDefined();
  });
});

/** Shares all of Anna's provider with her network. */
const share = () => ({
  provider,
  service: null,
  model: null,
  network,
  user: null,
  slots: 1,
  hours: null,
  time_zone: null,
  max_tokens: null,
});

async function isServed(visitor: Visitor): Promise<boolean> {
  return (await visitor.fetch('/v1/models/tiny')).status === 200;
}

describe('providers', () => {
  it('are shared with a network, paused for all but their owner, and let in again', async () => {
    await gateway.admin('provider.approve', { provider });
    expect(await isServed(ben)).toBe(false);
    await my(anna, 'provider.share', share());
    expect(await isServed(ben)).toBe(true);
    expect(await my(anna, 'provider.pause', { provider })).toMatchObject({ paused: true });
    expect([await isServed(anna), await isServed(ben)]).toEqual([true, false]);
    expect((await post(anna, chat())).status).toBe(200);
    expect(await failureOf(await post(ben, chat()))).toMatchObject({ type: 'no_provider' });
    expect(await readMy(anna, 'provider.show', { provider })).toMatchObject({
      paused: true,
      accepts: 'own',
    });
    const { attention } = await readMy(anna, 'home.show', {});
    expect(attention).toContainEqual(
      expect.objectContaining({ kind: 'provider_paused', href: `/providers/${provider}` }),
    );
    await my(anna, 'provider.unpause', { provider });
    expect(await isServed(ben)).toBe(true);
    expect(await lastly('provider.pause')).toMatchObject({ actor: byAnna() });
  });

  it('are blocked for one, and shared no longer', async () => {
    await my(anna, 'provider.block', { member: gateway.ben.id });
    expect(await isServed(ben)).toBe(false);
    expect(await readMy(anna, 'provider.blocks', {})).toMatchObject([{ name: 'Ben' }]);
    await my(anna, 'provider.unblock', { member: gateway.ben.id });
    expect(await isServed(ben)).toBe(true);
    const { slots: _, hours, time_zone, max_tokens, ...selectors } = share();
    expect([hours, time_zone, max_tokens]).toEqual([null, null, null]);
    await my(anna, 'provider.unshare', { ...selectors, share: null, all: false });
    expect(await isServed(ben)).toBe(false);
    const gone = { ...selectors, network: null, share: 'Z'.repeat(26), all: false };
    expect(await refusal(anna, 'provider.unshare', gone)).toMatchObject({ status: 404 });
  });
});

describe('usage and home', () => {
  it('a request is seen at once, as received and as given', async () => {
    await my(anna, 'provider.share', { ...share(), model: 'tiny' });
    const sent = await post(ben, chat());
    await sent.text();
    const requestId = sent.headers.get('x-request-id');
    const recent = () => readMy(ben, 'usage.recent', { limit: 1, after: null });
    await until(async () => (await recent()).requests[0]?.request_id === requestId);
    const { requests, has_more: hasMore } = await recent();
    expect(requests).toMatchObject([{ provider: 'Anna/den-pc', source: 'console', outcome: 'ok' }]);
    expect(hasMore).toBe(true);
    const ofBen = { request: requestId ?? '' };
    const one = await readMy(ben, 'usage.request', ofBen);
    expect(one).toMatchObject({ ...requests[0], work: null, own_provider: null, attempts: 1 });
    const times = [one.received_at, one.sent_at, one.first_byte_at, one.ended_at];
    expect(times).toEqual([...times].toSorted((a, b) => (a ?? 0) - (b ?? 0)));
    expect(one.tokens_per_s).toBeGreaterThan(0);
    const ofOther = await failureOf(await ask(anna, ['my', 'usage.request'], ofBen));
    const unknown = await failureOf(
      await ask(anna, ['my', 'usage.request'], { request: 'req_none' }),
    );
    expect(ofOther).toMatchObject({ status: 404, code: 'not_found' });
    expect({ ...ofOther, message: '' }).toEqual({ ...unknown, message: '' });
    expect((await ask(anna, ['my', 'usage.request'])).status).toBe(400);
    const given = { since_s: 86_400, given: true } as const;
    expect(await readMy(anna, 'stats.show', { ...given, by: 'member' })).toContainEqual(
      expect.objectContaining({ name: 'Ben', ok: 1 }),
    );
    expect(await readMy(ben, 'stats.show', { ...given, by: 'member' })).toEqual([]);
    const series = await readMy(ben, 'usage.series', { since_s: 1, by: 'provider', given: false });
    expect(series).toContainEqual(expect.objectContaining({ name: 'Anna/den-pc', requests: 1 }));
    const hours = { since_s: 3_600, step: 'hour' } as const;
    const own = await readMy(ben, 'usage.series', { ...hours, by: 'day', given: false });
    expect(own.at(-1)).toMatchObject({
      period: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d$/) as string,
      ok: expect.any(Number) as number,
      total_p50_ms: expect.any(Number) as number,
      tokens_per_s: expect.any(Number) as number,
    });
    const byModel = { ...hours, by: 'model', given: true } as const;
    expect(await readMy(anna, 'usage.series', byModel)).toContainEqual(
      expect.objectContaining({ id: 'tiny', name: 'tiny' }),
    );
    expect(await readMy(ben, 'usage.series', byModel)).toEqual([]);
    for (const wrong of [
      { ...hours, by: 'key', given: false },
      { ...hours, by: 'member', given: true },
      { ...hours, by: 'day', given: false, since_s: 32 * 86_400 },
      { since_s: 1, by: 'day', given: false, model: 'tiny' },
      { ...hours, by: 'day', given: false, step: 'minute' },
      { ...hours, by: 'day', given: false, user: 'Anna' },
    ]) {
      const path = `/api/console/v1/my/usage.series?args=${JSON.stringify(wrong)}`;
      expect(await failureOf(await ben.fetch(path))).toMatchObject({ status: 400 });
    }
    const byKey = await anna.fetch(
      `/api/console/v1/my/stats.show?args=${JSON.stringify({ ...given, by: 'key' })}`,
    );
    expect(await failureOf(byKey)).toMatchObject({ status: 400 });
  });

  it('home tells what there is, and which steps are done', async () => {
    const home = await readMy(anna, 'home.show', {});
    const done = { has_key: true, has_provider: true, has_called: true, has_shared: true };
    expect(home.checklist).toMatchObject({ ...done, closed: false });
    expect(home.tiles).toMatchObject({ providers: 2, providers_online: 1, running: 0, queued: 0 });
    expect(home.tiles.requests_24h).toBeGreaterThan(0);
    const day = await readMy(anna, 'home.day', {});
    const { requests, errors, tokens } = day.hours;
    expect([requests.length, errors.length, tokens.length]).toEqual([24, 24, 24]);
    expect(requests.reduce((sum, one) => sum + one, 0)).toBe(home.tiles.requests_24h);
    expect([day.requests, day.errors, day.hours]).toEqual([
      home.tiles.requests_24h,
      home.tiles.errors_24h,
      home.hours,
    ]);
    const now = await readMy(anna, 'home.show', { day: false });
    expect(now).toEqual({
      ...home,
      tiles: { ...home.tiles, requests_24h: null, errors_24h: null },
      hours: null,
    });
    const shown = await readMy(anna, 'provider.list', {});
    expect(shown.find(({ id }) => id === provider)).toMatchObject({
      online: true,
      services: [{ busy: 0, slots: 4 }],
      last_error: null,
    });
    expect(await readMy(ben, 'model.list', {})).toMatchObject([
      { id: 'tiny', own: false, slots: 4 },
    ]);
  });

  it('one’s own name and sessions', async () => {
    expect(await my(ben, 'user.rename', { name: 'Benno' })).toMatchObject({ name: 'Benno' });
    expect(await refusal(ben, 'user.rename', { name: 'Anna' })).toMatchObject({ status: 409 });
    const [session] = await readMy(ben, 'user.sessions', {});
    expect(session).toMatchObject({ current: true });
    await my(ben, 'user.logout', { session: session?.id ?? '' });
    expect((await ben.fetch('/api/console/v1/my/user.sessions')).status).toBe(401);
  });
});
