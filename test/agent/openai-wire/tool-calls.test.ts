import { withCleanHistory } from '@inference-gateway/agent/openai-wire/tool-calls';
import { describe, expect, test } from 'vitest';
import { firstChoice, streamed } from './answers.js';
import type { Json } from './answers.js';

/** A chunk whose first choice has these pieces. */
const chunk = (...tool_calls: unknown[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] });
const piece = (text: unknown, fields: Json = {}, name?: string) => ({
  ...fields,
  function: { ...(name !== undefined && { name }), arguments: text },
});
/** A choice that calls once. */
const choiceOf = (index: number, id: string) => ({
  choices: [{ index, delta: { tool_calls: [piece('{}', { id }, 'time')] }, finish_reason: 'x' }],
});
const stop = { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };

/** What a client makes of the pieces, as OpenAI's own does: joined by their index. */
async function joined(chunks: readonly unknown[]) {
  const sent = await streamed([...chunks, stop].map((one) => `data: ${JSON.stringify(one)}\n\n`));
  const calls: { id: string; type: string; name: string; text: string }[] = [];
  for (const one of sent.chunks) {
    const delta = firstChoice(one)?.['delta'] as { tool_calls?: Sent[] };
    for (const { index, id = '', type = '', function: called } of delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id: '', type: '', name: '', text: '' });
      // Python's client joins every text, also those that come again.
      call.id += id;
      call.type += type;
      call.name += called?.name ?? '';
      call.text += called?.arguments ?? '';
    }
  }
  return calls;
}

