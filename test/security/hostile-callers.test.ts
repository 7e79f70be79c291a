/** Requests that are meant to do harm: framing, forged headers, odd names, long texts, bombs. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { gzipSync } from 'node:zlib';
import { invite, joining, loggingIn, PASSWORD, SAME_ORIGIN } from '../api/account-calls.js';
import { act, ask, my, readMy } from '../api/console-calls.js';
import { asking } from '../api/device-calls.js';
import { submit, submitted } from '../api/job-calls.js';
import { RawCaller } from '../api/raw-caller.js';
import { chat, failureOf, post } from '../api/requests.js';
import { visitAgain } from '../api/visitor.js';
import type { Visitor } from '../api/visitor.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { connectJobAgent } from '../support/job-agent.js';
import { startStudio } from '../support/studio.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let texts: FakeModelServer;
let anna: Visitor;

beforeAll(async () => {
  gateway = await openGateway({ trustProxy: 1 });
  texts = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: texts.baseUrl }] });
  anna = await visitAgain(gateway, 'anna@example.org');
});

afterAll(async () => {
  await gateway.stop();
  await texts.close();
});

/** A whole connection of bytes, and all that is answered to it. */
async function raw(text: string): Promise<string> {
  const caller = new RawCaller(gateway);
  caller.socket.end(text, 'latin1');
  await until(() => caller.ended || caller.reset, { what: 'the end of the connection' });
  return caller.received;
}

const statusesOf = (answers: string): string[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status = '']) => status);

const toHealth = (headers: string, body: string): string =>
  `POST /healthz HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;

describe('request smuggling', () => {
  const HIDDEN = 'GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Hidden: yes\r\n\r\n';

  it.each<[string, string]>([
    [
      'both lengths',
      toHealth('Content-Length: 5\r\nTransfer-Encoding: chunked', `0\r\n\r\n${HIDDEN}`),
    ],
    ['two lengths', toHealth(`Content-Length: 0\r\nContent-Length: ${HIDDEN.length}`, HIDDEN)],
    ['a list of lengths', toHealth(`Content-Length: 0, ${HIDDEN.length}`, HIDDEN)],
    ['a length with a sign', toHealth('Content-Length: +0', HIDDEN)],
    ['a length in other digits', toHealth('Content-Length: 0x0', HIDDEN)],
    ['an unknown coding', toHealth('Transfer-Encoding: xchunked', `0\r\n\r\n${HIDDEN}`)],
    [
      'a coding behind chunked',
      toHealth('Transfer-Encoding: chunked, identity', `0\r\n\r\n${HIDDEN}`),
    ],
    ['a space before the colon', toHealth('Transfer-Encoding : chunked', `0\r\n\r\n${HIDDEN}`)],
    ['a folded header', toHealth('X-A: b\r\n Transfer-Encoding: chunked', HIDDEN)],
    ['a bare line feed', toHealth('X-A: b\nTransfer-Encoding: chunked', `0\r\n\r\n${HIDDEN}`)],
    ['a size with a sign', toHealth('Transfer-Encoding: chunked', `-1\r\n\r\n${HIDDEN}`)],
    ['a zero byte in a header', toHealth('X-A: b\0c', HIDDEN)],
    ['a request line of HTTP/0.9', `GET /v1/models\r\n\r\n${HIDDEN}`],
    ['another protocol', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${HIDDEN}`],
  ])('is refused, or read as one request: %s', async (_, text) => {
    const statuses = statusesOf(await raw(text));
    // A POST to /healthz is 405, and its body is not parsed as another request.
    expect(['', '400', '405', '505', '400,400', '405,400']).toContain(statuses.join());
  });

  it('CONNECT, TRACE and an upgrade to HTTP/2 are refused', async () => {
    for (const line of ['CONNECT 10.0.0.1:22', 'TRACE /v1/models']) {
      const answered = await raw(`${line} HTTP/1.1\r\nHost: x\r\nX-Mark: 4711\r\n\r\n`);
      expect(statusesOf(answered).filter((status) => status.startsWith('2'))).toEqual([]);
      expect(answered).not.toContain('4711');
    }
    const h2c = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA';
    const upgraded = await raw(`GET /v1/models HTTP/1.1\r\nHost: x\r\n${h2c}\r\n\r\n`);
    expect(statusesOf(upgraded)).toEqual(['404']);
  });

  it('endless headers are answered with 431, and other callers are served', async () => {
    const long = `GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`;
    const many = `GET / HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(20_000)}\r\n`;
    for (const text of [long, many]) expect(statusesOf(await raw(text))).toEqual(['431']);
    expect((await gateway.fetch('/v1/models')).status).toBe(200);
  });

  it('a form of another site reaches no route that needs no secret', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      for (const path of ['/api/join', '/api/setup', '/agent/v1/device', '/agent/v1/enroll']) {
        const headers = { 'content-type': type, ...from(), ...FOREIGN };
        const response = await fetch(`${gateway.address}${path}`, {
          method: 'POST',
          headers,
          body: '{}',
        });
        expect([401, 404, 415], `${type} ${path}`).toContain(response.status);
      }
    }
  });
});

