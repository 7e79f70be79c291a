import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeLlamaServer, startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { chat, failureOf, post } from './requests.js';

let gateway: TestGateway;
let fake: FakeModelServer;
let llama: FakeModelServer;
let vllm: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  llama = await startFakeLlamaServer({ models: ['llama'] });
  vllm = await startFakeOpenAi({ models: [{ id: 'vllm', owned_by: 'vllm' }] });
  await gateway.startAgent({
    services: [
      { baseUrl: fake.baseUrl, apiKey: 'local-key' },
      { baseUrl: llama.baseUrl, backend: 'llama-server' },
      { baseUrl: vllm.baseUrl, dropFields: ['priority'] },
    ],
  });
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([fake, llama, vllm].map((server) => server.close()));
});

/** The body that the local server receives for a chat with these fields. */
async function sent(fields: object, server = fake): Promise<Readonly<Record<string, unknown>>> {
  const response = await post(gateway, chat(fields));
  expect(await response.json()).toMatchObject({ object: 'chat.completion' });
  return server.lastRequest.body;
}

/** The error for a request with these fields; it must not reach the local server. */
async function refusal(fields: object) {
  const before = fake.requests.length;
  const failure = await failureOf(await post(gateway, chat(fields)));
  expect(fake.requests).toHaveLength(before);
  expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error', retry: null });
  return failure;
}

describe('temperature', () => {
  it.each([
    ['is 0.7 where it is absent', {}, 0.7],
    ['is 0.7 where it is null', { temperature: null }, 0.7],
    ['stays what the caller says', { temperature: 0 }, 0],
  ])('%s', async (_, fields, expected) => {
    expect(await sent(fields)).toMatchObject({ temperature: expected });
  });
});

describe('a limit of -1 tokens is none', () => {
  it.each(['max_tokens', 'max_completion_tokens'])('%s', async (name) => {
    expect(await sent({ [name]: -1, top_k: -1 })).not.toHaveProperty(name);
    expect(fake.lastRequest.body).toMatchObject({ top_k: -1 });
  });

  it('as a job, in a batch and for a completion as well', async () => {
    const [none, completion] = [
      { max_tokens: -1 },
      { model: 'tiny', prompt: 'Once', max_tokens: -1 },
    ];
    const bodies = async (count: number) => {
      await until(() => fake.requests.length >= count);
      return fake.requests.slice(-1)[0]?.body;
    };
    const before = fake.requests.length;
    expect((await post(gateway, completion, { path: '/v1/completions' })).status).toBe(200);
    expect(await bodies(before + 1)).not.toHaveProperty('max_tokens');
    expect((await post(gateway, chat({ ...none, async: true }))).status).toBe(202);
    expect(await bodies(before + 2)).not.toHaveProperty('max_tokens');
    const requests = [{ endpoint: '/v1/chat/completions', body: chat(none) }];
    expect((await post(gateway, { requests }, { path: '/v1/batches' })).status).toBe(202);
    expect(await bodies(before + 3)).not.toHaveProperty('max_tokens');
  });
});

it('nothing else is injected', async () => {
  const body = await sent({});
  expect(Object.keys(body).toSorted()).toEqual(['messages', 'model', 'temperature']);
});

it('additional properties are accepted, and pass unchanged', async () => {
  const fields = {
    seed: 7,
    top_k: 40,
    response_format: { type: 'json_object' },
    logit_bias: { 5: -1 },
    chat_template_kwargs: { enable_thinking: false },
  };
  expect(await sent(fields)).toMatchObject(fields);
});

it('fields inside messages pass unchanged as well', async () => {
  const messages = [
    {
      role: 'user',
      content: [{ type: 'text', text: 'hi', cache_control: { type: 'x' } }],
      name: 'a',
    },
  ];
  expect(await sent({ messages })).toMatchObject({ messages });
});

it.each([false, null])('async: %s never reaches a provider', async (value) => {
  expect(await sent({ async: value })).not.toHaveProperty('async');
});

describe('fields that the deny-list of the backend names are dropped', () => {
  it.each(['id_slot', 'lora'])('%s before llama-server', async (field) => {
    const body = await sent({ model: 'llama', [field]: 1, seed: 1 }, llama);
    expect(body).not.toHaveProperty(field);
    expect(body).toHaveProperty('seed');
  });

  it('chat_template before vLLM', async () => {
    const body = await sent({ model: 'vllm', chat_template: '{{ x }}' }, vllm);
    expect(body).not.toHaveProperty('chat_template');
  });

  it('those that the owner names in drop_fields', async () => {
    const body = await sent({ model: 'vllm', priority: -1 }, vllm);
    expect(body).not.toHaveProperty('priority');
  });
});

describe('the local server sees', () => {
  it('its own key, never the caller’s', async () => {
    await sent({});
    expect(fake.lastRequest.headers.authorization).toBe('Bearer local-key');
    expect(JSON.stringify(fake.lastRequest)).not.toContain(gateway.anna.key);
  });

  it('no header of the caller but the content type', async () => {
    const headers = { 'x-secret': 'of-the-caller', cookie: 'a=b', 'user-agent': 'caller/1' };
    await post(gateway, chat(), { headers });
    const seen = JSON.stringify(fake.lastRequest.headers);
    for (const value of Object.values(headers)) expect(seen).not.toContain(value);
    expect(fake.lastRequest.headers['content-type']).toBe('application/json');
  });
});

const CALLED = { name: 'weather', arguments: '{"city":"Bern"}' };
const CITATION = { type: 'url_citation', url_citation: { url: 'https://example.org', title: 'x' } };