interface Sent {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

const BERN = { id: 'a', type: 'function', name: 'weather', text: '{"city":"Bern"}' };
const TIME = { id: 'b', type: 'function', name: 'time', text: '{}' };

describe('streamed calls are joined as they were meant', () => {
  test.each<[string, readonly unknown[]]>([
    [
      'with index, id and type, as OpenAI sends them',
      [
        chunk({
          index: 0,
          id: 'a',
          type: 'function',
          function: { name: 'weather', arguments: '' },
        }),
        chunk(piece('{"city":', { index: 0 })),
        chunk(piece('"Bern"}', { index: 0 })),
        chunk(piece('{}', { index: 1, id: 'b', type: 'function' }, 'time')),
      ],
    ],
    [
      'numbered from one',
      [
        chunk(piece('{"city":', { index: 1, id: 'a' }, 'weather')),
        chunk(piece('"Bern"}', { index: 1 })),
        chunk(piece('{}', { index: 2, id: 'b' }, 'time')),
      ],
    ],
    [
      'all of one number, told apart by id',
      [
        chunk(piece('{"city":', { index: 0, id: 'a' }, 'weather')),
        chunk(piece('"Bern"}', { index: 0, id: 'a' })),
        chunk(piece('{}', { index: 0, id: 'b' }, 'time')),
      ],
    ],
    [
      'whole, without index, one a chunk',
      [
        chunk(piece('{"city":"Bern"}', { id: 'a' }, 'weather')),
        chunk(piece('{}', { id: 'b' }, 'time')),
      ],
    ],
    [
      'without index, in one chunk',
      [chunk(piece('{"city":"Bern"}', { id: 'a' }, 'weather'), piece('{}', { id: 'b' }, 'time'))],
    ],
    [
      'in pieces, without index, the id in each',
      [
        chunk(piece('{"city":', { id: 'a', type: 'function' }, 'weather')),
        chunk(piece('{', { id: 'b', type: 'function' }, 'time')),
        chunk(piece('"Bern"}', { id: 'a', type: 'function' })),
        chunk(piece('}', { id: 'b', type: 'function' })),
      ],
    ],
    [
      'in pieces, without index, the id in the first',
      [
        chunk(piece('{"city":', { id: 'a' }, 'weather')),
        chunk(piece('"Bern"}')),
        chunk(piece('{', { id: 'b' }, 'time')),
        chunk(piece('}', { id: '' })),
      ],
    ],
    [
      'in pieces, without index, another id in each',
      [
        chunk(piece('{"city":', { id: 'a' }, 'weather')),
        chunk(piece('"Bern"}', { id: 'x' })),
        chunk(piece('{}', { id: 'b' }, 'time')),
      ],
    ],
    [
      'with arguments that are objects',
      [
        chunk(piece({ city: 'Bern' }, { index: 0, id: 'a' }, 'weather')),
        chunk(piece({}, { index: 1, id: 'b' }, 'time')),
      ],
    ],
  ])('%s', async (_, chunks) => {
    expect(await joined(chunks)).toEqual([BERN, TIME]);
  });

  test('and get an id where there is none, each its own', async () => {
    const calls = await joined([chunk(piece('{}', {}, 'time')), chunk(piece('{}', {}, 'time'))]);
    expect(calls).toMatchObject([{ ...TIME, id: expect.any(String) }, { name: 'time' }]);
    expect(calls[0]?.id).toMatch(/^call_\w+$/);
    expect(calls[0]?.id).not.toBe(calls[1]?.id);
  });

  test('and those of two choices stay apart', async () => {
    const lines = [choiceOf(0, 'a'), choiceOf(1, 'b')].map(
      (one) => `data: ${JSON.stringify(one)}\n\n`,
    );
    const { chunks } = await streamed(lines);
    const numbers = chunks.map((one) => {
      const delta = firstChoice(one)?.['delta'] as { tool_calls: Sent[] };
      return delta.tool_calls.map(({ index, id }) => [index, id]);
    });
    expect(numbers).toEqual([[[0, 'a']], [[0, 'b']]]);
  });

  test.each<[string, readonly Json[]]>([
    ['stop', [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]],
    ['nothing but [DONE]', []],
  ])('and end in tool_calls where the server says %s', async (_, ending) => {
    const told = [chunk(piece('{}', { id: 'a' }, 'time')), ...ending];
    const lines = told.map((one) => `data: ${JSON.stringify(one)}\n\n`);
    const { chunks } = await streamed([...lines, 'data: [DONE]\n\n']);
    expect(firstChoice(chunks.at(-1))?.['finish_reason']).toBe('tool_calls');
  });

  test('and an empty list of calls is none', async () => {
    const lines = [chunk(), { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }];
    const { chunks } = await streamed(lines.map((one) => `data: ${JSON.stringify(one)}\n\n`));
    expect(firstChoice(chunks[1])?.['finish_reason']).toBe('stop');
  });

  test('and no more than 1,024 of a choice', async () => {
    const many = Array.from({ length: 1_025 }, (_, index) => piece('', { index }, 'time'));
    await expect(joined([chunk(...many)])).rejects.toThrow('more than 1024 calls of tools');
  });
});

const turn = (fields: Json) => ({ role: 'assistant', content: null, ...fields });

function mended(fields: Json): unknown {
  const body = withCleanHistory({ messages: [{ role: 'user', content: 'x' }, turn(fields)] });
  return (body['messages'] as unknown[])[1];
}

describe('the history of a request', () => {
  const right = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };

  test.each([
    ['no type', { id: 'a', function: right.function }],
    ['a null type', { ...right, type: null }],
    ['object arguments', { ...right, function: { name: 'f', arguments: { a: 1 } } }],
    ['neither', { id: 'a', function: { name: 'f', arguments: { a: 1 } } }],
  ])('is sent in form where a call has %s', (_, call) => {
    expect(mended({ tool_calls: [right, call] })).toEqual(turn({ tool_calls: [right, right] }));
  });

  test.each([
    [{ name: 'f', arguments: { a: [1] } }, '{"a":[1]}'],
    [{ name: 'f', arguments: null }, '{}'],
    [{ name: 'f' }, '{}'],
  ])('has arguments as text: %j', (called, text) => {
    const call = { name: 'f', arguments: text };
    expect(mended({ function_call: called })).toEqual(turn({ function_call: call }));
    const whole = { ...right, function: call };
    expect(mended({ tool_calls: [{ ...right, function: called }] })).toEqual(
      turn({ tool_calls: [whole] }),
    );
  });

  test.each<[string, Json]>([
    ['in form', { tool_calls: [right] }],
    ['of another type', { tool_calls: [{ id: 'a', type: 'custom', custom: { input: 'x' } }] }],
    ['without a function', { tool_calls: [{ id: 'a' }, 5, null] }],
    ['that is no list', { tool_calls: 'x', function_call: 'auto' }],
  ])('is not even copied where it is %s', (_, fields) => {
    const body = { messages: [turn(fields)] };
    expect(withCleanHistory(body)).toBe(body);
  });
});
