import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, dieMidStream } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import { eventsOf, failureOf, post } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

let gateway: TestGateway;
let fake: FakeModelServer;

beforeAll(async () => {
  const served = await openServedGateway();
  ({ gateway, fake } = served);
  return served.stop;
});

beforeEach(() => fake.behave(answer({ text: 'there was a GPU', model: 'local' })));

const path = '/v1/completions';
const PROMPT = { model: 'tiny', prompt: 'Once upon a time' };

describe.each(STOCK_CLIENTS)('$version', ({ Sdk }) => {
  const completions = () => connect(Sdk, gateway).completions;

  it('gets a text completion', async () => {
    expect(await completions().create(PROMPT)).toMatchObject({
      object: 'text_completion',
      model: 'tiny',
      choices: [{ index: 0, text: 'there was a GPU', finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 },
    });
    expect(fake.lastRequest.path).toBe('/v1/completions');
  });

  it('gets it as a stream', async () => {
    const texts = [];
    for await (const chunk of await completions().create({ ...PROMPT, stream: true })) {
      expect(chunk).toMatchObject({ object: 'text_completion', model: 'tiny' });
      texts.push(chunk.choices[0]?.text);
    }
    expect(texts.join('')).toBe('there was a GPU');
  });

  it('raises a typed error where the stream breaks', async () => {
    fake.once(dieMidStream());
    const texts: string[] = [];
    const reading = async () => {
      for await (const chunk of await completions().create({ ...PROMPT, stream: true })) {
        texts.push(chunk.choices[0]?.text ?? '');
      }
    };
    const failure = await reading().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Sdk.APIError);
    expect(failure).toMatchObject({ type: 'upstream_error', code: 'provider_error' });
    expect(texts.join('')).toBe('c0 c1 ');
  });
});

it('a stream ends with the line data: [DONE]', async () => {
  const text = await (await post(gateway, { ...PROMPT, stream: true }, { path })).text();
  expect(text.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
  expect(
    eventsOf(text)
      .slice(0, -1)
      .every((event) => JSON.parse(event) !== null),
  ).toBe(true);
});

it('additional properties are accepted, and no temperature is injected', async () => {
  const fields = { suffix: 'end', echo: true, logprobs: 2, best_of: 1 };
  await post(gateway, { ...PROMPT, ...fields }, { path });
  expect(fake.lastRequest.body).toEqual({ ...PROMPT, ...fields });
});

const MANY = Array.from({ length: 1_025 }, () => 'a');

it.each<[string, object, string]>([
  ['model absent', { model: undefined }, 'missing_required_parameter model'],
  ['prompt absent', { prompt: undefined }, 'missing_required_parameter prompt'],
  ['prompt a number', { prompt: 1 }, 'invalid_type prompt'],
  ['prompt an empty list', { prompt: [] }, 'invalid_type prompt'],
  ['a text among token ids', { prompt: [1, 'a'] }, 'invalid_type prompt[1]'],
  ['a number among texts', { prompt: ['a', 1] }, 'invalid_type prompt[1]'],
  ['a negative token id', { prompt: [[1], [2, -1]] }, 'invalid_type prompt[1][1]'],
  ['an empty list of token ids', { prompt: [[1], []] }, 'invalid_type prompt[1]'],
  ['more prompts than one request may have', { prompt: MANY }, 'invalid_value prompt'],
  [
    'more answers than one request may have',
    { prompt: ['a', 'b'], n: 513 },
    'invalid_value prompt',
  ],
  ['n zero', { n: 0 }, 'invalid_value n'],
  ['n a string', { n: '4' }, 'invalid_type n'],
  ['echo a string', { echo: 'yes' }, 'invalid_type echo'],
  ['stream a string', { stream: 'yes' }, 'invalid_type stream'],
  ['max_tokens zero', { max_tokens: 0 }, 'invalid_value max_tokens'],
  ['temperature negative', { temperature: -1 }, 'invalid_value temperature'],
])('%s is 400', async (_, fields, expected) => {
  const failure = await failureOf(await post(gateway, { ...PROMPT, ...fields }, { path }));
  expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error' });
  expect(`${failure.code} ${failure.param}`).toBe(expected);
});

it('an unknown model is 404 no_provider', async () => {
  const failure = await failureOf(await post(gateway, { ...PROMPT, model: 'other' }, { path }));
  expect(failure).toMatchObject({ status: 404, type: 'no_provider', param: 'model' });
});
