import { programVersion } from '@inference-gateway/coordinator/own-files';
import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { givePassword, openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { cookieOf, loggingIn, PASSWORD, SAME_ORIGIN, SESSION_PATH } from './account-calls.js';
import type { Sent } from './account-calls.js';
import { failureOf } from './requests.js';

const DORA = 'dora@example.org';
const KEYS_ONLY = { email: 'keys-only@example.org', name: null, admin: false, password: null };

let gateway: TestGateway;
let visitors = 0;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1 });
  await addMember(DORA);
  await gateway.admin('user.create', KEYS_ONLY);
});

afterAll(() => gateway.stop());

/** An admin with a password; the name is derived from the address. */
async function addMember(email: string, to = gateway): Promise<{ readonly id: string }> {
  const made = await to.admin('user.create', { email, name: null, admin: true, password: null });
  givePassword(to, email);
  return made;
}

/** Each request comes from a different address by default. */
async function send({ path, headers, ...init }: Sent, to = gateway): Promise<Response> {
  const from = { 'x-forwarded-for': `192.0.2.${(visitors = (visitors % 250) + 1)}` };
  const url = `${to.address}${path}`;
  const response = await fetch(url, { ...init, headers: { ...from, ...headers } });
  await expectDocumented(path, init.method ?? 'GET', response);
  return response;
}

function look(cookie: string, to = gateway): Promise<Response> {
  return send({ path: SESSION_PATH, headers: { cookie } }, to);
}

function logOut(headers: Readonly<Record<string, string>>): Promise<Response> {
  return send({ path: SESSION_PATH, method: 'DELETE', headers });
}

async function logIn(email = DORA, to = gateway): Promise<string> {
  return cookieOf(await send(loggingIn(email), to));
}

