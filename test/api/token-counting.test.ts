/** `/messages/count_tokens`, counted by the model server of a provider. */
import { COUNTING_DEADLINE_MS } from '@inference-gateway/coordinator/relay/token-counting';
import { TOKEN_COUNTING } from '@inference-gateway/shared/protocol/messages';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hangBeforeHeaders, reply } from '../support/fake-behaviours.js';
import { LLAMA_PROPS } from '../support/fake-openai-server.js';
import { LLAMA_TOKENIZER, tokensOf, VLLM_TOKENIZER } from '../support/local-servers/tokenizers.js';
import { connectRawAgent, HELLO } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { until } from '../support/until.js';
import { usageOf, usageRows } from '../support/usage-rows.js';
import { chat, post, remaining } from './requests.js';
import type { Caller } from './requests.js';
import { openCircle, openClub } from './sharing-stage.js';
import type { Circle, Home } from './sharing-stage.js';

const ASKED = { model: 'tiny', messages: [{ role: 'user', content: 'how long is this text' }] };
const WEATHER = { name: 'weather', input_schema: { type: 'object', properties: {} } };
const IMAGE = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' },
};

/** What llama.cpp counts of `ASKED`: the beginning of the text is a token, too. */
const COUNTED = tokensOf(ASKED) + 1;
const LLAMA = { '/props': LLAMA_PROPS, ...LLAMA_TOKENIZER };
const SERVICES = [{ backend: 'llama-server', slots: 1 }];

interface Count {
  readonly status: number;
  readonly body: { readonly input_tokens?: number; readonly estimated?: true };
  readonly provider: string | null;
}

async function count(caller: Caller, fields: object = {}, headers = {}): Promise<Count> {
  const asked = { path: '/v1/messages/count_tokens', headers };
  const response = await post(caller, { ...ASKED, ...fields }, asked);
  const body = (await response.json()) as Count['body'];
  return { status: response.status, body, provider: response.headers.get('x-provider') };
}

/** Anna's machine, with a local server that counts. */
async function openHome(): Promise<{ readonly circle: Circle; readonly den: Home }> {
  const circle = await openCircle({ breakerOpenMs: 0 });
  const den = await circle.home(circle.anna, { services: SERVICES, routes: LLAMA });
  return { circle, den };
}

const isCounting = ({ path }: { readonly path: string }): boolean =>
  path === '/apply-template' || path === '/tokenize';

function questionsTo({ fake }: Home): number {
  return fake.requests.filter(isCounting).length;
}

const ESTIMATED = { input_tokens: expect.any(Number) as number, estimated: true };

describe('a prompt is counted by the local server', () => {
  it('whose name is told, and nothing is said to be estimated', async () => {
    const { circle } = await openHome();
    const counted = await count(circle.anna);
    expect(counted).toEqual({
      status: 200,
      body: { input_tokens: COUNTED },
      provider: 'den-pc',
    });
  });

  it('of the model that an alias leads to', async () => {
    const { circle } = await openHome();
    const alias = { name: 'claude-*', models: ['gone', 'tiny'], user: null };
    await circle.gateway.admin('alias.set', alias);
    const { body } = await count(circle.anna, { model: 'claude-x' });
    expect(body).toEqual({ input_tokens: COUNTED });
  });

  it('vLLM', async () => {
    const circle = await openCircle();
    const services = [{ backend: 'vllm' }];
    await circle.home(circle.anna, { services, routes: VLLM_TOKENIZER });
    expect((await count(circle.anna)).body).toEqual({ input_tokens: tokensOf(ASKED) });
  });

  it('as the chat that it becomes, with its tools', async () => {
    const { circle, den } = await openHome();
    await count(circle.anna, { system: 'Be short.', tools: [WEATHER], temperature: 9 });
    const { body } = den.fake.requests.find(isCounting) ?? {};
    expect(body).toEqual({
      model: 'tiny',
      messages: [{ role: 'system', content: 'Be short.' }, ...ASKED.messages],
      tools: [
        { type: 'function', function: { name: 'weather', parameters: WEATHER.input_schema } },
      ],
    });
  });

  it('while every slot of the model is taken, and takes none', async () => {
    const { circle, den } = await openHome();
    den.fake.behave(hangBeforeHeaders());
    const leaving = new AbortController();
    const running = post(circle.anna, chat(), { signal: leaving.signal }).catch(() => null);
    await until(() => den.fake.inFlight === 1);
    expect((await count(circle.anna)).body).toEqual({ input_tokens: COUNTED });
    leaving.abort();
    await running;
  });

  it('that is long, which is read beside the event loop', async () => {
    const { circle } = await openHome();
    const messages = [{ role: 'user', content: 'word '.repeat(80_000) }];
    expect((await count(circle.anna, { messages })).body).toEqual({
      input_tokens: tokensOf({ messages }) + 1,
    });
  });

  it('and is no use of a machine: no usage row, nothing in the agent’s own counts', async () => {
    const { circle, den } = await openHome();
    await count(circle.anna);
    const response = await post(circle.anna, chat());
    await usageOf(circle.gateway, response);
    expect(usageRows(circle.gateway)).toHaveLength(1);
    expect(den.agent.agent.status().today.requests).toBe(1);
  });

  it('by the second provider if the first refuses', async () => {
    const { circle, den } = await openHome();
    const other = { name: 'other-pc', services: SERVICES, routes: LLAMA };
    const second = await circle.home(circle.anna, other);
    for (const { fake } of [den, second]) {
      fake.routes['POST /tokenize'] = () => {
        const isFirst = questionsTo(den) + questionsTo(second) === 2;
        return isFirst ? {} : LLAMA_TOKENIZER['POST /tokenize'](fake.lastRequest);
      };
    }
    expect((await count(circle.anna)).body).toEqual({ input_tokens: COUNTED });
    expect([questionsTo(den), questionsTo(second)]).toEqual([2, 2]);
  });

  it('and counts for the rate limit', async () => {
    const { circle } = await openHome();
    const before = await remaining(circle.anna);
    await count(circle.anna);
    expect(await remaining(circle.anna)).toBe(before - 1);
  });
});

