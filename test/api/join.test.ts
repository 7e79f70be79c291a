import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { cookieOf, invite, joining, loggingIn, PASSWORD } from './account-calls.js';
import type { Sent } from './account-calls.js';
import { my } from './console-calls.js';
import { failureOf } from './requests.js';
import { visit } from './visitor.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
/** Each test has its own address; otherwise all would share ten tries a minute. */
let visitors = 0;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1 });
});

afterAll(() => gateway.stop());

async function send({ path, headers, ...init }: Sent, address?: string): Promise<Response> {
  const from = address ?? `192.0.2.${(visitors += 1)}`;
  const response = await fetch(`${gateway.address}${path}`, {
    ...init,
    headers: { ...headers, 'x-forwarded-for': from },
  });
  await expectDocumented(path, init.method ?? 'GET', response);
  return response;
}

function join(fields: object, address?: string): Promise<Response> {
  return send(joining({ password: PASSWORD, ...fields }), address);
}

interface Joined {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly key?: string;
}

/** Asks who invites to what. */
function look(token: string, address?: string): Promise<Response> {
  const { body, ...rest } = joining({ token });
  return send({ ...rest, path: '/api/join/invite', body: body ?? null }, address);
}

async function refused(token: string) {
  const { status, code, message } = await failureOf(await look(token));
  return [status, code, message];
}

