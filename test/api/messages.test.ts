/** Anthropic's Messages API, served by chat completions of a local server. */
import Anthropic, { APIError, AuthenticationError, NotFoundError } from '@anthropic-ai/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, chunks, dieMidStream, errorEvent, reply } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { ended, submitBatch } from './job-calls.js';
import type { BatchBody, JobBody } from './job-calls.js';
import { post } from './requests.js';

const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
const TEXT = 'Hello from home.';
const ASKED = {
  model: 'tiny',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hello' }],
};
const WEATHER = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

let gateway: TestGateway;
let fake: FakeModelServer;
let client: Anthropic;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  client = connect({ apiKey: gateway.anna.key });
  return served.stop;
});

beforeEach(() => fake.behave(answer({ text: TEXT })));

function connect(options: ConstructorParameters<typeof Anthropic>[0]): Anthropic {
  return new Anthropic({ baseURL: gateway.address, maxRetries: 0, ...options });
}

const ask = (fields: object = {}, path = MESSAGES) =>
  post(gateway, { ...ASKED, ...fields }, { path });

/** What the local server was sent. */
const seen = (): Record<string, unknown> => fake.requests.at(-1)?.body ?? {};

function listModels(headers: Record<string, string>): Promise<Response> {
  return fetch(`${gateway.address}/v1/models`, { headers });
}

interface Failure {
  readonly type: string;
  readonly request_id: string;
  readonly error: { readonly type: string; readonly message: string; readonly code: string };
}

async function failureOf(response: Response) {
  const body = (await response.json()) as Failure;
  expect(body.type).toBe('error');
  expect(body.request_id).toBe(response.headers.get('request-id'));
  return { status: response.status, ...body.error };
}

