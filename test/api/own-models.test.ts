/** What agents tell in the console: models, and the last day, for the machine's owner alone. */
import { LIVE_PATH } from '@inference-gateway/coordinator/http/dashboard/live';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { MANAGED } from '../agent/models/model-stage.js';
import type { MyName } from '@inference-gateway/coordinator/operations/my/commands';
import { DAY_LIMITS } from '@inference-gateway/shared/protocol/gpu-asks';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startManagedOllama } from '../support/local-servers/managed-ollama.js';
import type { ManagedOllama } from '../support/local-servers/managed-ollama.js';
import { connectRawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { ask, my, readMy, refusal } from './console-calls.js';
import { failureOf } from './requests.js';
import { visit, visitAgain } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
let ollama: ManagedOllama;
let anna: Visitor;
let provider: string;

beforeAll(async () => {
  gateway = await openGateway();
  ollama = await startManagedOllama();
  ollama.models.set('mine:latest', 5_000);
  ollama.library.set('new:1b', { layers: [2_000, 1_000] });
  await gateway.startAgent({
    services: [{ backend: 'ollama', baseUrl: ollama.baseUrl }],
    models: { ...MANAGED, minFreeBytes: 0 },
    modelLimits: { lookMs: 20 },
  });
  anna = await visit(gateway, gateway.anna.email);
  provider = (await readMy(anna, 'provider.list', {}))[0]?.id ?? '';
});

afterAll(async () => {
  await gateway.stop();
  await ollama.server.close();
});

const modelsOf = async (visitor: Visitor, id = provider) => {
  const told = await readMy(visitor, 'provider.models', { provider: id });
  if (told.state !== 'on') throw new Error(told.state);
  return told;
};

const NO_CAPS = { slots: null, hours: null, time_zone: null, max_tokens: null };

const order = (model: string) => ({ provider, service: 'llm-0', model });

const entries = async () => {
  const query = { since_s: null, actor: null, subject: provider, limit: 50 };
  const all = await gateway.admin('audit.list', { ...query, action: null });
  return all
    .filter(({ action }) => /model-|pull/.test(action))
    .map(({ actor_name: who, action, after }) => {
      return { who, action, outcome: after?.['outcome'], model: after?.['model'] };
    });
};

async function refusedRead(visitor: Visitor, id: string, name: MyName = 'provider.models') {
  const { status, message } = await failureOf(await ask(visitor, ['my', name], { provider: id }));
  return { status, message };
}

describe('their owner', () => {
  it('loads, pulls and deletes; every step is in the log, and open tabs are told', async () => {
    const url = `${gateway.address.replace('http', 'ws')}${LIVE_PATH}`;
    const tabOf = async ({ cookie }: Visitor) => {
      const socket = new WebSocket(url, { headers: { cookie, origin: gateway.address } });
      onTestFinished(() => socket.terminate());
      const topics: string[] = [];
      socket.on('message', (data) => topics.push((data as Buffer).toString()));
      await once(socket, 'open');
      return topics;
    };
    const told = await tabOf(anna);
    const others = await tabOf(await visit(gateway, gateway.ben.email));
    expect(await modelsOf(anna)).toMatchObject({
      max_bytes: MANAGED.maxBytes,
      servers: [{ service_id: 'llm-0', models: [{ name: 'mine:latest', pulled_here: false }] }],
    });
    const loading = await my(anna, 'provider.model-load', order('mine:latest'));
    expect(['running', 'done']).toContain(loading.state);
    await until(() => ollama.loaded.has('mine:latest'));

    ollama.isHeld = true;
    const pull = await my(anna, 'provider.model-pull', order('new:1b'));
    const running = await until(async () => {
      const { activities } = await modelsOf(anna);
      return activities.find(({ id, bytes }) => id === pull.id && bytes === 1_000);
    });
    expect(running).toMatchObject({ by: 'Anna', state: 'running', total_bytes: 2_000 });
    ollama.isHeld = false;
    await until(async () =>
      (await entries()).some((one) => one.action.endsWith('pull') && one.outcome === 'done'),
    );
    expect((await modelsOf(anna)).servers[0]?.models[1]).toMatchObject({ pulled_here: true });
    await my(anna, 'provider.model-delete', order('new:1b'));
    await until(() => !ollama.models.has('new:1b'));

    const log = await entries();
    expect(log).toContainEqual({
      who: 'Anna',
      action: 'provider.model-pull',
      model: 'new:1b',
      outcome: 'begun',
    });
    expect(log.some((one) => one.action === 'provider.model-load')).toBe(true);
    expect(log.some((one) => one.action === 'provider.model-delete')).toBe(true);
    await until(() => told.includes('{"topic":"pulls"}'));
    expect(others).not.toContain('{"topic":"pulls"}');
  });

  it('cancels a pull; what the agent refuses is told in its words, and is in the log', async () => {
    ollama.isHeld = true;
    const pull = await my(anna, 'provider.model-pull', order('new:1b'));
    await until(async () => (await modelsOf(anna)).activities.at(-1)?.bytes === 1_000);
    const ended = await my(anna, 'pull.cancel', { provider, action: pull.id });
    expect(ended).toMatchObject({ state: 'canceled', can_cancel: false });
    ollama.isHeld = false;
    expect(await refusal(anna, 'provider.model-pull', order('hf.co/a/b'))).toMatchObject({
      status: 400,
      message: expect.stringContaining('is not the name of a model here'),
    });
    expect(await refusal(anna, 'provider.model-delete', order('mine:latest'))).toMatchObject({
      status: 409,
      message: expect.stringContaining('was not pulled this way'),
    });
    const log = await entries();
    expect(log.map(({ outcome }) => outcome)).toContain('refused: not_pulled_here');
    expect(log).toContainEqual(expect.objectContaining({ action: 'pull.cancel', who: 'Anna' }));
  });

  it('reads why there is nothing to manage', async () => {
    const old = await connectRawAgent(gateway.address, await gateway.anna.enroll('old-pc'));
    await gateway.anna.enroll('new-pc');
    await gateway.startAgent({
      services: [{ backend: 'ollama', baseUrl: ollama.baseUrl }],
      name: 'shy-pc',
    });
    const stateOf = async (name: string) => {
      const [one] = (await readMy(anna, 'provider.list', {})).filter((each) => each.name === name);
      return readMy(anna, 'provider.models', { provider: one?.id ?? '' });
    };
    expect(await stateOf('old-pc')).toEqual({ state: 'older' });
    expect(await stateOf('new-pc')).toEqual({ state: 'offline' });
    expect(await stateOf('shy-pc')).toEqual({ state: 'off' });
    const dayOf = async (name: string) =>
      readMy(anna, 'provider.gpu-day', { provider: await idOf(name) });
    expect(await dayOf('old-pc')).toEqual({ state: 'older' });
    expect(await dayOf('new-pc')).toEqual({ state: 'offline' });
    expect(await dayOf('shy-pc')).toMatchObject({ state: 'on', cards: [] });
    // An agent without the feature never gets a message that it does not know.
    expect(old.messages.some(({ t }) => t === 'ASK')).toBe(false);
    const about = { provider: await idOf('old-pc'), service: 'llm-0', model: 'm' };
    expect((await refusal(anna, 'provider.model-load', about)).message).toContain('too old');
  });
});

const idOf = async (name: string): Promise<string> =>
  (await readMy(anna, 'provider.list', {})).find((one) => one.name === name)?.id ?? '';

describe('nobody else', () => {
  it('sees or changes them: neither another member nor an administrator', async () => {
    const email = 'ada@example.org';
    await gateway.admin('user.create', { email, name: 'Ada', admin: true, password: null });
    const visitors = [await visitAgain(gateway, gateway.ben.email), await visit(gateway, email)];
    const asked = ollama.server.requests.length;
    // A share of the machine changes nothing.
    const network = await gateway.admin('network.create', { name: 'lan', owner: 'Anna' });
    await gateway.admin('network.add', { network: network.id, member: gateway.ben.email });
    const share = { provider, network: network.id, service: null, model: null, user: null };
    await my(anna, 'provider.share', { ...NO_CAPS, ...share });
    for (const visitor of visitors) {
      const args = { status: 404 };
      expect(await refusedRead(visitor, provider)).toMatchObject(args);
      expect(await refusedRead(visitor, provider, 'provider.gpu-day')).toMatchObject(args);
      for (const name of ['load', 'unload', 'pull', 'delete'] as const) {
        const one = order('mine:latest');
        expect(await refusal(visitor, `provider.model-${name}`, one)).toMatchObject(args);
      }
      const pull = { provider, action: 'x' };
      expect(await refusal(visitor, 'pull.cancel', pull)).toMatchObject(args);
    }
    const changed = ollama.server.requests.slice(asked).filter(({ method }) => method !== 'GET');
    expect(changed).toEqual([]);
  });
});

const both = (mean: readonly (number | null)[]) => ({ mean, max: mean });

describe('an agent that answers nonsense', () => {
  it('ends nothing but its own answer', async () => {
    const token = await gateway.anna.enroll('odd-pc');
    const agent = await connectRawAgent(gateway.address, token, { features: ['asks'] });
    const id = await idOf('odd-pc');
    const answers: Record<string, unknown>[] = [
      { last: true, body: { manages: 'yes' } },
      { last: true },
      { last: true, refusal: { code: 'x'.repeat(9), message: '<b>no</b>' } },
    ];
    for (const answer of answers) {
      const before = agent.messages.filter(({ t }) => t === 'ASK').length;
      const asking = refusedRead(anna, id);
      const asked = await until(() => agent.messages.filter(({ t }) => t === 'ASK')[before]);
      const { ask: number } = asked as { ask: number };
      agent.sendText(JSON.stringify({ t: 'REPLY', ask: number, ...answer }));
      // One more, and one that nobody asked for: both are late.
      agent.sendText(JSON.stringify({ t: 'REPLY', ask: number, last: true, body: {} }));
      agent.sendText(JSON.stringify({ t: 'REPLY', ask: 999, last: false }));
      expect((await asking).status).toBe(409);
    }
    expect(agent.closeCode).toBeNull();
  });

  it('about its last day, neither: sizes, amounts and cards are checked', async () => {
    const token = await gateway.anna.enroll('fake-pc');
    const agent = await connectRawAgent(gateway.address, token, { features: ['asks'] });
    const id = await idOf('fake-pc');
    const card = (percent: readonly (number | null)[]) => ({
      name: 'RTX 4090',
      memory_mib: 24_564,
      use_percent: both(percent),
      memory_used_mib: both([1]),
      temperature_c: both([null]),
      power_watts: both([3]),
    });
    const day = {
      first_at: 0,
      watches: true,
      own_slots: both([0]),
      others_slots: both([0]),
      programs_percent: both([null]),
    };
    const told = async (cards: readonly unknown[], last: unknown): Promise<Response> => {
      const before = agent.messages.filter(({ t }) => t === 'ASK').length;
      const asking = ask(anna, ['my', 'provider.gpu-day'], { provider: id });
      const asked = await until(() => agent.messages.filter(({ t }) => t === 'ASK')[before]);
      const { ask: number, topic } = asked as { ask: number; topic: string };
      expect(topic).toBe('gpus.day');
      const reply = { t: 'REPLY', ask: number };
      for (const one of cards) {
        agent.sendText(JSON.stringify({ ...reply, last: false, body: { card: one } }));
      }
      agent.sendText(JSON.stringify({ ...reply, last: true, ...(last as object) }));
      return asking;
    };
    const good = card([40]);
    const answer = await told([good], { body: { day } });
    expect(await answer.json()).toEqual({ state: 'on', cards: [good], day });
    const older = { refusal: { code: 'unknown_question', message: 'no' } };
    expect(await (await told([], older)).json()).toEqual({ state: 'older' });
    const wrong: [cards: unknown[], last: object][] = [
      [[card([140])], { body: { day } }],
      [[card(['1' as unknown as number])], { body: { day } }],
      [[card([1, 2])], { body: { day } }],
      [[card(Array.from({ length: DAY_LIMITS.steps + 1 }, () => 1))], { body: { day } }],
      [Array.from({ length: DAY_LIMITS.cards + 1 }, () => good), { body: { day } }],
      [[good], { body: { day: { ...day, own_slots: both([-1]) } } }],
      [[good], {}],
      [[good], { refusal: { code: 'failed', message: 'no' } }],
    ];
    for (const [cards, last] of wrong) expect((await told(cards, last)).status).toBe(409);
    expect(agent.closeCode).toBeNull();
  });

  it('is not waited for when its link ends', async () => {
    const token = await gateway.anna.enroll('gone-pc');
    const agent = await connectRawAgent(gateway.address, token, { features: ['asks'] });
    const asking = refusedRead(anna, await idOf('gone-pc'));
    await until(() => agent.messages.some(({ t }) => t === 'ASK'));
    agent.socket.terminate();
    expect((await asking).message).toContain('link of the agent has ended');
  });
});
