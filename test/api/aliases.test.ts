/** Names that stand for models: two machines of Anna's, of which the second takes over. */
import Anthropic from '@anthropic-ai/sdk';
import type { ConfiguredModel } from '@inference-gateway/agent/backends/backend';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, dieMidStream, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestAgent, TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';
import { vectorModel } from '../support/vector-model.js';
import { ended, getJob, getJson, submit, submitBatch, submitted } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { chat, failureOf, post, textOf } from './requests.js';

let gateway: TestGateway;
let studio: Studio;
let big: FakeModelServer;
let small: FakeModelServer;
/** The machine of the model `big`, which a test stops. */
let bigPc: TestAgent;

const startBig = () =>
  gateway.startAgent({ name: `big-${Date.now()}`, services: [{ baseUrl: big.baseUrl, slots: 8 }] });

function configured(id: string): ConfiguredModel {
  const unknown = { contextLength: null, inputModalities: null, supportedFeatures: null };
  return { id, servedName: id, ...unknown };
}

beforeAll(async () => {
  gateway = await openGateway({ reconnectWaitMs: 50 });
  big = await startFakeOpenAi({ models: ['big'] });
  small = await startFakeOpenAi({ models: ['small', 'meaning', 'order'] });
  bigPc = await startBig();
  const { baseUrl } = small;
  await gateway.startAgent({
    name: 'small-pc',
    services: [
      { baseUrl, slots: 8, models: [configured('small')] },
      { id: 'emb', type: 'embedding', baseUrl, models: [configured('meaning')] },
      { id: 'rank', type: 'rerank', baseUrl, models: [configured('order')] },
    ],
  });
  studio = await startStudio(gateway, { name: 'studio', voices: ['af_sky'] });
});

beforeEach(() => {
  big.behave(answer({ text: 'from big' }));
  small.behave(answer({ text: 'from small' }));
});

afterEach(async () => {
  for (const { name, owner } of await gateway.admin('alias.list', { user: null })) {
    await gateway.admin('alias.remove', { name, user: owner });
  }
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([big.close(), small.close(), studio.fake.close()]);
});

const set = (name: string, models: string[], user: string | null = null) =>
  gateway.admin('alias.set', { name, models, user });

const ask = (model: string, fields: object = {}) => post(gateway, chat({ model, ...fields }));

interface Answered {
  readonly model: string;
  readonly choices: readonly { message: { content: string } }[];
}

/** The model that answered, by the answer itself and by its header. */
async function answeredBy(response: Response): Promise<string> {
  const body = (await response.json()) as Answered;
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  expect(response.headers.get('x-model')).toBe(body.model);
  return body.model;
}

interface ModelRow {
  readonly id: string;
  readonly service_type: string;
  readonly alias_of?: readonly string[];
}

const rows = async (): Promise<readonly ModelRow[]> =>
  (await getJson<{ data: readonly ModelRow[] }>(gateway, '/v1/models')).data;

/** The newest usage rows. */
const usage = async (limit: number) =>
  (await gateway.admin('usage.recent', { user: 'anna', limit, after: null })).requests;

async function whileBigIsAway(act: () => Promise<void>): Promise<void> {
  await bigPc.stop();
  try {
    await act();
  } finally {
    bigPc = await startBig();
    await until(async () => (await rows()).some(({ id }) => id === 'big'));
  }
}

const broken = reply(500, { error: { message: 'out of memory' } });