describe('a session', () => {
  it('begins with address and password, and tells whose it is', async () => {
    const cookie = await logIn('DORA@Example.org');
    const response = await look(cookie);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const seen = (await response.json()) as { member: object; expires_at: number };
    expect(seen).toMatchObject({ member: { name: 'dora', email: DORA, role: 'admin' } });
    const days = (seen.expires_at - Date.now() / 1_000) / 86_400;
    expect(Math.round(days)).toBe(30);
  });

  it('is a cookie that no script reads', async () => {
    const response = await send(loggingIn(DORA));
    const form = /^gateway_session=gws_\w+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/;
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(form)]);
  });

  it('tells the page where callers reach this gateway, and its version', async () => {
    const seen = (await (await look(await logIn())).json()) as { gateway: object };
    expect(seen.gateway).toEqual({
      version: programVersion(),
      agent_version: programVersion(),
      public_url: gateway.address,
      base_url: gateway.baseUrl,
    });
  });

  it('does not begin with a password that is changed while it is looked at', async () => {
    const own = await startGateway({ trustProxy: 1 });
    await addMember(DORA, own);
    // As strong as in production, so that it is looked at for long enough.
    await own.admin('user.password', { member: DORA, password: PASSWORD });
    const logIns = Array.from({ length: 4 }, () => send(loggingIn(DORA), own));
    await own.admin('user.password', { member: DORA, password: 'another long password' });
    const cookies = (await Promise.all(logIns)).map(cookieOf);
    for (const cookie of cookies) expect((await look(cookie, own)).status).toBe(401);
  });

  it('keeps its cookie to https and this host where the public URL is https', async () => {
    const own = await startGateway({ publicUrl: 'https://gateway.example.net', trustProxy: 1 });
    await addMember(DORA, own);
    const response = await send(loggingIn(DORA), own);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-gateway_session=gws_\w+; Path=\/;.*; Secure$/);
    expect((await look(cookieOf(response), own)).status).toBe(200);
    expect((await look(cookieOf(response).replace('__Host-', ''), own)).status).toBe(401);
  });

  it('ends with logging out, and logging out again is no error', async () => {
    const cookie = await logIn();
    const response = await logOut({ cookie, ...SAME_ORIGIN });
    expect([response.status, cookieOf(response)]).toEqual([204, '']);
    expect((await look(cookie)).status).toBe(401);
    expect((await logOut({ cookie, ...SAME_ORIGIN })).status).toBe(204);
    expect((await logOut(SAME_ORIGIN)).status).toBe(204);
  });

  it('ends where its browser logs in anew, and others of the member go on', async () => {
    const [first, other] = [await logIn(), await logIn()];
    const { headers, ...again } = loggingIn(DORA);
    const second = cookieOf(await send({ ...again, headers: { ...headers, cookie: first } }));
    const statuses = [await look(first), await look(second), await look(other)];
    expect(statuses.map(({ status }) => status)).toEqual([401, 200, 200]);
  });

  it('is listed with the address and the browser that it comes from', async () => {
    const { id } = await addMember('listed@example.org');
    const { headers, ...request } = loggingIn('listed@example.org');
    const browser = { 'x-forwarded-for': '198.51.100.3', 'user-agent': 'F'.repeat(300) };
    await send({ ...request, headers: { ...headers, ...browser } });
    const sessions = JSON.stringify(await gateway.admin('user.sessions', { member: id }));
    expect(sessions).toContain('198.51.100.3');
    expect(sessions).toContain(`"${'F'.repeat(256)}"`);
    expect(sessions).not.toContain('gws_');
  });

  it.each([
    ['disabled', 'user.disable', {}],
    ['given another password', 'user.password', { password: 'another password' }],
  ] as const)('ends where its member is %s', async (_, command, fields) => {
    const email = `${command.slice(5)}@example.org`;
    await addMember(email);
    const cookie = await logIn(email);
    expect((await look(cookie)).status).toBe(200);
    await gateway.admin(command, { member: email, ...fields });
    expect(await failureOf(await look(cookie))).toMatchObject({ code: 'not_logged_in' });
    const failure = await failureOf(await send(loggingIn(email)));
    expect(failure).toMatchObject({ status: 401, code: 'wrong_password' });
  });

  it.each([
    ['none', ''],
    ['another cookie', 'theme=dark'],
    ['an invented one', `gateway_session=${newSecret('gws')}`],
    ['one that is cut off', 'gateway_session=gws_abc'],
    ['an API key', `gateway_session=${newSecret('gwk')}`],
  ])('is not there with %s', async (_, cookie) => {
    expect(await failureOf(await look(cookie))).toMatchObject({
      status: 401,
      type: 'not_authenticated',
      code: 'not_logged_in',
    });
  });

  it('opens no endpoint that takes a key, and a key opens no session', async () => {
    const response = await fetch(`${gateway.baseUrl}/models`, {
      headers: { cookie: await logIn() },
    });
    expect(await failureOf(response)).toMatchObject({ status: 401, code: 'missing_api_key' });
    expect((await gateway.fetch(SESSION_PATH)).status).toBe(401);
  });
});

describe('only pages of the gateway itself log in and out', () => {
  const FOREIGN = 'https://evil.example.com';

  it.each([
    ['nothing', {}],
    ['another origin', { origin: FOREIGN }],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: FOREIGN }],
    ['a sibling of the host', { 'sec-fetch-site': 'same-site' }],
    ['an origin that is hidden', { origin: 'null' }],
  ])('not a page that sends %s', async (_, headers) => {
    const { headers: json, ...request } = loggingIn(DORA);
    const body = { 'content-type': json?.['content-type'] ?? '' };
    const refused = await send({ ...request, headers: { ...body, ...headers } });
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await failureOf(refused)).toMatchObject({
      status: 403,
      type: 'forbidden',
      code: 'foreign_origin',
      message: expect.stringContaining(gateway.address) as string,
    });
    const cookie = await logIn();
    expect((await logOut({ cookie, ...headers })).status).toBe(403);
    expect((await look(cookie)).status).toBe(200);
  });

  it('not a page that writes the path in other letters', async () => {
    const { headers: _, ...request } = loggingIn(DORA);
    const headers = { 'content-type': 'application/json', origin: FOREIGN };
    const path = SESSION_PATH.replace('api', 'API');
    const refused = await fetch(`${gateway.address}${path}`, { ...request, headers });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([404, []]);
  });

  it('the public URL and the address listened on are ours', async () => {
    const publicUrl = 'http://gateway.example.net';
    const own = await startGateway({ publicUrl, trustProxy: 1 });
    await addMember(DORA, own);
    for (const origin of [publicUrl, own.address]) {
      const { headers, ...request } = loggingIn(DORA);
      const type = headers?.['content-type'] ?? '';
      const response = await send({ ...request, headers: { 'content-type': type, origin } }, own);
      expect(response.status).toBe(204);
    }
  });
});