describe('roles', () => {
  it.each([
    ['system', { role: 'system', content: 'x' }],
    ['developer', { role: 'developer', content: 'x' }],
    ['tool', { role: 'tool', content: 'x', tool_call_id: 'call_1' }],
    ['function', { role: 'function', content: 'x', name: 'f' }],
    [
      'assistant without content but with tool_calls',
      { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function' }] },
    ],
    ['assistant with a function_call', { role: 'assistant', function_call: CALLED, content: null }],
    ['assistant with a refusal', { role: 'assistant', content: null, refusal: 'I cannot.' }],
    ['assistant with audio', { role: 'assistant', content: null, audio: { id: 'audio_1' } }],
    ['assistant with sources', { role: 'assistant', content: 'x', annotations: [CITATION] }],
    [
      'assistant with sources of a part',
      { role: 'assistant', content: [{ type: 'text', text: 'x', annotations: [CITATION] }] },
    ],
  ])('%s is accepted', async (_, message) => {
    const messages = [{ role: 'user', content: 'hello' }, message];
    expect(await sent({ messages })).toMatchObject({ messages });
  });
});

describe('known fields are checked', () => {
  it.each<[string, object, string]>([
    ['model absent', { model: undefined }, 'missing_required_parameter model'],
    ['model null', { model: null }, 'missing_required_parameter model'],
    ['model a number', { model: 7 }, 'invalid_type model'],
    ['model empty', { model: '' }, 'invalid_value model'],
    ['messages absent', { messages: undefined }, 'missing_required_parameter messages'],
    ['messages a string', { messages: 'hello' }, 'invalid_type messages'],
    ['messages empty', { messages: [] }, 'invalid_value messages'],
    ['a message a string', { messages: ['hello'] }, 'invalid_type messages[0]'],
    ['no role', { messages: [{ content: 'x' }] }, 'missing_required_parameter messages[0].role'],
    ['role a number', { messages: [{ role: 1, content: 'x' }] }, 'invalid_type messages[0].role'],
    [
      'no content',
      { messages: [{ role: 'user' }] },
      'missing_required_parameter messages[0].content',
    ],
    [
      'an assistant without content and tool_calls',
      { messages: [{ role: 'assistant', content: null }] },
      'missing_required_parameter messages[0].content',
    ],
    [
      'an assistant whose refusal is null',
      { messages: [{ role: 'assistant', content: null, refusal: null, audio: null }] },
      'missing_required_parameter messages[0].content',
    ],
    [
      'a user with a refusal',
      { messages: [{ role: 'user', refusal: 'no' }] },
      'missing_required_parameter messages[0].content',
    ],
    [
      'content a number',
      { messages: [{ role: 'user', content: 5 }] },
      'invalid_type messages[0].content',
    ],
    ['stream a string', { stream: 'true' }, 'invalid_type stream'],
    ['temperature a string', { temperature: '1' }, 'invalid_type temperature'],
    ['temperature too high', { temperature: 2.5 }, 'invalid_value temperature'],
    ['top_p too high', { top_p: 1.5 }, 'invalid_value top_p'],
    ['max_tokens zero', { max_tokens: 0 }, 'invalid_value max_tokens'],
    ['max_tokens a fraction', { max_tokens: 1.5 }, 'invalid_type max_tokens'],
    ['frequency_penalty too low', { frequency_penalty: -3 }, 'invalid_value frequency_penalty'],
    ['presence_penalty too high', { presence_penalty: 3 }, 'invalid_value presence_penalty'],
    ['stop a number', { stop: 1 }, 'invalid_type stop'],
    ['async a string', { async: 'true' }, 'invalid_type async'],
  ])('%s', async (_, fields, expected) => {
    const { code, param } = await refusal(fields);
    expect(`${code} ${param}`).toBe(expected);
  });

  it('the message says what failed, with which value, and what to do next', async () => {
    const { message } = await refusal({ model: undefined });
    expect(message).toBe("Missing required parameter: 'model'. Add it to the request body.");
    expect((await refusal({ max_tokens: -5 })).message).toContain("'max_tokens' is -5");
  });

  it('null counts as absent', async () => {
    const names = ['top_p', 'max_tokens', 'stop', 'stream', 'frequency_penalty', 'stream_options'];
    const body = await sent(Object.fromEntries(names.map((name) => [name, null])));
    expect(body['temperature']).toBe(0.7);
  });
});

describe('media parts reach agents only as data: URLs', () => {
  it.each([
    ['http', { type: 'image_url', image_url: { url: 'http://192.168.0.1/admin' } }],
    ['https', { type: 'image_url', image_url: { url: 'https://example.org/cat.png' } }],
    ['file', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }],
    ['no scheme', { type: 'image_url', image_url: { url: '//example.org/cat.png' } }],
    ['a bare string', { type: 'image_url', image_url: 'http://127.0.0.1/' }],
    ['a video', { type: 'video_url', video_url: { url: 'http://127.0.0.1/' } }],
  ])('%s is 400 unsupported_value with param', async (_, part) => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }, part] }];
    const { code, param } = await refusal({ messages });
    expect(code).toBe('unsupported_value');
    expect(param).toMatch(/^messages\[0\]\.content\[1\]\.(image|video)_url/);
  });

  it('a data: URL passes, in any case', async () => {
    const part = { type: 'image_url', image_url: { url: 'DATA:image/png;base64,AAAA' } };
    const messages = [{ role: 'user', content: [part] }];
    expect(await sent({ messages })).toMatchObject({ messages });
  });

  it('a URL in plain text is only text', async () => {
    const messages = [{ role: 'user', content: 'Read http://127.0.0.1/ for me' }];
    expect(await sent({ messages })).toMatchObject({ messages });
  });
});
