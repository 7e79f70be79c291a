/**
 * Every route of the router, called in every role. A route that is added outside the table of
 * endpoints has no row here, and fails until somebody has declared who may call it.
 */
import { MY_COMMANDS } from '@inference-gateway/coordinator/operations/my/commands';
import { ADMIN_COMMANDS } from '@inference-gateway/coordinator/operations/operations';
import { createRouter } from '@inference-gateway/coordinator/http/edge/app';
import type { AppParts } from '@inference-gateway/coordinator/http/edge/app';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { TRANSLATED_APIS } from '@inference-gateway/shared/openai/translated-apis';
import { newSecret } from '@inference-gateway/shared/ids';
import { CONNECT_PATH, SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { invite, SAME_ORIGIN } from '../api/account-calls.js';
import { act, ask } from '../api/console-calls.js';
import { consolePath, visit, visitAgain } from '../api/visitor.js';
import type { Visitor } from '../api/visitor.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';

/** Whom a route is for. */
type Audience =
  | 'anybody'
  /** Log-in and log-out: anybody, on a page of the gateway. */
  | 'own pages'
  | 'keys'
  | 'sessions'
  | 'keys and sessions'
  | 'admins'
  | 'agents'
  | 'join tokens'
  | 'the metrics token';

/** Every row of the tables of endpoints and of translated APIs is for keys. */
const INFERENCE = Object.fromEntries([
  ...Object.values(ENDPOINTS).map(({ method, path }) => [`${method} /v1${path}`, 'keys'] as const),
  ...Object.values(TRANSLATED_APIS).map(({ path }) => [`POST /v1${path}`, 'keys'] as const),
]);

const AUDIENCES: Readonly<Record<string, Audience>> = {
  'GET /': 'anybody',
  'GET /healthz': 'anybody',
  'GET /readyz': 'anybody',
  'GET /openapi.json': 'anybody',
  'GET /install.sh': 'anybody',
  'GET /install.ps1': 'anybody',
  'GET /download/x': 'anybody',
  'GET /api/setup': 'anybody',
  'POST /api/setup': 'anybody',
  'POST /api/join': 'anybody',
  // Its token is in the query: `api/feed`.
  'GET /api/feed': 'anybody',
  'POST /api/join/invite': 'anybody',
  'POST /agent/v1/device': 'anybody',
  'POST /agent/v1/device/token': 'anybody',
  'POST /agent/v1/enroll': 'join tokens',
  'GET /agent/v1/self': 'agents',
  'POST /agent/v1/shares': 'agents',
  'DELETE /agent/v1/shares/x': 'agents',
  'GET /metrics': 'the metrics token',
  'POST /api/console/v1/session': 'own pages',
  'DELETE /api/console/v1/session': 'own pages',
  'GET /api/console/v1/log-in': 'anybody',
  'POST /api/console/v1/passkey/challenge': 'own pages',
  'POST /api/console/v1/session/passkey': 'own pages',
  'POST /api/console/v1/oidc/start': 'own pages',
  'GET /api/oidc/callback': 'anybody',
  'POST /api/console/v1/password/reset': 'own pages',
  'GET /api/console/v1/session': 'sessions',
  'POST /api/console/v1/password': 'sessions',
  'GET /api/console/v1/my/x': 'sessions',
  'POST /api/console/v1/my/x': 'sessions',
  'GET /api/console/v1/admin/x': 'admins',
  'POST /api/console/v1/admin/x': 'admins',
  'GET /api/inference/assets': 'keys and sessions',
  'GET /api/inference/assets/x': 'keys and sessions',
  'DELETE /api/inference/assets/x': 'keys and sessions',
  'GET /api/inference/queue/summary': 'keys and sessions',
  'GET /v1/models': 'keys',
  'GET /v1/models/x': 'keys',
  ...INFERENCE,
  'GET /v1/jobs': 'keys',
  'GET /v1/jobs/x': 'keys',
  'POST /v1/jobs/x/cancel': 'keys',
  'POST /v1/jobs/x/retry': 'keys',
  'POST /v1/messages/count_tokens': 'keys',
  'GET /v1/responses/x': 'keys',
  'POST /v1/responses/x/cancel': 'keys',
  'GET /v1/batches': 'keys',
  'POST /v1/batches': 'keys',
  'GET /v1/batches/x': 'keys',
  'POST /v1/batches/x/cancel': 'keys',
  'GET /v1/files': 'keys',
  'POST /v1/files': 'keys',
  'GET /v1/files/x': 'keys',
  'DELETE /v1/files/x': 'keys',
  'GET /v1/files/x/content': 'keys',
};

/** What everybody sends, who gets in where, and who is refused with 403 instead of 401. */
const ROLES = {
  stranger: { isFor: [] },
  'proxied stranger': { isFor: [] },
  'made-up key': { isFor: [] },
  'key of a member': { isFor: ['keys', 'keys and sessions'] },
  'key of another member': { isFor: ['keys', 'keys and sessions'] },
  'key of a member as x-api-key': { isFor: ['keys', 'keys and sessions'] },
  'made-up key before one as x-api-key': { isFor: [] },
  'agent token as x-api-key': { isFor: [] },
  'key of a disabled member': { isFor: [] },
  'disabled key': { isFor: [] },
  'revoked key': { isFor: [] },
  'key in the query and in a cookie': { isFor: [] },
  'agent token': { isFor: ['agents'] },
  'agent token of a disabled member': { isFor: [] },
  'join token': { isFor: ['join tokens'] },
  'invite token': { isFor: [] },
  'device code': { isFor: [] },
  'secret of a session as a key': { isFor: [] },
  'session of a member': { isFor: ['own pages', 'sessions', 'keys and sessions'] },
  'session of an admin': { isFor: ['own pages', 'sessions', 'keys and sessions', 'admins'] },
  'session of a disabled member': { isFor: ['own pages'] },
  'session that has ended': { isFor: ['own pages'] },
  'session on a page of another site': { isFor: [] },
} as const satisfies Record<string, { isFor: readonly Audience[] }>;

type Role = keyof typeof ROLES;
const ROLE_NAMES = Object.keys(ROLES) as Role[];
const FOREIGN = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' };
/** What a proxy in front may add, and others believe. */
const OF_PROXIES = {
  'x-forwarded-user': 'Anna',
  'x-remote-user': 'Anna',
  'x-original-url': '/healthz',
  'x-rewrite-url': '/healthz',
  'x-http-method-override': 'OPTIONS',
  'x-forwarded-host': 'localhost',
  'x-forwarded-proto': 'https',
  forwarded: 'for=127.0.0.1;host=localhost',
};

let gateway: TestGateway;
let headersOf: Readonly<Record<Role, Readonly<Record<string, string>>>>;
let anna: Visitor;
let sent = 0;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1, metricsToken: 'a-token-for-the-metrics-alone' });
  headersOf = await everybody();
});