describe('logging in', () => {
  it.each([
    ['a wrong password', DORA, 'a wrong password'],
    ['an address that nobody has', 'nobody@example.org', PASSWORD],
    ['a member without a password', KEYS_ONLY.email, PASSWORD],
    ['an empty password', DORA, ''],
    ['a very long one', DORA, 'x'.repeat(10_000)],
  ])('with %s gets the one same answer', async (_, email, password) => {
    expect(await failureOf(await send(loggingIn(email, password)))).toEqual({
      status: 401,
      type: 'not_authenticated',
      code: 'wrong_password',
      param: null,
      retry: null,
      message:
        'This address and this password do not belong together. Check both; an admin can set ' +
        'another password.',
    });
  });

  it.each([
    ['email', 'missing_required_parameter', { password: PASSWORD }],
    ['password', 'missing_required_parameter', { email: DORA }],
    ['email', 'invalid_type', { email: 7, password: PASSWORD }],
    ['email', 'invalid_value', { email: 'a'.repeat(255), password: PASSWORD }],
  ])('says what is wrong with %s: %s', async (param, code, body) => {
    const request = { ...loggingIn(DORA), body: JSON.stringify(body) };
    expect(await failureOf(await send(request))).toMatchObject({ status: 400, param, code });
  });
});

/** The statuses of this many wrong log-ins, one after another. */
async function guess(count: number, make: (n: number) => Sent): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < count; n++) statuses.push((await send(make(n))).status);
  return statuses;
}

function tryFrom(address: string, email: string, password = 'a wrong one'): Sent {
  const { headers, ...request } = loggingIn(email, password);
  return { ...request, headers: { ...headers, 'x-forwarded-for': address } };
}

describe('guessing is slowed down', () => {
  it('from one address, also with the right password; its owner elsewhere gets in', async () => {
    const email = 'guessed@example.org';
    await addMember(email);
    const guesser = '198.51.100.77';
    const statuses = await guess(5, () => tryFrom(guesser, email.toUpperCase()));
    expect(statuses).toEqual([401, 401, 401, 401, 401]);
    const right = await send(tryFrom(guesser, email, PASSWORD));
    expect((await send(loggingIn(email))).status).toBe(204);
    expect(right.headers.get('retry-after')).toBe('1');
    expect(await failureOf(right)).toMatchObject({
      status: 429,
      code: 'rate_limit_exceeded',
      message: 'Too many wrong passwords in a row. Try again in 1 seconds.',
    });
  });

  it('of an account that does not exist just the same', async () => {
    const statuses = await guess(6, () => tryFrom('198.51.100.78', 'no-such@example.org'));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  it('from one address, whatever the accounts, and from no other', async () => {
    const statuses = await guess(6, (n) => tryFrom(`2001:db8::${n}`, `someone-${n}@example.org`));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await send(tryFrom('2001:db8:0:1::1', 'someone@example.org'))).status).toBe(401);
  });

  it('attempts at once are as many as one after the other', async () => {
    const start = performance.now();
    const all = Array.from({ length: 12 }, (_, n) => {
      return send(tryFrom('198.51.100.79', `at-once-${n % 2}@example.org`));
    });
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    const tried = statuses.filter((status) => status === 401).length;
    expect(statuses.filter((status) => status === 429)).toHaveLength(12 - tried);
    expect(tried).toBeGreaterThanOrEqual(5);
    // On a slow machine a sixth attempt may begin after 1 s, and a seventh after 3 s.
    const seconds = (performance.now() - start) / 1_000;
    expect(tried).toBeLessThanOrEqual(5 + Math.floor(Math.log2(seconds + 1)));
  });

  it('who gets it right in between begins anew', async () => {
    const email = 'forgetful@example.org';
    await addMember(email);
    const wrong = (n: number): Sent => loggingIn(email, `wrong ${n}`);
    expect(await guess(4, wrong)).toEqual([401, 401, 401, 401]);
    expect((await send(loggingIn(email))).status).toBe(204);
    expect(await guess(4, wrong)).toEqual([401, 401, 401, 401]);
  });
});