describe('a name that stands for models', () => {
  it('is answered by the first that is online, and the answer names it', async () => {
    await set('fast', ['big', 'small']);
    expect(await answeredBy(await ask('fast'))).toBe('big');
    await whileBigIsAway(async () => {
      expect(await answeredBy(await ask('fast'))).toBe('small');
    });
    expect(await answeredBy(await ask('fast'))).toBe('big');
  });

  it('passes over models that nobody serves', async () => {
    await set('fast', ['no-such-model', 'small']);
    expect(await answeredBy(await ask('fast'))).toBe('small');
  });

  it('passes on to the next when the first fails before its first byte', async () => {
    await set('fast', ['big', 'small']);
    big.behave(broken);
    const response = await ask('fast');
    expect(response.headers.get('x-attempts')).toBe('2');
    expect(response.headers.get('x-provider')).toBe('small-pc');
    expect(await answeredBy(response)).toBe('small');
    expect((await usage(1))[0]).toMatchObject({ alias: 'fast', model: 'small', attempts: 2 });
    const stream = await ask('fast', { stream: true });
    const text = await stream.text();
    expect(textOf(text)).toBe('from small');
    expect(text).toContain('"model":"small"');
    expect(text).not.toContain('"fast"');
  });

  it('does not pass on a stream that has begun', async () => {
    await set('fast', ['big', 'small']);
    const before = small.requests.length;
    big.behave(dieMidStream());
    const text = await (await ask('fast', { stream: true })).text();
    expect(text).toContain('"error"');
    expect(small.requests).toHaveLength(before);
  });

  it('does not pass on what is the caller’s own fault', async () => {
    await set('fast', ['big', 'small']);
    const before = small.requests.length;
    big.behave(reply(400, { error: { message: 'temperature is too high' } }));
    expect(await failureOf(await ask('fast'))).toMatchObject({ status: 400 });
    expect(small.requests).toHaveLength(before);
  });

  it('tells what was tried if none of them can serve', async () => {
    await set('fast', ['big', 'small']);
    big.behave(broken);
    small.behave(broken);
    const failure = await failureOf(await ask('fast'));
    expect(failure).toMatchObject({ status: 502, code: 'provider_error' });
    expect(failure.message).toMatch(/^The alias 'fast' stands for 'big', 'small', and none/);
    expect(failure.message).toContain('out of memory');
  });

  it('that only leads to what is away is 404 model_offline', async () => {
    await set('fast', ['big']);
    await whileBigIsAway(async () => {
      const failure = await failureOf(await ask('fast'));
      expect(failure).toMatchObject({ status: 404, code: 'model_offline', param: 'model' });
      expect(failure.message).toMatch(/^The alias 'fast' stands for 'big', and none/);
    });
  });

  it('is known to usage, log and metrics only by the model that served', async () => {
    await set('fast', ['big', 'small']);
    big.behave(broken);
    await ask('fast');
    const [newest] = await usage(1);
    expect(newest).toMatchObject({ model: 'small', outcome: 'ok', attempts: 2 });
  });

  it('means a model of that name first', async () => {
    await set('small', ['big']);
    expect(await answeredBy(await ask('small'))).toBe('small');
    expect((await rows()).filter(({ id }) => id === 'small')).toHaveLength(1);
  });

  it('of a member comes before that of the gateway, and is theirs alone', async () => {
    await set('fast', ['small']);
    await set('fast', ['big'], 'anna');
    await set('mine', ['big'], 'ben');
    expect(await answeredBy(await ask('fast'))).toBe('big');
    expect(await failureOf(await ask('mine'))).toMatchObject({ code: 'model_not_found' });
  });

  it('is suggested to whom mistypes it', async () => {
    await set('fast', ['big']);
    await set('fist', ['no-such-model']);
    const { message } = await failureOf(await ask('fasst'));
    expect(message).toContain("Did you mean 'fast'?");
  });

  it('stays unknown where none matches', async () => {
    await set('gpt-*', ['big']);
    expect(await failureOf(await ask('claude-x'))).toMatchObject({
      status: 404,
      type: 'no_provider',
      code: 'model_not_found',
    });
  });
});