describe('what an invite is for', () => {
  it('is told to its holder: who invites, to which network, on which gateway', async () => {
    const anna = await visit(gateway, 'anna@example.org');
    const { id: network } = await my(anna, 'network.create', { name: 'attic' });
    const wanted = { email: 'zoe@example.org', network, expires_in_s: 600 };
    const { secret } = await my(anna, 'user.invite', wanted);
    const response = await look(`https://gateway.example.org/join#${secret}`);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const told = (await response.json()) as { readonly expires_at: number };
    expect(told).toEqual({
      inviter: 'Anna',
      network: 'attic',
      gateway: gateway.address,
      expires_at: told.expires_at,
    });
    // Neither the invited person's address nor the inviter's.
    expect(JSON.stringify(told)).not.toContain('@');
    // It is asked for before it is used, which it still can be.
    expect((await join({ token: secret, name: 'Zoe' })).status).toBe(201);
    expect(await failureOf(await look(secret))).toMatchObject({ code: 'invalid_invite' });
  });

  it('is told without a name if it was made on the server', async () => {
    const told: unknown = await (await look(await invite(gateway))).json();
    expect(told).toMatchObject({ inviter: null, network: null });
  });

  it('is told to nobody else, whatever is wrong with the invite', async () => {
    const expired = await invite(gateway, { expires_in_s: 1 });
    const unknown = await refused(newSecret('gwi'));
    expect(unknown.slice(0, 2)).toEqual([401, 'invalid_invite']);
    expect(await refused('gwi_short')).toEqual(unknown);
    await until(async () => (await look(expired)).status === 401);
    expect(await refused(expired)).toEqual(unknown);
    const from = '198.51.100.77';
    const looks = Array.from({ length: 31 }, () => look(newSecret('gwi'), from));
    const statuses = (await Promise.all(looks)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});

describe('an invite', () => {
  it('makes its holder a member, with a key that works at once', async () => {
    const token = await invite(gateway, { email: 'carl@example.org' });
    const response = await join({ token, name: 'Carl', key_name: 'laptop' });
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const joined = (await response.json()) as Joined;
    expect(joined).toMatchObject({ name: 'Carl', email: 'carl@example.org' });
    const headers = { authorization: `Bearer ${joined.key}` };
    expect((await fetch(`${gateway.baseUrl}/models`, { headers })).status).toBe(200);
    const keys = await gateway.admin('key.list', { user: 'Carl' });
    expect(keys).toMatchObject([{ name: 'laptop', prefix: joined.key?.slice(0, 12) }]);
  });

  it('makes no key that nobody has asked for', async () => {
    const response = await join({ token: await invite(gateway), name: 'Dora' });
    expect(await response.json()).not.toHaveProperty('key');
    expect(await gateway.admin('key.list', { user: 'Dora' })).toEqual([]);
  });

  it('lets its member log in with the password that they gave', async () => {
    await join({ token: await invite(gateway, { email: 'emil@example.org' }), name: 'Emil' });
    const response = await send(loggingIn('emil@example.org'));
    expect([response.status, cookieOf(response)]).toEqual([204, expect.stringContaining('gws_')]);
  });

  it('brings its role and its network', async () => {
    await gateway.admin('network.create', { name: 'friends', owner: 'Anna' });
    const token = await invite(gateway, { admin: true, network: 'friends' });
    await join({ token, name: 'Fred' });
    expect(await gateway.admin('user.show', { member: 'Fred' })).toMatchObject({ role: 'admin' });
    const network = await gateway.admin('network.show', { network: 'friends' });
    expect(JSON.stringify(network)).toContain('Fred');
  });

  it('may be given as the link that it came in', async () => {
    const token = `https://gateway.example.org/join#${await invite(gateway)}\n`;
    expect((await join({ token, name: 'Gina' })).status).toBe(201);
  });

  it('is written down as taken up by it', async () => {
    await join({ token: await invite(gateway), name: 'Hugo', key_name: 'phone' });
    const { id } = await gateway.admin('user.show', { member: 'Hugo' });
    const all = { since_s: null, action: null, actor: null, subject: null, limit: 20 };
    const written = JSON.stringify(await gateway.admin('audit.list', all));
    expect(written).toMatch(/"actor":"invite"[^}]*"action":"invite.accept"/);
    expect(written).toContain(`"actor":"member:${id}"`);
    expect(written).not.toMatch(/gw[ki]_\w{20}|scrypt/);
  });
});

async function used(): Promise<string> {
  const token = await invite(gateway);
  expect((await join({ token, name: 'Used Up' })).status).toBe(201);
  return token;
}

async function revoked(): Promise<string> {
  const token = await invite(gateway, { email: 'revoked@example.org' });
  await gateway.admin('user.uninvite', { invite: 'revoked@example.org' });
  return token;
}

async function expired(): Promise<string> {
  const token = await invite(gateway, { expires_in_s: 1 });
  const endsAt = Date.now() + 1_000;
  await until(() => Date.now() > endsAt, { what: 'the invite to expire' });
  return token;
}

describe('one answer is told of every invite that is not good', () => {
  it.each([
    ['unknown', () => newSecret('gwi')],
    ['cut off', async () => (await invite(gateway)).slice(0, -1)],
    ['another kind of secret', () => newSecret('gwj')],
    ['used', used],
    ['revoked', revoked],
    ['expired', expired],
  ])('%s', async (_, make) => {
    const failure = await failureOf(await join({ token: await make(), name: 'Nobody' }));
    expect(failure).toEqual({
      status: 401,
      type: 'not_authenticated',
      code: 'invalid_invite',
      param: 'token',
      retry: null,
      message:
        'The invite is not accepted: it is not whole, or has been used or revoked, or has ' +
        'expired. If you joined with it, log in; if not, ask the admin for another.',
    });
  });
});

it('of two who take up one invite at once, one becomes a member', async () => {
  const token = await invite(gateway);
  const answers = await Promise.all(['Ida', 'Ian'].map((name) => join({ token, name })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 401]);
});

describe('what is wrong is told, and the invite stays good', () => {
  it.each([
    ['token', 'missing_required_parameter', { token: undefined }],
    ['name', 'missing_required_parameter', { name: null }],
    ['name', 'invalid_value', { name: 'a/b' }],
    ['name', 'invalid_type', { name: 7 }],
    ['password', 'missing_required_parameter', { password: undefined }],
    ['password', 'invalid_value', { password: 'too short' }],
    ['password', 'invalid_value', { password: 'x'.repeat(1_025) }],
    ['key_name', 'invalid_value', { key_name: '' }],
  ])('%s: %s', async (param, code, fields) => {
    const token = await invite(gateway);
    const wrong = await failureOf(await join({ token, name: 'Judy', ...fields }));
    expect(wrong).toMatchObject({ status: 400, param, code });
    const next = await failureOf(await join({ token, name: 'Anna' }));
    expect(next).toMatchObject({ status: 409, code: 'name_taken', param: 'name', retry: 'false' });
  });

  it('a password is never repeated', async () => {
    const password = 'secret one';
    const response = await join({ token: await invite(gateway), name: 'Karl', password });
    expect(await response.text()).not.toContain(password);
  });

  it('an address that has become a member meanwhile', async () => {
    const email = 'lena@example.org';
    const token = await invite(gateway, { email });
    await gateway.admin('user.create', { email, name: 'Lena', admin: false, password: null });
    expect(await failureOf(await join({ token, name: 'Lea' }))).toMatchObject({
      status: 409,
      code: 'name_taken',
      param: 'token',
    });
  });

  it.each([
    [400, 'invalid_json', '{'],
    [413, 'body_too_large', JSON.stringify({ token: 'x'.repeat(64 * 1024) })],
  ])('%i %s', async (status, code, body) => {
    expect(await failureOf(await send(joining(body)))).toMatchObject({ status, code });
  });
});

it('an address may try ten times a minute, and others are not kept waiting', async () => {
  const wrong = { token: 'gwi_wrong', name: 'Mallory' };
  const statuses: number[] = [];
  for (let i = 0; i < 10; i++) statuses.push((await join(wrong, '198.51.100.7')).status);
  expect(statuses).toEqual(Array.from({ length: 10 }, () => 401));
  const refused = await join(wrong, '198.51.100.7');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await failureOf(refused)).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
  expect((await join(wrong, '198.51.100.8')).status).toBe(401);
});

it('it takes no key, and tells no rate limit of the API', async () => {
  const own = await startGateway();
  const { path, ...init } = joining({});
  const response = await fetch(`${own.address}${path}`, init);
  expect(response.status).toBe(400);
  expect(response.headers.get('x-ratelimit-limit')).toBeNull();
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
});