describe('it is estimated, and says so', () => {
  it.each([
    ['refuses', reply(400, { error: { message: 'no tools in this template' } })],
    ['has no such path', reply(404, { error: { message: 'File Not Found' } })],
    ['fails', reply(500, { error: { message: 'broken' } })],
    ['answers something else', reply(200, { prompt: 7 })],
  ])('where the local server %s', async (_what, behaviour) => {
    const { circle, den } = await openHome();
    den.fake.routes = { '/props': LLAMA_PROPS };
    den.fake.behave(behaviour);
    expect(await count(circle.anna)).toEqual({ status: 200, body: ESTIMATED, provider: null });
  });

  it('where it has gone', async () => {
    const { circle, den } = await openHome();
    await den.fake.close();
    expect((await count(circle.anna)).body).toEqual(ESTIMATED);
  });

  it('where it is too slow, and then it is told to stop', async () => {
    const { circle, den } = await openHome();
    den.fake.routes = { '/props': LLAMA_PROPS };
    den.fake.behave(hangBeforeHeaders());
    const startedAt = performance.now();
    expect((await count(circle.anna)).body).toEqual(ESTIMATED);
    const waitedMs = performance.now() - startedAt;
    expect(waitedMs).toBeGreaterThanOrEqual(COUNTING_DEADLINE_MS - 1);
    expect(waitedMs).toBeLessThan(COUNTING_DEADLINE_MS + 2_000);
    await until(() => den.fake.aborts.length === 1);
  });

  it.each([
    ['an image', { messages: [{ role: 'user', content: [IMAGE] }] }],
    ['more text than any model takes', { system: 'word '.repeat(1_000_000) }],
  ])('of %s, and no server is asked', async (_what, fields) => {
    const { circle, den } = await openHome();
    expect((await count(circle.anna, fields)).body).toEqual(ESTIMATED);
    expect(questionsTo(den)).toBe(0);
  });

  it('of a model that would have to be loaded', async () => {
    const circle = await openCircle();
    const routes = { ...LLAMA, '/props': { ...LLAMA_PROPS, is_sleeping: true } };
    const den = await circle.home(circle.anna, { services: SERVICES, routes });
    expect((await count(circle.anna)).body).toEqual(ESTIMATED);
    expect(questionsTo(den)).toBe(0);
  });

  it('once the caller’s quota is used up', async () => {
    const { circle, den } = await openHome();
    const day = { requests: 1 };
    const args = { user: 'Anna', name: 'small', scope: 'any', expires_in_s: null, day } as const;
    const { key } = await circle.gateway.admin('key.create', args);
    const headers = { authorization: `Bearer ${key}` };
    expect((await count(circle.anna, {}, headers)).body).toEqual({ input_tokens: COUNTED });
    await post(circle.anna, chat(), { headers });
    expect((await count(circle.anna, {}, headers)).body).toEqual(ESTIMATED);
    expect(questionsTo(den)).toBe(2);
  });
});

it('a caller who leaves stops the count', async () => {
  const { circle, den } = await openHome();
  den.fake.routes = { '/props': LLAMA_PROPS };
  den.fake.behave(hangBeforeHeaders());
  const leaving = new AbortController();
  const path = '/v1/messages/count_tokens';
  const asking = post(circle.anna, ASKED, { path, signal: leaving.signal }).catch(() => null);
  await until(() => den.fake.inFlight === 1);
  leaving.abort();
  await asking;
  await until(() => den.fake.aborts.length === 1);
});

