import { ChatOpenAI } from '@langchain/openai';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import { speak } from './media-calls.js';
import { chat, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const WINDOW_MS = 1_500;

let gateway: TestGateway;
let fake: FakeModelServer;

/** Two requests in 1.5 s; a test may use both up. */
beforeEach(async () => {
  gateway = await startGateway({ rateLimitRequests: 2, rateLimitWindowMs: WINDOW_MS });
  fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
});

async function useUp(): Promise<void> {
  for (let i = 0; i < 2; i++) expect((await post(gateway, chat())).status).toBe(200);
}

describe('a stock client that meets a 429 succeeds later without help', () => {
  it.each(STOCK_CLIENTS)('$version, as it comes', async ({ Sdk }) => {
    await useUp();
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    const { choices } = await client.chat.completions.create(chat());
    expect(choices[0]?.message.content).toBe('Hello from the fake.');
    expect(fake.requests).toHaveLength(3);
  });

  it.each(STOCK_CLIENTS)('$version, streaming', async ({ Sdk }) => {
    await useUp();
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    let text = '';
    for await (const chunk of await client.chat.completions.create(
      chat({ stream: true as const }),
    )) {
      text += chunk.choices[0]?.delta.content ?? '';
    }
    expect(text).toBe('Hello from the fake.');
  });

  it('LangChain.js', async () => {
    await useUp();
    const startedAt = performance.now();
    const model = langChain();
    const answer = await model.invoke('hello');
    expect(answer.content).toBe('Hello from the fake.');
    expect(performance.now() - startedAt).toBeGreaterThan(WINDOW_MS / 3);
    expect(fake.requests).toHaveLength(3);
  });

  it('LangChain.js, where it asks four times at once', async () => {
    const model = langChain();
    const answers = await Promise.all(Array.from({ length: 4 }, () => model.invoke('hello')));
    expect(answers.map(({ content }) => content)).toEqual(Array(4).fill('Hello from the fake.'));
    expect(fake.requests).toHaveLength(4);
  });

  it.each(STOCK_CLIENTS)('$version, where it asks for speech', async ({ Sdk }) => {
    const studio = await startStudio(gateway, { name: 'studio', types: ['tts'] });
    onTestFinished(() => studio.fake.close());
    await useUp();
    const client = connect(Sdk, gateway, { maxRetries: 2 });
    const response = await client.audio.speech.create({
      model: 'kokoro',
      input: 'x',
      voice: 'nova',
    });
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    expect(studio.fake.requests).toHaveLength(1);
  });
});

describe('what the clients go by', () => {
  it.each([
    ['chat', () => post(gateway, chat())],
    ['speech', () => speak(gateway)],
  ])('a refused %s has Retry-After in whole seconds of at most 60', async (_, call) => {
    await useUp();
    const response = await call();
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]$/);
    const seconds = Number(response.headers.get('retry-after'));
    expect(response.headers.get('retry-after-ms')).toBe(String(seconds * 1_000));
    expect(response.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(response.headers.get('x-should-retry')).toBeNull();
    const failure = await failureOf(response);
    expect(failure).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(failure.message).toContain(`Try again in ${seconds} seconds.`);
    // LangChain does not retry if the message has one of these words.
    expect(failure.message).not.toMatch(/quota|billing/i);
  });

  it('a refused request is not counted: who waits as long as told is served', async () => {
    await useUp();
    for (let i = 0; i < 20; i++) expect((await post(gateway, chat())).status).toBe(429);
    expect(fake.requests).toHaveLength(2);
    const client = connect(STOCK_CLIENTS[0]?.Sdk ?? expect.fail('no client'), gateway, {
      maxRetries: 1,
    });
    await expect(client.chat.completions.create(chat())).resolves.toBeTruthy();
  });
});

function langChain(): ChatOpenAI {
  return new ChatOpenAI({
    model: 'tiny',
    apiKey: gateway.anna.key,
    maxRetries: 6,
    configuration: { baseURL: gateway.baseUrl },
  });
}
