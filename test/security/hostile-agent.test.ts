/**
 * What the agent of a shared machine can do to other members with names, headers, statuses, texts
 * and floods. The rules of the link itself have test/coordinator/links/hostile-agent.test.ts.
 */
import type { AgentMessage } from '@inference-gateway/shared/protocol/messages';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureOf, post, chat } from '../api/requests.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { answerAll, connectMediaAgent } from '../support/media-agent.js';
import { connectRawAgent, DOCUMENT, HELLO, RawAgent } from '../support/raw-agent.js';
import { silentWav } from '../support/sound.js';
import { until } from '../support/until.js';

const SPEECH = '/v1/audio/speech';
const PLAIN = { service: null, model: null, slots: null, hours: null, time_zone: null } as const;

/** Ben's agent is hostile; all that it serves is shared with Anna. */
async function share(gateway: TestGateway, provider: string): Promise<void> {
  const subject = { ...PLAIN, network: null, user: 'Anna', max_tokens: null };
  await gateway.admin('provider.share', { provider, ...subject });
}

type Services = (typeof HELLO)['services'];

function servicesWith(ids: readonly string[], change: object = {}): Services {
  const [service] = structuredClone(HELLO.services);
  const [model] = service?.models ?? [];
  if (service === undefined || model === undefined) throw new Error('HELLO has no model');
  const models = ids.map((id) => ({ ...model, id, served_name: id, ...change }));
  return [{ ...service, models }];
}

async function hostileTo(gateway: TestGateway, hello: Partial<typeof HELLO> = {}) {
  const agent = await connectRawAgent(gateway.address, await gateway.ben.enroll('bens-pc'), hello);
  await share(gateway, 'bens-pc');
  return agent;
}

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  '<img src=x onerror=alert(1)>',
  'a\r\nset-cookie: gateway_session=x',
  'nul\u0000and\u001b[2Jescape',
  '../../../etc/passwd',
  '%2e%2e%2f',
  "'; drop table jobs; --",
  '\u202egnp.exe',
  '\ud800',
  'x'.repeat(256),
];