describe('only machines that the caller may use are asked', () => {
  it('those that are shared, for as long as they are', async () => {
    const { circle, den } = await openClub({ services: SERVICES, routes: LLAMA });
    expect(await count(circle.ben)).toMatchObject({ body: { input_tokens: COUNTED } });
    const own = { 'x-provider-scope': 'own' };
    expect((await count(circle.ben, {}, own)).status).toBe(404);
    await circle.share({ day: { requests: 1 } });
    await post(circle.ben, chat());
    expect((await count(circle.ben)).body).toEqual(ESTIMATED);
    await circle.unshare();
    expect((await count(circle.ben)).status).toBe(404);
    expect(questionsTo(den)).toBe(2);
  });

  it('while their owner lets others in', async () => {
    const { circle, den } = await openClub({ services: SERVICES, routes: LLAMA });
    await circle.gateway.admin('provider.pause', { provider: 'den-pc' });
    expect((await count(circle.ben)).body).toEqual(ESTIMATED);
    expect((await count(circle.anna)).body).toEqual({ input_tokens: COUNTED });
    expect(questionsTo(den)).toBe(2);
  });

  it('and only for models that the key may name', async () => {
    const { circle, den } = await openHome();
    const named = { user: 'Anna', name: 'other', scope: 'any', expires_in_s: null } as const;
    const { key } = await circle.gateway.admin('key.create', { ...named, models: ['other'] });
    const headers = { authorization: `Bearer ${key}` };
    expect((await count(circle.anna, {}, headers)).status).toBe(404);
    expect(questionsTo(den)).toBe(0);
  });
});

describe('an agent', () => {
  const model = { ...HELLO.services[0]?.models[0], supported_features: [TOKEN_COUNTING] };
  const services = [{ ...HELLO.services[0], models: [model] }] as typeof HELLO.services;

  async function connect(features: string[]): Promise<{ circle: Circle; agent: RawAgent }> {
    const circle = await openCircle();
    const token = await circle.anna.enroll('raw');
    const { address } = circle.gateway;
    return { circle, agent: await connectRawAgent(address, token, { features, services }) };
  }

  const asked = { model: 'm' };

  it('without the feature is never asked, whatever its models are said to do', async () => {
    const { circle, agent } = await connect([]);
    agent.send({ t: 'SERVICES', rev: 2, services });
    await agent.first('SERVICES_OK');
    expect((await count(circle.anna, asked)).body).toEqual(ESTIMATED);
    await pause(20);
    expect(agent.hasOpen).toBe(false);
    const { data } = (await (await circle.anna.fetch('/v1/models')).json()) as {
      data: { supported_features: string[] }[];
    };
    expect(data[0]?.supported_features).toEqual([]);
  });

  it('with it gets a request that reserves no slot', async () => {
    const { circle, agent } = await connect([TOKEN_COUNTING]);
    const counting = count(circle.anna, asked);
    const open = await agent.nextOpen(false);
    expect(open).toMatchObject({ kind: 'sync', endpoint: 'token_counts', model: 'm' });
    expect(open.deadline_ms).toBeLessThanOrEqual(COUNTING_DEADLINE_MS);
    expect(await agent.requestOf(open)).toEqual({ model: 'm', messages: ASKED.messages });
    agent.answer(open.stream, { input_tokens: 12 });
    expect((await counting).body).toEqual({ input_tokens: 12 });
  });

  it.each([
    ['more tokens than the bytes can be', { input_tokens: 1_000_000 }],
    ['none', { input_tokens: 0 }],
    ['a fraction', { input_tokens: 1.5 }],
    ['another document', { tokens: 12 }],
    ['a long one', { input_tokens: 12, more: 'x'.repeat(300) }],
  ])('that answers %s is not believed', async (_what, document) => {
    const { circle, agent } = await connect([TOKEN_COUNTING]);
    const counting = count(circle.anna, asked);
    const open = await agent.nextOpen();
    agent.answer(open.stream, document);
    expect((await counting).body).toEqual(ESTIMATED);
  });

  it('that has no place for it keeps its other work', async () => {
    const { circle, agent } = await connect([TOKEN_COUNTING]);
    const counting = count(circle.anna, asked);
    const { stream } = await agent.nextOpen(false);
    agent.send({ t: 'REJECT', stream, reason: 'busy' });
    expect((await counting).body).toEqual(ESTIMATED);
    const answered = post(circle.anna, chat({ model: 'm' }));
    const open = await agent.nextOpen();
    expect(open.endpoint).toBe('chat');
    agent.answer(open.stream, { id: 'x', choices: [] });
    await answered;
  });
});