afterAll(() => gateway.stop());

async function everybody(): Promise<typeof headersOf> {
  anna = await visitAgain(gateway, 'anna@example.org');
  const ben = await visitAgain(gateway, 'ben@example.org');
  const ended = await visitAgain(gateway, 'ben@example.org');
  await ended.fetch('/api/console/v1/session', { method: 'DELETE' });
  const disabled = await disabledMember();
  const asked = await call('POST', '/agent/v1/device', { headers: forwarded() });
  const { device_code: code } = JSON.parse(asked.text) as { device_code: string };
  return {
    stranger: {},
    'proxied stranger': OF_PROXIES,
    'made-up key': bearer(newSecret('gwk')),
    'key of a member': bearer(gateway.anna.key),
    'key of another member': bearer(gateway.ben.key),
    'key of a member as x-api-key': { 'x-api-key': gateway.anna.key },
    'made-up key before one as x-api-key': {
      ...bearer(newSecret('gwk')),
      'x-api-key': gateway.anna.key,
    },
    'agent token as x-api-key': { 'x-api-key': await gateway.anna.enroll('attic-pc') },
    'key of a disabled member': bearer(disabled.key),
    'disabled key': bearer(await keyThatIs('disable')),
    'revoked key': bearer(await keyThatIs('revoke')),
    'key in the query and in a cookie': { cookie: `key=${gateway.anna.key}` },
    'agent token': bearer(await gateway.anna.enroll('den-pc')),
    'agent token of a disabled member': bearer(disabled.token),
    'join token': bearer(await joinToken('Anna')),
    'invite token': bearer(await invite(gateway)),
    'device code': bearer(code),
    'secret of a session as a key': bearer(anna.cookie.split('=')[1] ?? ''),
    'session of a member': { cookie: anna.cookie, ...SAME_ORIGIN },
    'session of an admin': { cookie: await adminCookie(), ...SAME_ORIGIN },
    'session of a disabled member': { cookie: disabled.cookie, ...SAME_ORIGIN },
    'session that has ended': { cookie: ended.cookie, ...SAME_ORIGIN },
    'session on a page of another site': { cookie: ben.cookie, ...FOREIGN },
  };
}

function bearer(secret: string) {
  return { authorization: `Bearer ${secret}` };
}

async function joinToken(owner: string): Promise<string> {
  const wanted = { owner, name: null, expires_in_s: 600, replace: null };
  return (await gateway.admin('token.create', wanted)).token;
}

async function newKey(user: string, name: string): Promise<string> {
  return (await gateway.admin('key.create', { user, name, scope: 'any', expires_in_s: null })).key;
}

