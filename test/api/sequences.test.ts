/**
 * Requests for several answers: `n`, lists of prompts, and both, with every kind of local server.
 */
import { expect, it, onTestFinished } from 'vitest';
import { OpenAI as LangChainCompletion } from '@langchain/openai';
import { document, errorEvent, reply, stream } from '../support/fake-behaviours.js';
import type { Behaviour } from '../support/fake-model-server.js';
import { startHeldModel } from '../support/held-model.js';
import { openServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';
import { ended, submitted } from './job-calls.js';
import { chat, eventsOf, failureOf, post } from './requests.js';
import { openCircle } from './sharing-stage.js';
import type { Circle } from './sharing-stage.js';
import type { HeldModel } from '../support/held-model.js';

const path = '/v1/completions';

interface Completion {
  readonly choices: { index: number; text?: string; finish_reason: string | null }[];
  readonly usage?: Record<string, unknown> | null;
}

/** Answers with its prompt and seed; counts one token a word. */
const repeating: Behaviour = (request, response) => {
  const { prompt, seed, stream: isStream } = request.body;
  const text = `${JSON.stringify(prompt)} seed ${String(seed)}`;
  const answerIt = isStream === true ? stream(text.split(' ')) : document({ text });
  return answerIt(request, response);
};

async function open(behaviour: Behaviour = repeating) {
  const served = await openServedGateway();
  onTestFinished(served.stop);
  served.fake.behave(behaviour);
  return served;
}

it('each prompt and each answer is one request of the local server, and one choice', async () => {
  const { gateway, fake } = await open();
  const asked = { model: 'tiny', prompt: ['a', 'b'], n: 2, best_of: 3, seed: 7, echo: true };
  const response = await post(gateway, asked, { path });
  const { choices, usage } = (await response.json()) as Completion;
  expect(choices.map(({ index, text }) => [index, text])).toEqual([
    [0, '"a" seed 7'],
    [1, '"a" seed 8'],
    [2, '"b" seed 7'],
    [3, '"b" seed 8'],
  ]);
  // The tokens of each prompt count once, those of each answer every time.
  expect(usage).toEqual({ prompt_tokens: 14, completion_tokens: 12, total_tokens: 26 });
  for (const { body } of fake.requests) {
    expect(body).toMatchObject({ model: 'tiny', echo: true });
    expect(Object.keys(body)).not.toContain('n');
    expect(Object.keys(body)).not.toContain('best_of');
  }
});

it('prompts of token ids are requests of their own, and one of them goes as it is', async () => {
  const { gateway, fake } = await open();
  await post(gateway, { model: 'tiny', prompt: [[1, 2], [3]] }, { path });
  await post(gateway, { model: 'tiny', prompt: [4, 5] }, { path });
  await post(gateway, { model: 'tiny', prompt: ['only'] }, { path });
  const prompts = fake.requests.map(({ body }) => JSON.stringify(body['prompt']));
  expect(prompts.toSorted()).toEqual(['"only"', '[1,2]', '[3]', '[4,5]']);
});

it('a stream names the choice in each chunk, ends each once, and has one usage chunk', async () => {
  const { gateway } = await open();
  const options = { stream: true, stream_options: { include_usage: true } };
  const asked = { model: 'tiny', prompt: ['a', 'b', 'c'], n: 2, ...options };
  const text = await (await post(gateway, asked, { path })).text();
  const events = eventsOf(text);
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as Completion);
  const texts = new Map<number, string[]>();
  const endings: number[] = [];
  for (const { choices } of chunks) {
    for (const { index, text: piece = '', finish_reason: ending } of choices) {
      texts.set(index, [...(texts.get(index) ?? []), piece]);
      if (ending !== null) endings.push(index);
    }
  }
  expect(endings.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5]);
  const said = [...texts].toSorted(([a], [b]) => a - b).map(([, pieces]) => pieces.join(''));
  expect(said.map((one) => one.slice(0, 3))).toEqual(['"a"', '"a"', '"b"', '"b"', '"c"', '"c"']);
  const counted = chunks.filter(({ usage }) => usage);
  expect(counted.map(({ choices, usage }) => ({ choices, usage }))).toEqual([
    { choices: [], usage: { prompt_tokens: 21, completion_tokens: 18, total_tokens: 39 } },
  ]);
  expect(new Set(chunks.map((chunk) => (chunk as unknown as { id: string }).id)).size).toBe(1);
});

