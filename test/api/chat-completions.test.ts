import type OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, echo, reply, stream } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { chat, eventsOf, failureOf, post, textOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi({ models: ['tiny', 'org/Model:7b'] });
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
});

beforeEach(() => fake.behave(answer({ text: 'Hello from home.' })));

afterAll(async () => {
  await gateway.stop();
  await fake.close();
});

interface Answered {
  readonly choices: readonly { readonly message?: object; readonly delta?: object }[];
}

const TOOLS = [
  {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: {} } },
  },
];
const TOOL_CALL = {
  id: 'call_1',
  type: 'function' as const,
  function: { name: 'weather', arguments: '{"city":"Bern"}' },
};

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  const completions = () => connect(Sdk, gateway).chat.completions;

  it('gets a ChatCompletion', async () => {
    const completion = await completions().create(chat());
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model: 'tiny',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello from home.' },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(completion.id).not.toBe('');
    expect(completion._request_id).toMatch(/^req_/);
  });

  it('gets a stream of chat.completion.chunk objects', async () => {
    const chunks = [];
    for await (const chunk of await completions().create(chat({ stream: true as const }))) {
      chunks.push(chunk);
    }
    expect(chunks.every(({ object }) => object === 'chat.completion.chunk')).toBe(true);
    const texts = chunks.map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(texts.join('')).toBe('Hello from home.');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it('gathers a stream with its .stream() helper', async () => {
    const runner = completions().stream(chat());
    expect(await runner.finalContent()).toBe('Hello from home.');
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  it('gets tool calls, plain', async () => {
    const message = { role: 'assistant', content: null, tool_calls: [TOOL_CALL] };
    fake.once(reply(200, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
    const completion = await completions().create(chat({ tools: TOOLS }));
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [TOOL_CALL] },
    });
    expect(fake.lastRequest.body['tools']).toEqual(TOOLS);
  });

  it('gathers tool calls from a stream', async () => {
    fake.once(
      events(
        { delta: { tool_calls: [{ index: 0, ...TOOL_CALL, function: { name: 'weather' } }] } },
        { delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] } },
        { delta: { tool_calls: [{ index: 0, function: { arguments: '"Bern"}' } }] } },
        { delta: {}, finish_reason: 'tool_calls' },
      ),
    );
    const { choices } = await completions()
      .stream(chat({ tools: TOOLS }))
      .finalChatCompletion();
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: TOOL_CALL.function });
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('runs a stock tool loop: the call, the tool, the answer', async () => {
    const message = { role: 'assistant', content: null, tool_calls: [TOOL_CALL] };
    fake.once(reply(200, { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
    const asked: unknown[] = [];
    const runner = completions().runTools({
      ...chat(),
      tools: [
        {
          type: 'function',
          function: {
            ...TOOLS[0]?.function,
            name: 'weather',
            description: 'Tells the weather.',
            parameters: { type: 'object', properties: {} },
            parse: JSON.parse,
            function: (city: object) => {
              asked.push(city);
              return 'sunny';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe('Hello from home.');
    expect(asked).toEqual([{ city: 'Bern' }]);
    const sent = fake.lastRequest.body['messages'] as { role: string }[];
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('sends multimodal parts of 5 MB as data: URLs, unchanged', async () => {
    const url = `data:image/png;base64,${'iVBO'.repeat(1_250_000)}`;
    const parts = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'image_url' as const, image_url: { url } },
    ];
    await completions().create(chat({ messages: [{ role: 'user' as const, content: parts }] }));
    expect(fake.lastRequest.text.length).toBeGreaterThan(5_000_000);
    const [sent] = fake.lastRequest.body['messages'] as { content: typeof parts }[];
    expect(sent?.content).toEqual(parts);
  });

  it('gets usage at the end of a stream only where it asked for it', async () => {
    expect(await usageChunks(completions(), {})).toEqual([]);
    expect(fake.lastRequest.body['stream_options']).toEqual({ include_usage: true });
    const [chunk, ...others] = await usageChunks(completions(), {
      stream_options: { include_usage: true },
    });
    expect(others).toEqual([]);
    expect(chunk).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
  });
});

/** The chunks of a stream that contain usage. */
async function usageChunks(completions: OpenAI.Chat.Completions, fields: object) {
  const found = [];
  const request = { ...chat({ stream: true as const }), ...fields };
  for await (const chunk of await completions.create(request)) {
    if (chunk.usage) found.push(chunk);
  }
  return found;
}

describe('a stream', () => {
  it('ends with the line data: [DONE], exactly once and nothing behind it', async () => {
    const response = await post(gateway, chat({ stream: true }));
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await response.text();
    expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
    expect(text.split('[DONE]')).toHaveLength(2);
    expect(textOf(text)).toBe('Hello from home.');
  });

  it('has one data: line an event', async () => {
    const text = await (await post(gateway, chat({ stream: true }))).text();
    for (const event of text.split('\n\n').slice(0, -1)) expect(event).toMatch(/^data: .+$/);
  });

  it('names role and content in its first delta, whatever the local server sends', async () => {
    fake.once(events({ delta: { content: 'hi' } }, { delta: {}, finish_reason: 'stop' }));
    const text = await (await post(gateway, chat({ stream: true }))).text();
    const [first = ''] = eventsOf(text);
    expect(JSON.parse(first)).toMatchObject({
      choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
    });
  });

  it('is neither cached, buffered by proxies, nor compressed', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const response = await post(gateway, chat({ stream: true }), { headers });
    await response.text();
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('content-encoding')).toBeNull();
  });
});

describe('the answer', () => {
  it.each([false, true])('names its way in headers (stream: %s)', async (streamed) => {
    const { status, headers } = await readAll(chat({ stream: streamed }));
    expect(status).toBe(200);
    expect(headers.get('x-provider')).toBe('den-pc');
    expect(headers.get('x-attempts')).toBe('1');
    for (const name of ['x-queue-ms', 'x-gateway-overhead-ms']) {
      expect(headers.get(name)).toMatch(/^\d+$/);
    }
    expect(headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  });

  it.each([false, true])('is in the model id that was asked for (stream: %s)', async (streamed) => {
    fake.once(answer({ model: '/home/anna/models/tiny-q4.gguf' }));
    const { text } = await readAll(chat({ stream: streamed }));
    expect(text).not.toContain('q4');
    expect(text).toContain('"model":"tiny"');
  });

  it('keeps fields that the specification does not name', async () => {
    const choice = {
      index: 0,
      message: { role: 'assistant', content: 'x' },
      finish_reason: 'stop',
    };
    fake.once(
      reply(200, {
        choices: [{ ...choice, logprobs: { content: [] } }],
        system_fingerprint: 'b1',
        timings: { predicted_ms: 1 },
      }),
    );
    const { text } = await readAll(chat());
    expect(JSON.parse(text)).toMatchObject({
      system_fingerprint: 'b1',
      timings: { predicted_ms: 1 },
      choices: [{ logprobs: { content: [] } }],
    });
  });

  describe.each(['reasoning', 'reasoning_content'])(
    'sends %s of the local server once',
    (given) => {
      it.each([
        [{}, 'reasoning_content', 'reasoning'],
        [{ 'x-reasoning-field': 'reasoning_content' }, 'reasoning_content', 'reasoning'],
        [{ 'x-reasoning-field': 'reasoning' }, 'reasoning', 'reasoning_content'],
      ])('to a request with %j as %s', async (headers, name, other) => {
        const message = { role: 'assistant', content: 'yes', [given]: 'because' };
        fake.once(reply(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }));
        const whole = (await (await post(gateway, chat(), { headers })).json()) as Answered;
        expect(whole.choices[0]?.message).toMatchObject({ content: 'yes', [name]: 'because' });
        expect(whole.choices[0]?.message).not.toHaveProperty(other);
        const delta = { [given]: 'because' };
        fake.once(events({ delta }, { delta: { content: 'yes' }, finish_reason: 'stop' }));
        const stream = await (await post(gateway, chat({ stream: true }), { headers })).text();
        const [first = ''] = eventsOf(stream);
        const [choice] = (JSON.parse(first) as Answered).choices;
        expect(choice?.delta).toMatchObject({ [name]: 'because' });
        expect(choice?.delta).not.toHaveProperty(other);
      });
    },
  );

  it('a header x-reasoning-field that is neither is 400', async () => {
    const headers = { 'x-reasoning-field': 'thinking' };
    const failure = await failureOf(await post(gateway, chat(), { headers }));
    expect(failure).toMatchObject({ status: 400, param: 'x-reasoning-field' });
  });

  it('is a stream where one was asked for, though the local server answers JSON', async () => {
    fake.once((request, response) =>
      answer({ text: 'whole' })({ ...request, body: { model: 'tiny' } }, response),
    );
    const { text } = await readAll(chat({ stream: true }));
    expect(textOf(text)).toBe('whole');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('is JSON where that was asked for, though the local server streams', async () => {
    fake.once(stream(['piece ', 'by ', 'piece']));
    const { text } = await readAll(chat());
    expect(JSON.parse(text)).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'piece by piece' }, finish_reason: 'stop' }],
    });
  });
});

it('a model id may hold slashes and a colon', async () => {
  fake.once(echo());
  const completion = await gateway.client.chat.completions.create(chat({ model: 'org/Model:7b' }));
  expect(completion.model).toBe('org/Model:7b');
  expect(fake.lastRequest.body['model']).toBe('org/Model:7b');
});

async function readAll(body: object) {
  const response = await post(gateway, body);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A local server's stream of these choices; like some real servers it leaves out the index. */
function events(...choices: readonly object[]) {
  const lines = choices.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`);
  return reply(200, `${lines.join('')}data: [DONE]\n\n`, 'text/event-stream');
}