async function keyThatIs(end: 'disable' | 'revoke'): Promise<string> {
  const key = await newKey('Anna', end);
  await gateway.admin(`key.${end}`, { key: `Anna/${end}` });
  return key;
}

/** With a key, an agent and a log-in from before. */
async function disabledMember() {
  const email = 'dora@example.org';
  await gateway.admin('user.create', { email, name: 'Dora', admin: false, password: null });
  const { cookie } = await visit(gateway, email);
  const key = await newKey('Dora', 'laptop');
  const headers = { ...forwarded(), ...bearer(await joinToken('Dora')) };
  const enrolled = await call('POST', '/agent/v1/enroll', { headers });
  const { token } = JSON.parse(enrolled.text) as { token: string };
  await gateway.admin('user.disable', { member: 'Dora' });
  return { key, token, cookie };
}

async function adminCookie(): Promise<string> {
  const email = 'ada@example.org';
  await gateway.admin('user.create', { email, name: 'Ada', admin: true, password: null });
  return (await visit(gateway, email)).cookie;
}

/** Each request has its own address: another test covers the limits of addresses. */
function forwarded() {
  sent += 1;
  return { 'x-forwarded-for': `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}` };
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Sends the path as it is written, which `fetch` would tidy first. */
function call(
  method: string,
  path: string,
  { headers }: { readonly headers: Readonly<Record<string, string>> },
): Promise<Answered> {
  const { hostname, port } = new URL(gateway.address);
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  return new Promise((done, failed) => {
    const outgoing = request({ hostname, port, method, path, headers: { ...type, ...headers } });
    outgoing.once('error', failed);
    outgoing.once('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () => {
        const { statusCode: status = 0, headers: told } = response;
        const text = Buffer.concat(pieces).toString();
        done({ status, type: told['content-type'] ?? '', text });
      });
    });
    outgoing.end(method === 'POST' ? '{}' : undefined);
  });
}

/** Stands for every part: routes are only registered here, never called. */
const anything: object = new Proxy(() => anything, { get: () => anything });

interface Layer {
  readonly methods: readonly string[];
  readonly path: string | RegExp;
}

const routes = (createRouter(anything as AppParts).stack as readonly Layer[]).map(
  ({ methods, path }) => {
    const method = methods.find((one) => one !== 'HEAD') ?? '';
    const sample = typeof path === 'string' ? path.replaceAll(/:\w+/g, 'x') : '/v1/models/x';
    return `${method} ${sample}`;
  },
);

/** The same calls as a page of the dashboard makes them. */
const twins = Object.entries(AUDIENCES)
  .filter(([, audience]) => audience === 'keys')
  .map(([route]) => [route.replace(/ .*/, (path) => ` ${consolePath(path.trim())}`), 'sessions']);

const LOG_OUT = 'DELETE /api/console/v1/session';

const MATRIX = [...Object.entries(AUDIENCES), ...(twins as [string, Audience][])].toSorted(
  // Logging out ends the sessions that others need.
  ([a], [b]) => Number(a === LOG_OUT) - Number(b === LOG_OUT),
);

type Outcome = 'in' | 401 | 403;

function expected(role: Role, audience: Audience, method: string): Outcome {
  const isFor: readonly Audience[] = ROLES[role].isFor;
  if (audience === 'anybody' || isFor.includes(audience)) return 'in';
  const isChange = method !== 'GET' && method !== 'HEAD';
  switch (audience) {
    case 'own pages':
      return 403;
    case 'admins':
    case 'sessions':
      // Where the page comes from is looked at before the cookie is.
      if (isChange && !isOwnPage(role)) return 403;
      // Reading is harmless: a page of another site cannot see the answer.
      if (role === 'session on a page of another site') return audience === 'admins' ? 403 : 'in';
      return audience === 'admins' && role === 'session of a member' ? 403 : 401;
    case 'keys and sessions':
      if (role !== 'session on a page of another site') return 401;
      return isChange ? 403 : 'in';
    case 'agents':
      return role === 'agent token of a disabled member' ? 403 : 401;
    default:
      return 401;
  }
}

function isOwnPage(role: Role): boolean {
  return role.startsWith('session') && role !== 'session on a page of another site';
}

const outcomeOf = ({ status }: Answered): Outcome =>
  status === 401 || status === 403 ? status : 'in';

/** A key in the query authenticates no request, on any path. */
function pathFor(role: Role, path: string): string {
  const { key } = gateway.anna;
  const query = `api_key=${key}&key=${key}&token=${key}&access_token=${key}`;
  return role === 'key in the query and in a cookie' ? `${path}?${query}` : path;
}

