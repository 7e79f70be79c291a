/** Log-in at a real OpenID provider: who gets in, as whom, and what is refused. */
import { OIDC_CALLBACK } from '@inference-gateway/coordinator/accounts/oidc';
import { ownPage } from '@inference-gateway/coordinator/http/accounts/oidc';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { CLIENT, CookieJar, startProvider } from '../support/open-id.js';
import type { Account, TestProvider } from '../support/open-id.js';
import { expectDocumented } from '../support/openapi.js';
import { freePort } from '../support/process-gateway.js';
import { invite, PASSWORD, SAME_ORIGIN, SESSION_PATH } from './account-calls.js';
import { failureOf } from './requests.js';

const START = '/api/console/v1/oidc/start';
const COMMANDS = '/api/console/v1/my';
const ADMINS = 'gateway-admins';

let provider: TestProvider;
let gateway: TestGateway;
let place: { readonly port: number; readonly publicUrl: string; readonly dataDir: string };
let addresses = 0;

beforeAll(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  place = { port, publicUrl, dataDir: await mkdtemp(join(tmpdir(), 'gateway-oidc-')) };
  provider = await startProvider(publicUrl);
  gateway = await openGateway({ ...settings(), ...place });
});

afterAll(async () => {
  await gateway.stop();
  await provider.close();
  await rm(place.dataDir, { recursive: true });
});

function settings() {
  return {
    trustProxy: 1,
    oidcIssuer: provider.issuer,
    oidcClientId: CLIENT.id,
    oidcClientSecret: CLIENT.secret,
    oidcDomains: ['home.example'],
    oidcAdminClaim: 'groups',
    oidcAdminValue: ADMINS,
  } as const;
}

/** One browser, at an address of its own. */
class Visit {
  readonly #jar = new CookieJar();
  readonly #from = { 'x-forwarded-for': `192.0.2.${(addresses += 1)}` };

  async call(path: string, body?: object): Promise<Response> {
    const headers = { ...SAME_ORIGIN, ...this.#from, 'content-type': 'application/json' };
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await this.#jar.fetch(`${gateway.address}${path}`, { headers, ...post });
    await expectDocumented(path.split('?')[0] ?? '', post ? 'POST' : 'GET', response);
    return response;
  }

  /** The provider's address for this log-in. */
  async start(asked: object = {}): Promise<string> {
    const response = await this.call(START, asked);
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { readonly url: string }).url;
  }