describe('the stock client', () => {
  it('messages.create', async () => {
    const message = await client.messages.create({ ...ASKED, system: 'Be short.' });
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_\w+$/) as string,
      type: 'message',
      role: 'assistant',
      model: 'tiny',
      content: [{ type: 'text', text: TEXT }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 3 },
    });
    expect(message._request_id).toMatch(/^req_/);
    expect(seen()['max_tokens']).toBe(64);
    expect(seen()['messages']).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hello' },
    ]);
  });

  it('messages.stream', async () => {
    const stream = client.messages.stream(ASKED);
    const texts: string[] = [];
    stream.on('text', (text) => void texts.push(text));
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: TEXT }]);
    expect(texts.join('')).toBe(TEXT);
    expect(texts.length).toBeGreaterThan(1);
    expect(message.usage).toMatchObject({ output_tokens: 3 });
  });

  it('with its key as a bearer token, as authToken', async () => {
    const bearer = connect({ authToken: gateway.anna.key, apiKey: null });
    expect((await bearer.messages.create(ASKED)).stop_reason).toBe('end_turn');
  });

  it('beta.messages, which adds ?beta=true', async () => {
    const message = await client.beta.messages.create({ ...ASKED, betas: ['context-1m'] });
    expect(message.content).toMatchObject([{ type: 'text', text: TEXT }]);
  });

  it('a whole turn with a streamed tool call', async () => {
    fake.once((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (delta: object, finish_reason: string | null = null) =>
        response.write(
          `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
        );
      const call = { index: 0, id: 'call_1', type: 'function' };
      send({ tool_calls: [{ ...call, function: { name: 'weather', arguments: '' } }] });
      send({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] });
      send({ tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] });
      send({}, 'tool_calls');
      response.end('data: [DONE]\n\n');
    });
    const asked = { ...ASKED, tools: [WEATHER] };
    const calling = await client.messages.stream(asked).finalMessage();
    expect(calling.stop_reason).toBe('tool_use');
    const tool = { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } };
    expect(calling.content).toMatchObject([tool]);
    const result = {
      type: 'tool_result' as const,
      tool_use_id: 'call_1',
      content: [{ type: 'text' as const, text: 'sunny' }],
    };
    const messages = [
      ...ASKED.messages,
      { role: 'assistant' as const, content: calling.content },
      { role: 'user' as const, content: [result] },
    ];
    expect((await client.messages.create({ ...asked, messages })).content).toMatchObject([
      { type: 'text', text: TEXT },
    ]);
    expect((seen()['messages'] as object[]).slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'weather' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]);
  });

  it('messages.countTokens', async () => {
    const asked = { model: 'tiny', messages: ASKED.messages };
    const short = await client.messages.countTokens(asked);
    const long = await client.messages.countTokens({ ...asked, tools: [WEATHER] });
    expect(short.input_tokens).toBeGreaterThan(0);
    expect(long.input_tokens).toBeGreaterThan(short.input_tokens);
  });

  it('models.list and models.retrieve', async () => {
    const page = await client.models.list();
    expect(page.data).toMatchObject([{ type: 'model', id: 'tiny', display_name: 'tiny' }]);
    expect(page.has_more).toBe(false);
    const model = await client.models.retrieve('tiny');
    expect(model).toMatchObject({ type: 'model', id: 'tiny' });
    expect(new Date(model.created_at).toISOString()).toBe(model.created_at);
    const known = await client.models.retrieve('nothing').catch((error: unknown) => error);
    expect(known).toBeInstanceOf(NotFoundError);
  });

  it.each([
    ['gwk_nothing', AuthenticationError, 'not_authenticated'],
    [null, NotFoundError, 'no_provider'],
  ])('raises its own error, with the key %s', async (key, error, type) => {
    const other = connect({ apiKey: key ?? gateway.anna.key });
    const failure = await other.messages
      .create({ ...ASKED, model: 'nothing' })
      .catch((fault: unknown) => fault);
    expect(failure).toBeInstanceOf(error);
    expect(failure).toMatchObject({ error: { type: 'error', error: { type } } });
  });

  it('raises an error inside a stream', async () => {
    fake.once(errorEvent('the card is out of memory'));
    const failure = await client.messages
      .stream(ASKED)
      .finalMessage()
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(APIError);
    expect(String(failure)).toContain('out of memory');
  });
});

describe('a stream', () => {
  it('has each event in order and no data: [DONE]', async () => {
    const text = await (await ask({ stream: true })).text();
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(text).not.toContain('[DONE]');
  });

  it('that breaks ends with an error event', async () => {
    fake.once(dieMidStream());
    const response = await ask({ stream: true });
    const text = await response.text();
    const last = text.trimEnd().split('\n\n').at(-1) ?? '';
    expect(last).toMatch(/^event: error\n/);
    expect(last).toContain(`"request_id":"${response.headers.get('request-id')}"`);
    expect(JSON.parse(last.split('\ndata: ')[1] ?? '')).toMatchObject({
      type: 'error',
      error: { type: 'api_error', code: 'provider_error' },
    });
  });

  it('whose caller leaves stops the GPU', async () => {
    fake.once(chunks({ count: 1_000, delayMs: 10 }));
    const before = fake.aborts.length;
    const stream = client.messages.stream(ASKED);
    stream.on('text', () => stream.abort());
    await stream.done().catch(() => {});
    await until(() => fake.aborts.length > before);
  });
});

describe('errors have the envelope of that API', () => {
  it.each<[object, number, string]>([
    [{ max_tokens: undefined }, 400, 'invalid_request_error'],
    [{ messages: 7 }, 400, 'invalid_request_error'],
    [{ Stream: true }, 400, 'invalid_request_error'],
    [{ model: 'nothing' }, 404, 'no_provider'],
  ])('%j is %i %s', async (fields, status, type) => {
    expect(await failureOf(await ask(fields))).toMatchObject({ status, type });
  });

  it('a local server that fails', async () => {
    fake.behave(reply(500, { error: { message: 'broken' } }));
    expect(await failureOf(await ask())).toMatchObject({ status: 502, type: 'api_error' });
  });

  it('no key, an unknown path, and the wrong method', async () => {
    const missing = await fetch(`${gateway.address}${MESSAGES}`, { method: 'POST', body: '{}' });
    expect(await failureOf(missing)).toMatchObject({ status: 401, type: 'not_authenticated' });
    const unknown = await gateway.fetch(`${MESSAGES}/batches`);
    expect(await failureOf(unknown)).toMatchObject({ status: 404, type: 'not_found_error' });
    const wrong = await gateway.fetch(MESSAGES, { method: 'DELETE' });
    expect(await failureOf(wrong)).toMatchObject({ status: 405 });
  });

  it('other paths keep OpenAI’s', async () => {
    const failure = (await (await gateway.fetch('/v1/models/nothing')).json()) as object;
    expect(failure).not.toHaveProperty('type');
    expect(failure).toMatchObject({ error: { code: 'model_not_found' } });
  });
});

describe('the key', () => {
  it('in x-api-key is taken everywhere', async () => {
    expect((await listModels({ 'x-api-key': gateway.anna.key })).status).toBe(200);
  });

  it('in Authorization decides where both are sent', async () => {
    const bad = { authorization: 'Bearer gwk_nothing', 'x-api-key': gateway.anna.key };
    expect((await listModels(bad)).status).toBe(401);
    const good = { authorization: `Bearer ${gateway.anna.key}`, 'x-api-key': 'gwk_nothing' };
    expect((await listModels(good)).status).toBe(200);
  });

  it('of another kind of authorization is none', async () => {
    const proxied = { authorization: 'Basic YTpi', 'x-api-key': gateway.anna.key };
    expect((await listModels(proxied)).status).toBe(200);
    expect((await listModels({ authorization: 'Basic YTpi' })).status).toBe(401);
  });
});

describe('what is ignored, and what is left out', () => {
  it('fields of Anthropic’s own', async () => {
    const system = [{ type: 'text', text: 'Be short.', cache_control: { type: 'ephemeral' } }];
    const fields = { context_management: { edits: [] }, output_config: { effort: 'high' }, system };
    expect((await ask(fields)).status).toBe(200);
    const names = Object.keys(seen()).filter((name) => !/^(stream|stream_options)$/.test(name));
    expect(names.toSorted()).toEqual(['max_tokens', 'messages', 'model', 'temperature']);
  });

  it('tools of Anthropic’s own are named in a header', async () => {
    const odd = { type: 'bash_20250124', name: 'a\r\nb: \ud800' };
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }, odd, WEATHER];
    const response = await ask({ tools });
    expect(response.headers.get('x-ignored-tools')).toBe('web_search, a__b___');
    expect(seen()['tools']).toMatchObject([{ function: { name: 'weather' } }]);
  });
});

describe('jobs', () => {
  it('async: true is a job whose result is a message', async () => {
    const accepted = await ask({ async: true });
    expect(accepted.status).toBe(202);
    const job = (await accepted.json()) as JobBody;
    expect(job).toMatchObject({ endpoint: MESSAGES, inference_type: 'LLM' });
    const content = [{ type: 'text', text: TEXT }];
    const { result } = await ended(gateway, job.id);
    expect(result).toMatchObject({ id: `msg_${job.id}`, type: 'message', content });
  });

  it('an item of a batch', async () => {
    const created = await submitBatch(gateway, [{ endpoint: MESSAGES, body: ASKED }]);
    const { id } = (await created.json()) as BatchBody;
    const batch = (await (await gateway.fetch(`/v1/batches/${id}`)).json()) as BatchBody;
    const { result } = await ended(gateway, batch.jobs?.[0]?.id ?? '');
    expect(result).toMatchObject({ type: 'message', stop_reason: 'end_turn' });
  });
});

describe('counting', () => {
  it('is estimated, and says so', async () => {
    const response = await ask({ max_tokens: undefined }, COUNT);
    expect(await response.json()).toEqual({ input_tokens: 7, estimated: true });
  });

  it('of a large prompt is done beside the event loop', async () => {
    const content = 'a'.repeat(400_000);
    const messages = [{ role: 'user', content }];
    const counted = (await (await ask({ messages }, COUNT)).json()) as { input_tokens: number };
    expect(counted.input_tokens).toBe(100_005);
  });

  it('refuses what /messages refuses, and unknown models', async () => {
    const bad = await failureOf(await ask({ messages: 7 }, COUNT));
    expect(bad).toMatchObject({ status: 400, type: 'invalid_request_error' });
    const unknown = await failureOf(await ask({ model: 'nothing' }, COUNT));
    expect(unknown).toMatchObject({ status: 404, type: 'no_provider' });
  });
});