// Before the routes: one of them logs out.
describe('a WebSocket opens for its own audience only', () => {
  it.each(ROLE_NAMES)('%s', async (role) => {
    const ofAgents = { 'agent token': 101, 'agent token of a disabled member': 403 } as const;
    const statuses: Readonly<Partial<Record<Role, number>>> = ofAgents;
    expect(await upgradeOf(role, CONNECT_PATH)).toBe(statuses[role] ?? 401);
    const isTab = (ROLES[role].isFor as readonly Audience[]).includes('sessions');
    const isForeign = role === 'session on a page of another site';
    expect(await upgradeOf(role, '/api/live')).toBe(isTab ? 101 : isForeign ? 403 : 401);
  });
});

function upgradeOf(role: Role, path: string): Promise<number> {
  const headers = { origin: gateway.address, ...headersOf[role], ...forwarded() };
  const url = `${gateway.address.replace('http', 'ws')}${pathFor(role, path)}`;
  const socket = new WebSocket(url, path === CONNECT_PATH ? SUBPROTOCOL : [], { headers });
  return new Promise((done) => {
    socket.on('error', () => {});
    socket.once('open', () => socket.once('close', () => done(101)).terminate());
    socket.once('unexpected-response', (outgoing, { statusCode = 0 }) => {
      outgoing.destroy();
      done(statusCode);
    });
  });
}

describe('every route admits its own audience only', () => {
  it('the table has every route of the router, and no other', () => {
    expect(Object.keys(AUDIENCES).toSorted()).toEqual([...new Set(routes)].toSorted());
  });

  it.each(MATRIX)('%s is for %s', async (route, audience) => {
    const [method = '', path = ''] = route.split(' ');
    for (const role of ROLE_NAMES) {
      for (const one of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
        const headers = { ...headersOf[role], ...forwarded() };
        const answered = await call(one, pathFor(role, path), { headers });
        const { status, text } = answered;
        expect({ role, one, outcome: outcomeOf(answered) }, `${status} ${text}`).toEqual({
          role,
          one,
          outcome: expected(role, audience, method),
        });
        expect(status, `${role}: ${text}`).toBeLessThan(500);
      }
    }
  });
});

const CLOSED = Object.entries(AUDIENCES)
  .filter(([, audience]) => audience !== 'anybody' && audience !== 'own pages')
  .map(([route]) => route.split(' ') as [string, string]);

const hex = (letter: string): string => letter.charCodeAt(0).toString(16);

describe('another spelling of a request does not bypass authentication', () => {
  const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
    'doubled slashes': (path) => path.replaceAll('/', '//'),
    'a slash at its end': (path) => `${path}/`,
    'a dot at its end': (path) => `${path}/.`,
    'a way through an open one': (path) => `/healthz/..${path}`,
    'an encoded way through an open one': (path) => `/healthz/%2e%2e${path}`,
    'encoded slashes': (path) => `/${path.slice(1).replaceAll('/', '%2f')}`,
    'an encoded first letter': (path) => path.replace(/^\/(.)/, (_, letter) => `/%${hex(letter)}`),
    'other letters': (path) => path.toUpperCase(),
    'a parameter of the path': (path) => `${path};/healthz`,
    'a zero byte': (path) => `${path}%00/healthz`,
    backslashes: (path) => path.replaceAll('/', '\\'),
    'a whole URL': (path) => `http://localhost${path}`,
    'a whole URL with a user': (path) => `http://anna:secret@localhost${path}`,
    'a fragment': (path) => `${path}#/healthz`,
    'a query with a path': (path) => `${path}?/healthz`,
    'a file of the dashboard': (path) => `${path}/index.html`,
  };

  it.each(Object.entries(SPELLINGS))('%s', async (_, spell) => {
    for (const [method, path] of CLOSED) {
      const { status, text, type } = await call(method, spell(path), { headers: forwarded() });
      expect([400, 401, 403, 404, 405], `${method} ${spell(path)}: ${text}`).toContain(status);
      expect(type, `${method} ${spell(path)}`).not.toContain('html');
    }
  });

  it.each(['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'POST', 'GET'])(
    'nor does the method %s',
    async (method) => {
      for (const [, path] of CLOSED) {
        const { status } = await call(method, path, { headers: forwarded() });
        expect([401, 403, 404, 405], `${method} ${path}`).toContain(status);
      }
    },
  );
});

let atHome: Promise<Visitor> | null = null;
const benAtHome = (): Promise<Visitor> => (atHome ??= visitAgain(gateway, 'ben@example.org'));

describe('administrators’ commands', () => {
  it.each(Object.keys(ADMIN_COMMANDS))('a member may not: %s', async (name) => {
    const ben = await benAtHome();
    expect((await ask(ben, ['admin', name])).status).toBe(403);
    expect((await act(ben, ['admin', name])).status).toBe(403);
    // The members' operation of the same name is separate, and limited to their own objects.
    const isMine = Object.hasOwn(MY_COMMANDS, name);
    if (!isMine) expect((await act(ben, ['my', name])).status).toBe(404);
  });
});