const FOREIGN = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' };
let callers = 0;

/** Each has its own address: address limits are counted by one test alone. */
function from() {
  callers += 1;
  return { 'x-forwarded-for': `198.51.${callers >> 8}.${callers & 255}` };
}

describe('X-Forwarded-For and Host', () => {
  it('a forged X-Forwarded-For does not evade the limit of an address', async () => {
    const direct = await startGateway();
    const tries = Array.from({ length: 12 }, async (_, index) => {
      const { path, headers, ...init } = joining({ token: 'gwi_x', name: 'X', password: PASSWORD });
      const forged = {
        ...headers,
        'x-forwarded-for': `192.0.2.${index}`,
        'x-real-ip': '192.0.2.9',
      };
      return (await fetch(`${direct.address}${path}`, { ...init, headers: forged })).status;
    });
    const statuses = await Promise.all(tries);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  it('behind one trusted proxy, only the address that this proxy added counts', async () => {
    const statuses = [];
    for (let index = 0; index < 12; index++) {
      const { path, headers, ...init } = joining({ token: 'gwi_x', name: 'X', password: PASSWORD });
      const forged = { ...headers, 'x-forwarded-for': `192.0.2.${index}, 203.0.113.77` };
      statuses.push(
        (await fetch(`${gateway.address}${path}`, { ...init, headers: forged })).status,
      );
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  it('a forged Host gets into no link, and opens no route of the console', async () => {
    const evil = 'evil.example.com';
    const caller = new RawCaller(gateway);
    const body = '{"name":"porch-pc"}';
    const headers = { host: evil, 'x-forwarded-host': evil, 'content-type': 'application/json' };
    caller.head('POST /agent/v1/device', { ...headers, ...from(), 'content-length': body.length });
    caller.socket.write(body);
    expect(await caller.status()).toBe(200);
    await until(() => caller.received.includes('verification_uri'));
    expect(caller.received).toContain(gateway.address);
    expect(caller.received).not.toContain(evil);
    const page = new RawCaller(gateway).head('GET /login', { host: evil, accept: 'text/html' });
    await page.status();
    expect(page.received).not.toContain(evil);
    // A page that a name was pointed at this address for is of another origin, and has no cookie.
    const rebound = {
      host: evil,
      origin: `http://${evil}`,
      cookie: anna.cookie,
      'content-length': 2,
    };
    const act = new RawCaller(gateway).head('POST /api/console/v1/my/key.create', rebound);
    act.socket.write('{}');
    expect(await act.status()).toBe(403);
  });
});

const ODD = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
];

describe('names of Object.prototype', () => {
  it.each(ODD)('%s is no model, job, file, voice, command, endpoint or filter', async (name) => {
    const paths = [`/v1/models/${name}`, `/v1/jobs/${name}`, `/v1/batches/${name}`]
      .concat(`/api/inference/assets/${name}`, `/v1/audio/voices?model=${name}`)
      .concat(`/v1/${name}`, `/${name}`, `/assets/${name}`);
    for (const path of paths) expect((await gateway.fetch(path)).status, path).toBe(404);
    for (const key of ['status', 'type', 'order', 'limit', 'active']) {
      expect((await gateway.fetch(`/v1/jobs?${key}=${name}`)).status, key).toBe(400);
    }
    for (const area of ['my', 'admin'] as const) {
      const status = area === 'my' ? 404 : 403;
      expect((await ask(anna, [area, name])).status).toBe(status);
      expect((await act(anna, [area, name])).status).toBe(status);
    }
    const requests = [{ endpoint: name, body: chat() }];
    expect((await post(gateway, { requests }, { path: '/v1/batches' })).status).toBe(400);
    expect((await post(gateway, chat({ model: name }))).status).toBe(404);
  });

  it('as fields of bodies, forms and queries they change nothing, at any depth', async () => {
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const nested = `{"a":${evil},"b":[${evil}],${evil.slice(1)}`;
    const fields = `{"role":"user","content":"x","x":${nested}}`;
    const body = `{"model":"tiny","messages":[${fields}],${evil.slice(1)}`;
    expect((await post(gateway, body)).status).toBe(200);
    for (const path of ['/v1/batches', '/v1/audio/speech', '/v1/images/generations']) {
      expect((await post(gateway, nested, { path })).status).toBe(400);
    }
    for (const path of ['/api/join', '/api/setup', '/agent/v1/device/token']) {
      const headers = { 'content-type': 'application/json', ...from() };
      const sent = await fetch(`${gateway.address}${path}`, {
        method: 'POST',
        headers,
        body: nested,
      });
      expect([400, 404], path).toContain(sent.status);
    }
    const query = encodeURIComponent(nested);
    expect((await anna.fetch(`/api/console/v1/my/key.list?args=${query}`)).status).toBe(400);
    const form = new FormData();
    for (const name of ODD) form.append(name, 'x');
    form.append('file', new Blob(['RIFF']), 'x.wav');
    expect(
      (await gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body: form })).status,
    ).toBe(415);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

describe('mass assignment', () => {
  it('the body of a join cannot choose role, address or network', async () => {
    const token = await invite(gateway, { email: 'mallory@example.org' });
    const wanted = {
      role: 'admin',
      id: 'x',
      email: 'anna@example.org',
      network: 'club',
      admin: true,
    };
    const { path, headers, ...init } = joining({
      token,
      name: 'Mallory',
      password: PASSWORD,
      ...wanted,
    });
    const joined = await fetch(`${gateway.address}${path}`, {
      ...init,
      headers: { ...headers, ...from() },
    });
    expect(await joined.json()).toMatchObject({ email: 'mallory@example.org' });
    const shown = await gateway.admin('user.show', { member: 'Mallory' });
    expect(shown).toMatchObject({ role: 'member' });
  });

  it('the arguments of a console command cannot name another owner', async () => {
    const ben = gateway.ben.id;
    const key = { name: 'planted', scope: 'any', expires_in_s: null };
    const attempts: readonly (readonly [string, object])[] = [
      ['key.create', { ...key, user: ben }],
      ['token.create', { name: null, expires_in_s: 60, replace: null, owner: ben }],
      ['network.create', { name: 'planted', owner: ben }],
      ['user.rename', { name: 'Planted', member: ben }],
      ['device.approve', { code: 'BCDF-GHJK', owner: ben, vouches: true }],
      ['user.invite', { email: 'x@example.org', network: 'n', expires_in_s: 60, admin: true }],
    ];
    for (const [name, args] of attempts) {
      const { status, param } = await failureOf(await act(anna, ['my', name], args));
      expect([name, status, param === null]).toEqual([name, 400, true]);
    }
    const given = { since_s: null, by: 'member', given: false, user: ben, owner: ben };
    expect((await ask(anna, ['my', 'stats.show'], given)).status).toBe(400);
    expect(await gateway.admin('key.list', { user: ben })).toHaveLength(1);
  });

  it.each([
    'Ben',
    'BEN',
    'Ben ',
    'Be\u200bn',
    '\u202eneB',
    'Ben\u00a0',
    'ben@example.org',
    'Ben/x',
  ])('a member cannot take the name of another in disguise: %j', async (name) => {
    expect([400, 409]).toContain((await act(anna, ['my', 'user.rename'], { name })).status);
  });

  it('a device log-in cannot name its owner, or say that it is approved', async () => {
    const { path, headers, ...init } = asking({
      name: 'porch-pc',
      owner: 'Anna',
      approved: true,
      state: 'approved',
    });
    const asked = await fetch(`${gateway.address}${path}`, {
      ...init,
      headers: { ...headers, ...from() },
    });
    expect(asked.status).toBe(200);
    expect(await gateway.admin('device.list', {})).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'porch-pc' })]),
    );
    const [machine] = await readMy(anna, 'provider.list', {});
    expect(machine?.name).not.toBe('porch-pc');
  });
});

describe('SQL, LIKE patterns and markup', () => {
  const SQL = ["' or 1=1 --", "'; drop table jobs; --", '%', '_', '*', '\\', '" or ""="', '\u0000'];

  it.each(SQL)('%j matches nothing and changes nothing', async (text) => {
    await submit(gateway);
    const query = encodeURIComponent(text);
    const filtered = await gateway.fetch(`/v1/jobs?model=${query}`);
    expect(await filtered.json()).toMatchObject({ data: [] });
    for (const path of ['/v1/jobs', '/v1/batches', '/api/inference/assets']) {
      expect(await (await gateway.fetch(`${path}?after=${query}`)).json()).toMatchObject({
        data: [],
      });
    }
    for (const path of ['/v1/jobs/', '/v1/batches/', '/api/inference/assets/', '/v1/models/']) {
      expect((await gateway.fetch(path + query)).status).toBe(404);
    }
    const keyed = { 'idempotency-key': text.replace('\u0000', 'x') };
    expect((await submit(gateway, {}, { headers: keyed })).status).toBe(202);
  });

  it('an injected address or password logs nobody in', async () => {
    const [or = '', , percent = ''] = SQL;
    for (const [email, password] of [
      [`anna@example.org${or}`, PASSWORD],
      [`anna@example.org${percent}`, PASSWORD],
      ['anna@example.org', or],
    ] as const) {
      const { path, ...init } = loggingIn(email, password);
      const headers = { ...init.headers, ...from() };
      expect((await fetch(`${gateway.address}${path}`, { ...init, headers })).status).toBe(401);
    }
  });

  it('markup in a path or a query is never answered as HTML', async () => {
    const markup = '<script>alert(1)</script>';
    for (const path of [
      '/v1/models/',
      '/v1/jobs/',
      '/api/inference/assets/',
      '/v1/',
      '/agent/',
      '/assets/',
    ]) {
      const headers = { accept: 'text/html,*/*' };
      const response = await gateway.fetch(path + encodeURIComponent(markup), { headers });
      expect(response.headers.get('content-type'), path).toBe('application/json; charset=utf-8');
      await response.arrayBuffer();
    }
    const page = await fetch(`${gateway.address}/login/${encodeURIComponent(markup)}?x=${markup}`, {
      headers: { accept: 'text/html' },
    });
    expect(await page.text()).not.toContain('alert(1)');
  });
});

async function cpuMsOf(act: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('regular expressions', () => {
  const LETTERS = ['a', '/', '<', ' ', '@', '.', '-', '\\'];
  /** A quadratic pattern would need seconds for one of these texts, an exponential one for ever. */
  const LENGTH = 60_000;
  const MOST_CPU_MS = 8_000;

  it('long hostile texts in body fields are answered in time', async () => {
    const studio = await startStudio(gateway, { name: 'studio-pc', types: ['image', 'tts'] });
    onTestFinished(() => studio.fake.close());
    const spent = await cpuMsOf(async () => {
      for (const letter of LETTERS) {
        for (const text of [letter.repeat(LENGTH), `${letter}!`.repeat(LENGTH / 2)]) {
          await sendEverywhere(text);
        }
      }
    });
    expect(spent).toBeLessThan(MOST_CPU_MS);
  });

  async function sendEverywhere(text: string): Promise<void> {
    const url = `data:image/png;base64,${text}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    const bodies: readonly (readonly [string, object])[] = [
      ['/v1/chat/completions', chat({ model: text })],
      ['/v1/chat/completions', chat({ messages: [{ role: 'user', content }] })],
      ['/v1/images/generations', { model: 'sd', prompt: text, size: text }],
      ['/v1/audio/speech', { model: 'kokoro', input: 'x', voice: text }],
      ['/v1/batches', { requests: [{ endpoint: text, body: chat() }] }],
      [
        '/v1/chat/completions',
        chat({ async: true, webhook: { url: `http:${text}`, secret: text } }),
      ],
    ];
    for (const [path, body] of bodies) {
      const { status } = await post(gateway, body, { path });
      expect([200, 400, 404, 413], path).toContain(status);
    }
    // Small bodies have 64 KiB at most, and JSON writes some letters as two.
    const part = text.slice(0, LENGTH / 8);
    expect((await act(anna, ['my', 'user.rename'], { name: part })).status).toBe(400);
    const body = JSON.stringify({ email: part, password: 'x', token: part, device_code: part });
    const headers = { 'content-type': 'application/json', ...SAME_ORIGIN, ...from() };
    for (const path of ['/api/join', '/api/console/v1/session', '/agent/v1/device/token']) {
      const { status } = await fetch(`${gateway.address}${path}`, {
        method: 'POST',
        headers,
        body,
      });
      expect(status, path).toBe(400);
    }
  }

  const HEADERS = [
    'authorization',
    'cookie',
    'accept',
    'accept-encoding',
    'range',
    'origin',
  ].concat('if-none-match', 'idempotency-key', 'x-forwarded-for', 'content-type');

  it('long hostile headers are answered in time', async () => {
    const spent = await cpuMsOf(async () => {
      for (const letter of LETTERS) {
        for (const name of HEADERS) {
          const start = name === 'authorization' ? 'Bearer ' : 'bytes=';
          const value = `${start}${letter.repeat(12_000)}x`;
          const caller = new RawCaller(gateway).head('GET /v1/models', { [name]: value });
          expect([200, 400, 401], name).toContain(await caller.status());
          caller.socket.destroy();
        }
      }
    });
    expect(spent).toBeLessThan(MOST_CPU_MS);
  });
});

it('a gzip bomb is refused', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
  expect(bomb.length).toBeLessThan(100_000);
  const headers = { 'content-encoding': 'gzip' };
  const init = { method: 'POST', body: bomb };
  const sent = await gateway.fetch('/v1/chat/completions', {
    ...init,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  expect([400, 413, 415]).toContain(sent.status);
  await sent.arrayBuffer();
});

describe('what one member uses up', () => {
  it('500 long polls for one job delay no other member', async () => {
    const own = await startGateway();
    const ends = new AbortController();
    // It keeps the job that it is given, and never answers.
    await connectJobAgent(own);
    const { id } = await submitted(own, { model: 'm' });
    let ended = 0;
    const polls = Array.from({ length: 500 }, () =>
      own
        .fetch(`/v1/jobs/${id}?wait=60`, { signal: ends.signal })
        .catch(() => null)
        .finally(() => (ended += 1)),
    );
    const headers = { authorization: `Bearer ${own.ben.key}` };
    expect((await own.fetch('/v1/models', { headers })).status).toBe(200);
    // It did not wait for any of them.
    expect(ended).toBe(0);
    ends.abort();
    await Promise.all(polls);
  });

  it('changes and keys have a limit per member, which other members do not feel', async () => {
    const own = await startGateway();
    const greedy = await visitAgain(own, 'anna@example.org');
    const other = await visitAgain(own, 'ben@example.org');
    const key = { scope: 'any', expires_in_s: null } as const;
    let made = 0;
    while ((await act(greedy, ['my', 'key.create'], { name: `k${made}`, ...key })).status === 200)
      made += 1;
    expect(made).toBeLessThanOrEqual(100);
    expect(await my(other, 'key.create', { name: 'mine', ...key })).toMatchObject({ name: 'mine' });
  });
});