it('LangChain’s completion model, which always sends a list, gets its texts', async () => {
  const { gateway } = await open(document({ text: 'there was a GPU' }));
  const model = new LangChainCompletion({
    model: 'tiny',
    apiKey: gateway.anna.key,
    configuration: { baseURL: gateway.baseUrl },
    n: 2,
    bestOf: 2,
  });
  const { generations } = await model.generate(['Once', 'Twice']);
  const texts = generations.map((one) => one.map(({ text }) => text));
  const said = 'there was a GPU';
  expect(texts).toEqual([
    [said, said],
    [said, said],
  ]);
});

it('a refusal of one of them is that of the request', async () => {
  const { gateway, fake } = await open();
  fake.once(repeating, reply(400, { error: { message: 'no such token', code: 400 } }));
  const failure = await failureOf(
    await post(gateway, { model: 'tiny', prompt: ['a', 'b', 'c'] }, { path }),
  );
  expect(failure).toMatchObject({ status: 400, code: 'provider_rejected' });
  expect(failure.message).toContain('no such token');
});

it('a stream of which one answer breaks ends in an error', async () => {
  const { gateway, fake } = await open();
  fake.once(repeating, errorEvent('the card fell out'));
  const asked = { model: 'tiny', prompt: ['a', 'b'], stream: true };
  const events = eventsOf(await (await post(gateway, asked, { path })).text());
  expect(events.slice(-2).join()).toContain('the card fell out');
  expect(events.at(-1)).toBe('[DONE]');
});

it('chats have several answers, too', async () => {
  const { gateway, fake } = await open(document({ text: 'Hi.' }));
  const { choices } = (await (await post(gateway, chat({ n: 3 }))).json()) as Completion;
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
  expect(fake.requests).toHaveLength(3);
});

async function openShare(slots: number): Promise<{ circle: Circle; held: HeldModel }> {
  const held = await startHeldModel();
  const circle = await openCircle();
  await circle.home(circle.anna, { services: [{ baseUrl: held.server.baseUrl, slots: 4 }] });
  await circle.found(circle.ben);
  await circle.share({ slots });
  return { circle, held };
}

it.each([1, 2])('a share of %i slots runs no more of five answers at once', async (slots) => {
  const { circle, held } = await openShare(slots);
  const call = post(circle.ben, chat({ n: 5 }));
  await until(() => held.server.inFlight === slots);
  held.release();
  const { choices } = (await (await call).json()) as Completion;
  expect(choices).toHaveLength(5);
  expect(held.server.maxInFlight).toBe(slots);
});

it('an owner’s answers take the slots that are free, and the rest of them wait', async () => {
  const { circle, held } = await openShare(2);
  const bens = post(circle.ben, chat());
  await until(() => held.server.inFlight === 1);
  const annas = post(circle.anna, chat({ n: 8, stream: true }));
  await until(() => held.server.inFlight === 4);
  const late = post(circle.ben, chat());
  held.release();
  for (const { status } of await Promise.all([bens, annas, late])) expect(status).toBe(200);
  await (await annas).text();
  expect(held.server.maxInFlight).toBe(4);
  expect(held.server.requests).toHaveLength(10);
});

it('a caller who leaves stops all of them and frees every slot', async () => {
  const { circle, held } = await openShare(4);
  const leaving = new AbortController();
  const call = post(circle.ben, chat({ n: 9, stream: true }), { signal: leaving.signal });
  await until(() => held.server.inFlight === 4);
  leaving.abort();
  await expect(call).rejects.toThrow('abort');
  await until(() => held.server.aborts.length === 4);
  expect(held.server.requests).toHaveLength(4);
  held.release();
  const next = await post(circle.ben, chat({ n: 4 }));
  expect(next.status).toBe(200);
  expect(held.server.maxInFlight).toBe(4);
});

it('a job makes them one after another', async () => {
  const { circle, held } = await openShare(4);
  held.release();
  const { id } = await submitted(circle.ben, { ...chat({ n: 3 }) });
  const job = await ended(circle.ben, id);
  expect(job.status).toBe('PROCESSED');
  expect(job.result?.choices).toHaveLength(3);
  expect(held.server.maxInFlight).toBe(1);
});