  /** Where the provider sends the browser back to: path and query. */
  async returned(url: string): Promise<string> {
    const back = new URL(await this.#jar.followTo(OIDC_CALLBACK, url));
    return `${back.pathname}${back.search}`;
  }

  /** The page that is shown then. */
  async finish(back: string): Promise<string | null> {
    const location = (await this.call(back)).headers.get('location');
    expect(location?.startsWith(`${gateway.address}/`)).toBe(true);
    return location?.slice(gateway.address.length) ?? null;
  }

  async arrive(account: Account | null, asked: object = {}): Promise<string | null> {
    provider.become(account);
    return this.finish(await this.returned(await this.start(asked)));
  }

  async whoami(): Promise<{ name: string; email: string; role: string } | null> {
    const response = await this.call(SESSION_PATH);
    if (!response.ok) return null;
    return ((await response.json()) as { member: { name: string; email: string; role: string } })
      .member;
  }

  async logIn(email: string): Promise<void> {
    await this.call(SESSION_PATH, { email, password: PASSWORD });
  }
}

const verified = (sub: string, email: string, more: Partial<Account> = {}): Account => {
  return { sub, email, email_verified: true, ...more };
};

describe('a new account', () => {
  it('joins with an invite, as the address of the invite, and is known afterwards', async () => {
    const token = await invite(gateway, { email: 'iris@example.org' });
    const visit = new Visit();
    const account = { sub: 'iris', email: 'other@example.com', name: 'Anna' };
    expect(await visit.arrive(account, { token, next: '/jobs' })).toBe('/jobs');
    // The name of a member is not taken twice.
    expect(await visit.whoami()).toMatchObject({ name: 'Anna-2', email: 'iris@example.org' });
    const again = new Visit();
    expect(await again.arrive(account)).toBe('/');
    expect(await again.whoami()).toMatchObject({ email: 'iris@example.org' });
    const [session] = await gateway.admin('user.sessions', { member: 'iris@example.org' });
    expect(session).toMatchObject({ method: 'oidc' });

    const second = new Visit();
    expect(await second.arrive({ sub: 'eve' }, { token })).toBe('/login?problem=invite');
    expect(await second.whoami()).toBeNull();
    const audit = await gateway.admin('audit.list', {
      since_s: null,
      action: 'oidc.connect',
      actor: 'oidc',
      subject: null,
      limit: 10,
      after: null,
    });
    expect(audit.length).toBeGreaterThan(0);
  });

  it('joins by a verified address of a domain, and by no other', async () => {
    const refused = '/login?problem=unknown';
    const strange: readonly (readonly [Account, string])[] = [
      [{ sub: 'u1', email: 'una@home.example' }, refused],
      [{ sub: 'u2', email: 'una@home.example', email_verified: false }, refused],
      [verified('u3', 'una@sub.home.example'), refused],
      [verified('u4', 'una@home.example.evil.example'), refused],
      [verified('u5', 'una@elsewhere.example'), refused],
      [verified('u6', 'una@HOME.example', { name: 'Una' }), '/'],
    ];
    for (const [account, page] of strange) {
      const visit = new Visit();
      expect([account.sub, await visit.arrive(account)]).toEqual([account.sub, page]);
      expect((await visit.whoami())?.name ?? null).toBe(page === '/' ? 'Una' : null);
    }
  });

  it('never becomes a member who is there already by their address', async () => {
    const email = 'nora@home.example';
    await gateway.admin('user.create', { email, name: 'Nora', admin: false, password: null });
    const visit = new Visit();
    expect(await visit.arrive(verified('nora', email))).toBe('/login?problem=taken');
    expect(await visit.whoami()).toBeNull();
  });
});

describe('a member', () => {
  it('connects an account while logged in, logs in with it, and disconnects it', async () => {
    const visit = new Visit();
    await visit.logIn(gateway.anna.email);
    const account = { sub: 'anna-there' };
    expect(await visit.arrive(account, { connect: true })).toBe('/settings/security');
    const other = new Visit();
    expect(await other.arrive(account)).toBe('/');
    expect(await other.whoami()).toMatchObject({ email: gateway.anna.email });

    const ben = new Visit();
    await ben.logIn(gateway.ben.email);
    const taken = await ben.arrive(account, { connect: true });
    expect(taken).toBe('/settings/security?problem=connected_elsewhere');
    const twice = new Visit();
    await twice.logIn(gateway.anna.email);
    const second = await twice.arrive({ sub: 'anna-twice' }, { connect: true });
    expect(second).toBe('/settings/security?problem=other_account');

    const gone = { issuer: provider.issuer, password: null };
    expect((await visit.call(`${COMMANDS}/oidc.disconnect`, gone)).status).toBe(200);
    expect(await new Visit().arrive(account)).toBe('/login?problem=unknown');
    expect((await new Visit().call(START, { connect: true })).status).toBe(401);
  });

  it('who has no other way in keeps the account, and can set a password', async () => {
    const visit = new Visit();
    await visit.arrive(verified('tom', 'tom@home.example'));
    const last = { issuer: provider.issuer, password: null };
    const refused = await visit.call(`${COMMANDS}/oidc.disconnect`, last);
    expect(await failureOf(refused)).toMatchObject({ status: 409 });
    const password = 'a password after all';
    expect((await visit.call('/api/console/v1/password', { password })).status).toBe(204);
    expect((await visit.call(`${COMMANDS}/oidc.disconnect`, last)).status).toBe(200);
  });

  it('who is disabled is not logged in', async () => {
    const account = verified('dan', 'dan@home.example');
    await new Visit().arrive(account);
    await gateway.admin('user.disable', { member: 'dan@home.example' });
    const visit = new Visit();
    expect(await visit.arrive(account)).toBe('/login?problem=disabled');
    expect(await visit.whoami()).toBeNull();
  });

  it('has the role of the claim at each log-in, and the last admin keeps it', async () => {
    const account = verified('ada', 'ada@home.example');
    const roleAfter = async (groups: readonly string[]): Promise<string | undefined> => {
      const visit = new Visit();
      await visit.arrive({ ...account, groups });
      return (await visit.whoami())?.role;
    };
    expect(await roleAfter([])).toBe('member');
    expect(await roleAfter(['others', ADMINS])).toBe('admin');
    expect(await roleAfter([])).toBe('admin');
    await gateway.admin('user.role', { member: gateway.anna.id, role: 'admin' });
    expect(await roleAfter([`${ADMINS}-not`])).toBe('member');
    await gateway.admin('user.role', { member: gateway.anna.id, role: 'member' });
    const changes = await gateway.admin('audit.list', {
      since_s: null,
      action: 'user.role',
      actor: 'oidc',
      subject: null,
      limit: 10,
      after: null,
    });
    expect(changes.map(({ after }) => after)).toEqual([{ role: 'member' }, { role: 'admin' }]);
  });
});

function change(url: string, parameter: string, value: string): string {
  const changed = new URL(url, gateway.address);
  changed.searchParams.set(parameter, value);
  return changed.href;
}

describe('refused is', () => {
  const mia = verified('mia', 'mia@home.example');

  it.each([
    ['another state', 'state', '/login?problem=expired'],
    ['another code', 'code', '/login?problem=invalid'],
    ['another issuer', 'iss', '/login?problem=invalid'],
  ])('%s at the return', async (_, parameter, page) => {
    provider.become(mia);
    const visit = new Visit();
    const back = await visit.returned(await visit.start());
    const changed = new URL(change(back, parameter, 'https://another.example'));
    expect(await visit.finish(`${changed.pathname}${changed.search}`)).toBe(page);
    expect(await visit.whoami()).toBeNull();
  });

  it.each(['nonce', 'code_challenge'])('another %s at the provider', async (parameter) => {
    provider.become(mia);
    const visit = new Visit();
    const other = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const back = await visit.returned(change(await visit.start(), parameter, other));
    expect(await visit.finish(back)).toBe('/login?problem=invalid');
  });

  it('a return for the second time, in another browser, or to nothing', async () => {
    provider.become(mia);
    const visit = new Visit();
    const back = await visit.returned(await visit.start({ next: '/queue' }));
    expect(await new Visit().finish(back)).toBe('/login?problem=expired');
    expect(await visit.finish(back)).toBe('/queue');
    expect(await visit.finish(back)).toBe('/login?problem=expired');
    expect(await new Visit().finish(OIDC_CALLBACK)).toBe('/login?problem=expired');
  });

  it('somebody who refuses there, without any blame', async () => {
    const visit = new Visit();
    for (let tries = 0; tries < 7; tries++) {
      expect(await visit.arrive(null, { next: '/jobs' })).toBe(
        '/login?problem=denied&next=%2Fjobs',
      );
    }
  });

  it('an address with too many failures in a row', async () => {
    const visit = new Visit();
    const pages: (string | null)[] = [];
    for (let tries = 0; tries < 7; tries++) pages.push(await visit.arrive({ sub: 'nobody' }));
    expect(pages.slice(0, 5)).toEqual(Array(5).fill('/login?problem=unknown'));
    expect(pages.at(-1)).toBe('/login?problem=too_many');
  });
});

test('a log-in under way ends well after a restart of the coordinator, and only once', async () => {
  provider.become(verified('rita', 'rita@home.example'));
  const visit = new Visit();
  const back = await visit.returned(await visit.start({ next: '/queue' }));
  await gateway.stop();
  gateway = await openGateway({ ...settings(), ...place });
  expect(await visit.finish(back)).toBe('/queue');
  expect(await visit.whoami()).toMatchObject({ email: 'rita@home.example' });
  expect(await visit.finish(back)).toBe('/login?problem=expired');
});

function begin(to: TestGateway): Promise<Response> {
  return fetch(`${to.address}${START}`, {
    method: 'POST',
    headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
    body: '{}',
  });
}

test('a provider that is down is told, and without one there is nothing to start', async () => {
  const dead = await startProvider(gateway.address);
  await dead.close();
  const lonely = await startGateway({ ...settings(), oidcIssuer: dead.issuer });
  const down = await failureOf(await begin(lonely));
  expect(down).toMatchObject({ status: 503, code: 'log_in_unavailable' });
  const plain = await startGateway();
  expect(await failureOf(await begin(plain))).toMatchObject({ status: 404, code: 'not_found' });
  const ways = await fetch(`${plain.address}/api/console/v1/log-in`);
  expect(await ways.json()).toEqual({ passkey_origin: null, oidc: null });
});

test.each([
  ['/jobs?status=FAILED#x', '/jobs?status=FAILED#x'],
  ['https://evil.example', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/api/oidc/callback', '/'],
  ['', '/'],
])('after the log-in %j leads to %s', (next, page) => {
  expect(ownPage(next)).toBe(page);
});
