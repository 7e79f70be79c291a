import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { toService } from '@inference-gateway/agent/config/services';
import { DEMO_SERVICES } from '@inference-gateway/agent/demo/models';
import { startDemoServer } from '@inference-gateway/agent/demo/server';
import OpenAI from 'openai';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';

let baseUrl: string;
let client: OpenAI;

beforeAll(async () => {
  const demo = await startDemoServer();
  baseUrl = demo.baseUrl;
  client = new OpenAI({ baseURL: baseUrl, apiKey: 'unused', maxRetries: 0 });
  return () => demo.close();
});

const user = (content: string) => [{ role: 'user' as const, content }];

test('lists two chat models if all are asked for', async () => {
  const backend = createBackend(configuredServer(baseUrl));
  const { models } = await backend.describe(AbortSignal.timeout(2_000));
  expect(models).toMatchObject([
    { id: 'demo-chat', context_length: 8_192, supported_features: ['tools'] },
    { id: 'demo-reasoner', supported_features: ['reasoning'] },
  ]);
});

test.each([
  ['demo', [{ id: 'demo-chat', supported_features: ['tools'] }, { id: 'demo-reasoner' }]],
  ['demo-stt', [{ id: 'demo-whisper', supported_features: ['timestamps'] }]],
  ['demo-tts', [{ id: 'demo-voice', output_modalities: ['audio'] }]],
  ['demo-image', [{ id: 'demo-painter', output_modalities: ['image'] }]],
])('service %s has its own models and no others', async (id, expected) => {
  const entry = DEMO_SERVICES.find((service) => service.id === id);
  const named = entry?.models.map((model) => ({ id: model })) ?? [];
  const file = { type: entry?.type ?? 'video', backend: 'openai', models: named } as const;
  const backend = createBackend(toService({ ...file, base_url: baseUrl }, null));
  const { models } = await backend.describe(AbortSignal.timeout(2_000));
  expect(models).toMatchObject(expected);
});

describe('demo-chat', () => {
  const model = 'demo-chat';

  test('answers the same message with the same words, whole and streamed', async () => {
    const messages = user('good morning');
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe('You said: good morning');
    expect(whole.choices[0]?.finish_reason).toBe('stop');
    expect(whole.usage).toEqual({ prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 });
    const startedAt = performance.now();
    const stream = client.chat.completions.stream({ model, messages });
    const streamed = await stream.finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toBe('You said: good morning');
    expect(performance.now() - startedAt).toBeGreaterThan(80);
  });

  test('stops at max_tokens words', async () => {
    const request = { model, messages: user('a b c d'), max_tokens: 3 };
    const { choices, usage } = await client.chat.completions.create(request);
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'You said: a' },
    });
    expect(usage?.completion_tokens).toBe(3);
  });

  test('sends usage in a stream only when asked', async () => {
    for (const wanted of [true, false]) {
      const stream = await client.chat.completions.create({
        model,
        messages: user('hi'),
        stream: true,
        stream_options: { include_usage: wanted },
      });
      const usages = [];
      for await (const chunk of stream) if (chunk.usage) usages.push(chunk.usage.total_tokens);
      expect(usages).toEqual(wanted ? [4] : []);
    }
  });

  test('calls the tool that the message names, and reads its answer', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    };
    const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters } }];
    const messages = user('please get_weather');
    const { choices } = await client.chat.completions.create({ model, messages, tools });
    const call = choices[0]?.message.tool_calls?.[0];
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(call).toMatchObject({
      function: { name: 'get_weather', arguments: '{"city":"demo","days":1}' },
    });
    const answered = await client.chat.completions.create({
      model,
      tools,
      messages: [
        ...messages,
        choices[0]?.message ?? { role: 'assistant', content: '' },
        { role: 'tool', tool_call_id: call?.id ?? '', content: 'sunny' },
      ],
    });
    expect(answered.choices[0]?.message.content).toBe('The tool said: sunny');
    const streamed = await client.chat.completions
      .stream({ model, messages, tools })
      .finalChatCompletion();
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'get_weather' },
    });
  });

  test('calls no tool that the message does not name', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'get_weather' } }];
    const { choices } = await client.chat.completions.create({
      model,
      messages: user('hi'),
      tools,
    });
    expect(choices[0]?.message.content).toBe('You said: hi');
  });

  test('reads the text of message parts', async () => {
    const content = [{ type: 'text' as const, text: 'in parts' }];
    const { choices } = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content }],
    });
    expect(choices[0]?.message.content).toBe('You said: in parts');
  });
});

test('demo-reasoner shows its reasoning, whole and streamed', async () => {
  const request = { model: 'demo-reasoner', messages: user('two words') };
  const { choices } = await client.chat.completions.create(request);
  const reasoning = 'The message has 2 words. I repeat it.';
  expect(choices[0]?.message).toMatchObject({ reasoning_content: reasoning });
  const stream = await client.chat.completions.create({ ...request, stream: true });
  let streamed = '';
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta as { reasoning_content?: string } | undefined;
    streamed += delta?.reasoning_content ?? '';
  }
  expect(streamed).toBe(reasoning);
});

test('completes prompts', async () => {
  const request = { model: 'demo-chat', prompt: 'once upon' };
  const { choices } = await client.completions.create(request);
  expect(choices[0]?.text).toBe('You wrote: once upon');
  let text = '';
  for await (const chunk of await client.completions.create({ ...request, stream: true })) {
    text += chunk.choices[0]?.text ?? '';
  }
  expect(text).toBe('You wrote: once upon');
});

test('refuses what it does not know', async () => {
  const messages = user('hi');
  await expect(client.chat.completions.create({ model: 'gpt', messages })).rejects.toMatchObject({
    status: 404,
  });
  const answer = await fetch(`${baseUrl}/chat/completions`, { method: 'POST', body: '{' });
  expect(answer.status).toBe(400);
  expect((await fetch(`${baseUrl}/embeddings`)).status).toBe(404);
  const chat = client.chat.completions.create({ model: 'demo-whisper', messages });
  await expect(chat).rejects.toMatchObject({ status: 404, param: 'model' });
});

test('closes while somebody listens', async () => {
  const demo = await startDemoServer();
  onTestFinished(() => demo.close());
  const other = new OpenAI({ baseURL: demo.baseUrl, apiKey: 'unused', maxRetries: 0 });
  const stream = await other.chat.completions.create({
    model: 'demo-chat',
    messages: user('word '.repeat(500)),
    stream: true,
  });
  const drained = (async () => {
    for await (const _chunk of stream);
  })();
  await demo.close();
  await expect(drained).rejects.toThrow();
});
