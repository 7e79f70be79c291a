/**
 * A plain call that was asked for as a stream: the document is the one that llama-server answers a
 * plain call with. Both sides are as a real one writes them.
 */
import { CHAT_WIRE, COMPLETION_WIRE } from '@inference-gateway/agent/openai-wire/answer-form';
import type { AnswerForm } from '@inference-gateway/agent/openai-wire/answer-form';
import { describe, expect, test } from 'vitest';
import { read } from './answers.js';
import type { Json } from './answers.js';

const plain = (wire: AnswerForm['wire']): AnswerForm => ({
  wire,
  model: 'mine',
  stream: false,
  usage: false,
});
const FRAME = { id: 'c-1', created: 9, model: 'rig', system_fingerprint: 'b1-de3ff81' };
const USAGE = {
  prompt_tokens: 3,
  completion_tokens: 2,
  total_tokens: 5,
  prompt_tokens_details: { cached_tokens: 1 },
};
const TIMINGS = { prompt_n: 3, predicted_per_second: 250.9 };
const DONE = 'data: [DONE]\n\n';

const eventOf = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

const chunk = (...choices: object[]): string =>
  eventOf({ choices, ...FRAME, object: 'chat.completion.chunk' });
const delta = (piece: object, more: object = {}, index = 0): string =>
  chunk({ finish_reason: null, index, delta: piece, ...more });
const finish = (reason: string, index = 0): string =>
  chunk({ finish_reason: reason, index, delta: {} });
const usage = eventOf({ choices: [], ...FRAME, usage: USAGE, timings: TIMINGS });

const begun = (index = 0): string => delta({ role: 'assistant', content: null }, {}, index);
const token = (text: string) => ({ token: text, logprob: -0.5, top_logprobs: [{ token: text }] });
const called = (piece: object): string => delta({ tool_calls: [{ index: 0, ...piece }] });

/** The stream, and the choices of the plain answer. */
const CHATS: readonly [string, readonly string[], readonly Json[]][] = [
  [
    'text',
    [begun(), delta({ content: ' sure' }), delta({ content: ' thing' }), finish('stop')],
    [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: ' sure thing' } }],
  ],
  [
    'nothing',
    [begun(), finish('length')],
    [{ index: 0, finish_reason: 'length', message: { role: 'assistant', content: '' } }],
  ],
  [
    'tool calls',
    [
      begun(),
      called({ id: 'O7', type: 'function', function: { name: 'weather', arguments: '{' } }),
      called({ function: { arguments: '"at": 1}' } }),
      finish('tool_calls'),
    ],
    [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'O7', type: 'function', function: { name: 'weather', arguments: '{"at": 1}' } },
          ],
        },
      },
    ],
  ],
  [
    'logprobs',
    [
      begun(),
      delta({ content: 'a' }, { logprobs: { content: [token('a')] } }),
      delta({ content: 'b' }, { logprobs: { content: [token('b')] } }),
      finish('stop'),
    ],
    [
      {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'ab' },
        logprobs: { content: [token('a'), token('b')] },
      },
    ],
  ],
  [
    'several choices',
    [
      begun(0),
      begun(1),
      delta({ content: 'b' }, {}, 1),
      delta({ content: 'a' }),
      finish('stop', 1),
      finish('length', 0),
    ],
    [
      { index: 0, finish_reason: 'length', message: { role: 'assistant', content: 'a' } },
      { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'b' } },
    ],
  ],
];

async function folded(pieces: readonly string[], wire: AnswerForm['wire'] = CHAT_WIRE) {
  const answer = await read(pieces, plain(wire));
  if (answer.kind !== 'document') throw new Error('not a document');
  return { json: JSON.parse(answer.json) as Json, usage: answer.usage };
}

async function whole(json: object, wire: AnswerForm['wire'] = CHAT_WIRE) {
  return folded([JSON.stringify(json)], wire);
}

describe('a stream told as a document is what the plain answer would have been', () => {
  test.each(CHATS)('%s', async (_, events, choices) => {
    const told = await folded([...events, usage, DONE]);
    expect(told).toEqual(await whole({ ...FRAME, choices, usage: USAGE, timings: TIMINGS }));
    expect(told.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 2 });
  });

  test('reasoning', async () => {
    const events = [delta({ reasoning_content: 'hm' }), delta({ reasoning_content: 'm' })];
    const told = await folded([begun(), ...events, delta({ content: 'A' }), finish('stop'), DONE]);
    const message = { role: 'assistant', content: 'A', reasoning_content: 'hmm' };
    expect(told.json).toMatchObject({ choices: [{ message }] });
  });

  test('a legacy completion, whose usage rides on its last chunk', async () => {
    const part = (text: string, more: object = {}): string => {
      const logprobs = { tokens: [text], token_logprobs: [-1] };
      const choices = [{ text, index: 0, finish_reason: null, logprobs }];
      return eventOf({ choices, ...FRAME, object: 'text_completion', ...more });
    };
    const end = { text: '', index: 0, finish_reason: 'length', logprobs: null };
    const last = { choices: [end], usage: USAGE, timings: TIMINGS };
    const told = await folded([part(' a'), part(' b'), part('', last), DONE], COMPLETION_WIRE);
    const logprobs = { tokens: [' a', ' b'], token_logprobs: [-1, -1] };
    const choices = [{ text: ' a b', index: 0, finish_reason: 'length', logprobs }];
    const answer = { ...FRAME, choices, usage: USAGE, timings: TIMINGS };
    expect(told).toEqual(await whole(answer, COMPLETION_WIRE));
  });

  test('however the bytes are cut', async () => {
    const text = [begun(), delta({ content: 'héllo' }), finish('stop'), usage, DONE].join('');
    const bytes = Buffer.from(text);
    const pieces = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1).toString('latin1'));
    const cut = pieces.map((piece) => Buffer.from(piece, 'latin1'));
    const answer = await read(cut, plain(CHAT_WIRE));
    expect(answer).toEqual(await read([text], plain(CHAT_WIRE)));
  });
});

test.each([
  ['breaks off', [begun(), delta({ content: 'a' })], 'without a finish_reason'],
  ['fails', [begun(), 'data: {"error":{"message":"CUDA error","code":500}}\n\n'], 'CUDA error'],
])('a stream that %s is no document', async (_, events, message) => {
  await expect(folded(events)).rejects.toThrow(message);
});