describe('a pattern', () => {
  it('stands for every name that begins so; the longest counts, and names before it', async () => {
    await set('claude-*', ['big']);
    await set('claude-haiku-*', ['small']);
    await set('claude-haiku-1', ['big']);
    expect(await answeredBy(await ask('claude-home-4'))).toBe('big');
    expect(await answeredBy(await ask('claude-haiku-4'))).toBe('small');
    expect(await answeredBy(await ask('claude-haiku-1'))).toBe('big');
  });

  it('is passed over by an endpoint that none of its models serves', async () => {
    await set('*', ['small'], 'anna');
    await set('whisper-*', ['kokoro']);
    const body = { model: 'whisper-1', input: 'hello' };
    const response = await post(gateway, body, { path: '/v1/audio/speech' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-model')).toBe('kokoro');
    await response.arrayBuffer();
  });
});

describe('GET /models', () => {
  it('lists a name that is no pattern as alias_of its models, in each of their types', async () => {
    await set('all', ['kokoro', 'big', 'small', 'no-such-model']);
    await set('gpt-*', ['big']);
    const aliases = (await rows()).filter(({ alias_of: of }) => of !== undefined);
    expect(aliases.map(({ id, service_type, alias_of }) => [id, service_type, alias_of])).toEqual([
      ['all', 'llm', ['big', 'small']],
      ['all', 'tts', ['kokoro']],
    ]);
    const [big] = (await rows()).filter(({ id }) => id === 'big');
    expect(aliases[0]).toEqual({ ...big, id: 'all', alias_of: ['big', 'small'] });
  });

  it('names first the one that would serve now, and nothing if none would', async () => {
    await set('fast', ['big', 'small']);
    await set('large', ['big']);
    await whileBigIsAway(async () => {
      const found = (await rows()).filter(({ alias_of: of }) => of !== undefined);
      expect(found).toMatchObject([{ id: 'fast', alias_of: ['small', 'big'] }]);
    });
  });

  it('answers for one name, also for one that a pattern means', async () => {
    await set('gpt-*', ['big']);
    const one = await getJson<ModelRow>(gateway, '/v1/models/gpt-5');
    expect(one).toMatchObject({ id: 'gpt-5', service_type: 'llm', alias_of: ['big'] });
    const lost = await gateway.fetch('/v1/models/claude-5');
    expect(await failureOf(lost)).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('lists it for clients of Anthropic’s API, too', async () => {
    await set('claude-fast', ['big']);
    const client = new Anthropic({ baseURL: gateway.address, apiKey: gateway.anna.key });
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toContain('claude-fast');
  });
});

describe('every API', () => {
  it('names the model that served: completions, messages, responses', async () => {
    await set('claude-*', ['no-such-model', 'small']);
    const model = 'claude-home-1';
    const texts = await post(gateway, { model, prompt: 'hello' }, { path: '/v1/completions' });
    expect(await answeredBy(texts)).toBe('small');
    const client = new Anthropic({ baseURL: gateway.address, apiKey: gateway.anna.key });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const message = await client.messages.create({ model, max_tokens: 9, messages });
    expect(message.model).toBe('small');
    const { input_tokens: counted } = await client.messages.countTokens({ model, messages });
    expect(counted).toBeGreaterThan(0);
    const streamed = client.messages.stream({ model, max_tokens: 9, messages });
    expect((await streamed.finalMessage()).model).toBe('small');
    const response = await gateway.client.responses.create({ model, input: 'hello' });
    expect(response.model).toBe('small');
  });

  it('finds the model of its own type: embeddings, rerank, images, speech, voices', async () => {
    small.behave(vectorModel());
    await set('auto', ['small', 'meaning', 'order', 'sd', 'kokoro']);
    const served = async (path: string, body: object): Promise<string | null> => {
      const response = await post(gateway, { model: 'auto', ...body }, { path });
      expect([path, response.status]).toEqual([path, 200]);
      await response.arrayBuffer();
      return response.headers.get('x-model');
    };
    expect(await served('/v1/embeddings', { input: 'a' })).toBe('meaning');
    expect(await served('/v1/rerank', { query: 'a', documents: ['b'] })).toBe('order');
    expect(await served('/v1/images/generations', { prompt: 'a' })).toBe('sd');
    expect(await served('/v1/audio/speech', { input: 'a', voice: 'alloy' })).toBe('kokoro');
    const { voices } = await getJson<{ voices: string[] }>(gateway, '/v1/audio/voices?model=auto');
    expect(voices).toEqual(['af_sky']);
    const history = await getJson<{ data: { model: string }[] }>(gateway, '/api/inference/assets');
    expect(history.data.slice(0, 2).map(({ model }) => model)).toEqual(['kokoro', 'sd']);
  });
});

describe('a job under an alias', () => {
  it('shows the alias, and is served by the first that is online', async () => {
    await set('fast', ['big', 'small']);
    await whileBigIsAway(async () => {
      const job = await submitted(gateway, { model: 'fast' });
      expect(job.model).toBe('fast');
      const done = await ended(gateway, job.id);
      expect(done).toMatchObject({
        status: 'PROCESSED',
        model: 'fast',
        served_model: 'small',
        result: { model: 'small' },
      });
      expect((await usage(1))[0]).toMatchObject({ model: 'small', outcome: 'ok' });
    });
  });

  it('waits for any of its chain, and means what the alias means when it is claimed', async () => {
    await set('large', ['big']);
    await whileBigIsAway(async () => {
      const job = await submitted(gateway, { model: 'large' });
      expect(await getJob(gateway, job.id)).toMatchObject({
        status: 'QUEUED',
        waiting_reason: expect.stringContaining("the alias 'large' ('big')") as unknown,
      });
      await set('large', ['big', 'small']);
      expect(await ended(gateway, job.id)).toMatchObject({ served_model: 'small' });
    });
  });

  it('passes on to the next model of the same machine after a failure', async () => {
    const both = await startFakeOpenAi({ models: ['one', 'two'] });
    const pc = await gateway.startAgent({ name: 'both-pc', services: [{ baseUrl: both.baseUrl }] });
    await set('either', ['one', 'two']);
    both.behave((request, response) =>
      (request.body['model'] === 'one' ? broken : answer({ text: 'two' }))(request, response),
    );
    const job = await submitted(gateway, { model: 'either' });
    const done = await ended(gateway, job.id);
    expect(done).toMatchObject({ status: 'PROCESSED', attempts: 2, served_model: 'two' });
    await pc.stop();
    await both.close();
  });

  it('runs on the model that the alias stood for if it is removed meanwhile', async () => {
    await set('large', ['big']);
    let job: JobBody | null = null;
    await whileBigIsAway(async () => {
      job = await submitted(gateway, { model: 'large' });
      await gateway.admin('alias.remove', { name: 'large', user: null });
    });
    const { id } = job as unknown as JobBody;
    expect(await ended(gateway, id)).toMatchObject({ model: 'large', served_model: 'big' });
  });

  it('may be an item of a batch, or an answer in the background', async () => {
    await set('fast', ['small', 'big']);
    const items = [{ endpoint: '/v1/chat/completions', body: chat({ model: 'fast' }) }];
    const batch = (await (await submitBatch(gateway, items)).json()) as BatchBody;
    const { jobs = [] } = await getJson<BatchBody>(gateway, `/v1/batches/${batch.id}`);
    expect(await ended(gateway, jobs[0]?.id ?? '')).toMatchObject({ served_model: 'small' });
    const { client } = gateway;
    const asked = { model: 'fast', input: 'hello', background: true } as const;
    let response = await client.responses.create(asked);
    await until(async () => {
      response = await client.responses.retrieve(response.id);
      return response.status === 'completed';
    });
    expect(response.model).toBe('small');
  });

  it('for nothing that the caller has ever seen is 404', async () => {
    await set('hope', ['no-such-model']);
    await set('own-hope', ['no-such-model'], 'anna');
    const none = await failureOf(await submit(gateway, { model: 'hope' }));
    expect(none).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(none.message).not.toContain('no-such-model');
    const own = await failureOf(await submit(gateway, { model: 'own-hope' }));
    expect(own.message).toContain("The alias 'own-hope' stands for 'no-such-model'");
  });
});