describe('names that a hostile agent chooses', () => {
  it('are plain text in every list and message', async () => {
    const gateway = await startGateway();
    const agent = await hostileTo(gateway, { services: servicesWith(NAMES) });
    answerAll(agent, async ({ stream }) => agent.answer(stream, DOCUMENT));
    const list = await gateway.fetch('/v1/models');
    expect(list.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(NAMES);
    for (const model of NAMES) {
      const answered = await post(gateway, chat({ model }));
      expect([model, answered.status]).toEqual([model, 200]);
      const header = answered.headers.get('x-model') ?? '';
      expect(decodeURIComponent(header)).toBe(Buffer.from(model).toString());
      expect([...answered.headers.keys()].filter((name) => /cookie|^x-evil/.test(name))).toEqual(
        [],
      );
    }
    expect((await gateway.fetch('/api/inference/queue/summary')).status).toBe(200);
    const { message } = await failureOf(await post(gateway, chat({ model: 'constructo' })));
    expect(message).toContain("'constructor'");
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('do not hide whose model it is', async () => {
    const gateway = await startGateway();
    const agent = await hostileTo(gateway, { services: servicesWith(['gpt-4o']) });
    answerAll(agent, async ({ stream }) => agent.answer(stream, { ...DOCUMENT, model: 'gpt-4o' }));
    const { data } = (await (await gateway.fetch('/v1/models')).json()) as {
      data: { owned_by: string }[];
    };
    expect(data).toMatchObject([{ owned_by: 'Ben' }]);
    const answered = await post(gateway, chat({ model: 'gpt-4o' }));
    expect(answered.headers.get('x-provider')).toBe('bens-pc');
    const own = { headers: { 'x-provider-scope': 'own' } };
    expect((await post(gateway, chat({ model: 'gpt-4o' }), own)).status).toBe(404);
  });

  it.each(['\ud800', 'a\r\nset-cookie: x=y', 'stimme – grün', '\u0000'])(
    'are encoded in the headers of other members’ speech: %j',
    async (voice) => {
      const gateway = await startGateway();
      const told = { type: 'tts', name: 'bens-pc', owner: gateway.ben, model: { voices: [voice] } };
      const agent = await connectMediaAgent(gateway, { ...told, type: 'tts' });
      await share(gateway, 'bens-pc');
      answerAll(agent, ({ stream }) => agent.media(stream, [{ bytes: silentWav(1) }]));
      const body = { model: 'm', input: 'hello', voice: 'alloy' };
      const spoken = await post(gateway, body, { path: SPEECH });
      expect(spoken.status).toBe(200);
      const header = spoken.headers.get('x-voice-fallback') ?? '';
      expect(decodeURIComponent(header)).toBe(Buffer.from(voice).toString());
      expect(spoken.headers.get('set-cookie')).toBeNull();
      await spoken.arrayBuffer();
    },
  );
});

describe('an answer of a hostile agent', () => {
  let gateway: TestGateway;
  let agent: RawAgent;
  let head: Omit<Extract<AgentMessage, { t: 'HEAD' }>, 't' | 'stream'>;
  let body: string;

  beforeAll(async () => {
    // Each answer is asked for, however many have failed before it.
    gateway = await openGateway({ breakerOpenMs: 0 });
    agent = await openAgent();
    answerAll(agent, async ({ stream }) => {
      agent.send({ t: 'HEAD', stream, ...head });
      agent.data(stream, body);
      agent.send({ t: 'END', stream, ok: true });
    });
  });

  afterAll(async () => {
    agent.socket.terminate();
    await gateway.stop();
  });

  /** For all tests of this part: what `connectRawAgent` opens ends with one of them. */
  async function openAgent(): Promise<RawAgent> {
    const token = await gateway.ben.enroll('bens-pc');
    const opened = new RawAgent(gateway.address, token, { endsWithTest: false });
    await opened.opened();
    opened.send({ ...HELLO });
    await opened.first('WELCOME');
    await share(gateway, 'bens-pc');
    return opened;
  }

  const ask = (fields: object = {}) => post(gateway, chat({ model: 'm', ...fields }));

  it('sets no header of the response', async () => {
    body = JSON.stringify(DOCUMENT);
    const evil = {
      'set-cookie': 'gateway_session=planted; Path=/',
      location: 'https://evil.example.com',
      'access-control-allow-credentials': 'true',
      'content-security-policy': 'default-src *',
      'x-evil': 'a\r\nb',
    };
    head = { status: 200, content_type: 'application/json', headers: evil };
    for (const fields of [{}, { stream: false }]) {
      const { status, headers } = await ask(fields);
      expect(status).toBe(200);
      for (const name of Object.keys(evil)) expect(headers.get(name), name).toBeNull();
    }
  });

  it.each([100, 101, 103, 201, 204, 206, 300, 301, 302, 304, 307, 308, 401, 403, 407, 421, 511])(
    'with status %i becomes an error of the gateway, never a redirect or a log-in',
    async (status) => {
      body = JSON.stringify({ error: { message: 'come to https://evil.example.com' } });
      head = { status, content_type: 'application/json' };
      const answered = await ask();
      expect([400, 502]).toContain(answered.status);
      for (const name of ['location', 'www-authenticate', 'proxy-authenticate']) {
        expect(answered.headers.get(name)).toBeNull();
      }
    },
  );

  it.each(['text/html', 'image/svg+xml', 'application/json\r\nx-evil: 1', 'multipart/mixed'])(
    'of content type %j is refused',
    async (type) => {
      body = '<script>alert(1)</script>';
      head = { status: 200, content_type: type };
      const answered = await ask();
      expect(answered.status).toBe(502);
      expect(answered.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answered.headers.get('x-evil')).toBeNull();
    },
  );

  it('has an error message of limited length, as text inside JSON', async () => {
    const message = `<script>\u001b[2J${'x'.repeat(4 * 1024 * 1024)}`;
    body = JSON.stringify({ error: { message, code: 'invalid_api_key', type: 'x', param: 5 } });
    body = body.slice(0, 60_000);
    head = { status: 500, content_type: 'application/json' };
    const answered = await ask();
    const text = await answered.text();
    expect(answered.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(text.length).toBeLessThan(70_000);
    const { error } = JSON.parse(text) as { error: { code: string; type: string } };
    expect(error).toMatchObject({ code: 'provider_error', type: 'upstream_error' });
  });

  it('changes nothing by field names of Object.prototype', async () => {
    body = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},
      "choices":[{"__proto__":{"polluted":1},"message":{"role":"assistant","content":"x"}}],
      "usage":{"__proto__":{"polluted":1},"prompt_tokens":1}}`;
    head = { status: 200, content_type: 'application/json' };
    expect((await ask()).status).toBe(200);
    agent.sendText(
      '{"t":"HEARTBEAT","seq":1,"__proto__":{"polluted":1},"slots":[],"claims":[],"accepts":"all"}',
    );
    expect((await ask()).status).toBe(200);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

const many = (turn: number): Services =>
  servicesWith(Array.from({ length: 200 }, (_, index) => `model-${turn}-${index}`));

const beat = (seq: number): AgentMessage => {
  const accepts = seq % 2 === 0 ? 'all' : 'own';
  return { t: 'HEARTBEAT', seq, slots: [], claims: [], accepts };
};

describe('a flood from a hostile agent', () => {
  it.each<[string, (agent: RawAgent, turn: number) => void]>([
    [
      'other models',
      (agent, turn) => agent.send({ t: 'SERVICES', rev: turn + 2, services: many(turn) }),
    ],
    ['heartbeats', (agent, turn) => agent.send(beat(turn))],
    ['unknown messages', (agent) => agent.sendText(`{"t":"NEWS","x":"${'y'.repeat(60_000)}"}`)],
    ['pings', (agent) => agent.socket.ping('x'.repeat(125))],
  ])('of %s does not keep other members from being served', async (_, act) => {
    const gateway = await startGateway();
    const agent = await hostileTo(gateway);
    const honest = await connectRawAgent(gateway.address, await gateway.anna.enroll('annas-pc'), {
      services: servicesWith(['mine']),
    });
    answerAll(honest, async ({ stream }) => honest.answer(stream, DOCUMENT));
    let turn = 0;
    const flood = setInterval(() => {
      for (let i = 0; i < 20; i++) act(agent, (turn += 1));
    }, 1);
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      const begun = performance.now();
      expect((await post(gateway, chat({ model: 'mine' }))).status).toBe(200);
      times.push(performance.now() - begun);
    }
    clearInterval(flood);
    agent.socket.terminate();
    await until(() => agent.closeCode !== null);
    // The test and both agents run on the same thread as the gateway: each waits for the other.
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(1_000);
  });
});

it('a link is never compressed, and deep nesting ends only that link', async () => {
  const gateway = await startGateway();
  const token = await gateway.anna.enroll('den-pc');
  const agent = await new RawAgent(gateway.address, token, { perMessageDeflate: true }).opened();
  expect(agent.socket.extensions).toBe('');
  const nested = '['.repeat(200_000);
  agent.send(HELLO);
  await agent.first('WELCOME');
  agent.sendText(`{"t":"SERVICES","rev":2,"services":${nested}`);
  expect(await agent.closed()).toBe(4000);
  expect((await fetch(`${gateway.address}/readyz`)).status).toBe(200);
});
