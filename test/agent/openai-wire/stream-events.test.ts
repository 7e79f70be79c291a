import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import type { EventAnswer } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import { chat, completion, deltas, firstChoice, read, streamed, usage } from './answers.js';
import type { Json } from './answers.js';

const lines = (...chunks: readonly unknown[]) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`);
const delta = (fields: Json, rest: Json = {}) => ({
  choices: [{ index: 0, delta: fields, ...rest }],
});
const stop = delta({}, { finish_reason: 'stop' });

/** Without the fields that are made up anew each time. */
const fixed = (text: string) => text.replaceAll(/"(id|created)":[^,]+/g, '');

describe('a chat stream', () => {
  test('names the model that the caller asked for, with the missing fields filled', async () => {
    const first = { id: 'a', created: 9, model: 'x', choices: [{ delta: { content: 'hi' } }] };
    const { chunks } = await streamed(
      lines(first, { choices: [{ delta: {}, finish_reason: 'stop' }] }),
    );
    const frame = { id: 'a', created: 9, model: 'mine', object: 'chat.completion.chunk' };
    expect(chunks).toEqual([
      {
        ...frame,
        choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }],
      },
      { ...frame, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ]);
  });

  test('has one made-up id and time where the local server gives none', async () => {
    const { chunks } = await streamed(lines(delta({ content: 'a' }), stop));
    expect(chunks[0]?.['id']).toMatch(/^chatcmpl-.+/);
    expect(chunks[1]?.['id']).toBe(chunks[0]?.['id']);
    expect(chunks[0]?.['created']).toBeGreaterThan(1_700_000_000);
  });

  test.each([
    ['null content', { role: 'assistant', content: null }, { role: 'assistant', content: '' }],
    ['no role', { content: 'a' }, { role: 'assistant', content: 'a' }],
    ['a null role', { role: null, content: 'a' }, { role: 'assistant', content: 'a' }],
    [
      'a tool call',
      { content: null, tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{' } }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{' } },
        ],
      },
    ],
    [
      'reasoning as Ollama names it',
      { reasoning: 'hm' },
      { role: 'assistant', content: '', reasoning_content: 'hm' },
    ],
    [
      'reasoning as llama-server names it',
      { reasoning_content: 'hm' },
      { role: 'assistant', content: '', reasoning_content: 'hm' },
    ],
    [
      'reasoning by both names',
      { reasoning_content: 'hm', reasoning: 'hm' },
      { role: 'assistant', content: '', reasoning_content: 'hm' },
    ],
  ])('puts the first delta into form: %s', async (_what, sent, wanted) => {
    expect(deltas(await streamed(lines(delta(sent), stop)))[0]).toEqual(wanted);
  });

  test.each([
    { reasoning: 'hm' },
    { reasoning_content: 'hm' },
    { reasoning: 'hm', reasoning_content: '' },
  ])('names reasoning as its caller reads it: %j', async (sent) => {
    const asked = { ...chat, reasoning: 'reasoning' } as const;
    const [first] = deltas(await streamed(lines(delta(sent), stop), asked));
    expect(first).toEqual({ role: 'assistant', content: '', reasoning: 'hm' });
  });

  test('adds a role to the first delta of each choice, and to no other', async () => {
    const second = { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'stop' }] };
    const all = await streamed(
      lines(delta({ content: 'a' }), delta({ content: 'c' }), second, stop),
    );
    expect(deltas(all)).toEqual([
      { role: 'assistant', content: 'a' },
      { content: 'c' },
      { role: 'assistant', content: 'b' },
      {},
    ]);
  });

  test('keeps fields that it does not know', async () => {
    const chunk = { ...delta({ content: 'a' }), timings: { n: 1 }, system_fingerprint: 'b1' };
    const { chunks } = await streamed(lines(chunk, stop));
    expect(chunks[0]).toMatchObject({ timings: { n: 1 }, system_fingerprint: 'b1' });
  });

  test('measures usage always and shows its chunk only when asked', async () => {
    const pieces = lines(
      delta({ content: 'a' }),
      stop,
      { choices: [], usage, timings: 1 },
      '[DONE]',
    );
    const silent = await streamed(pieces);
    expect(silent.usage).toEqual(usage);
    expect(silent.chunks).toHaveLength(2);
    const asked = await streamed(pieces, { ...chat, usage: true });
    expect(asked.chunks).toHaveLength(3);
    expect(asked.chunks[2]).toMatchObject({ choices: [], usage, timings: 1, model: 'mine' });
  });

  test('strips usage that rides on another chunk, or makes a chunk of it', async () => {
    const pieces = lines(delta({ content: 'a' }), { ...stop, usage, timings: 1 });
    const silent = await streamed(pieces);
    expect(silent.usage).toEqual(usage);
    expect(silent.chunks[1]).not.toHaveProperty('usage');
    expect(silent.chunks[1]).toHaveProperty('timings');
    const asked = await streamed(pieces, { ...chat, usage: true });
    expect(asked.chunks.at(-1)).toMatchObject({ choices: [], usage });
  });

  test('sends a usage chunk that the local server repeats once, and last', async () => {
    const early = { choices: [], usage: { ...usage, total_tokens: 1 } };
    const last = { choices: [], usage };
    const { chunks } = await streamed(lines(early, delta({ content: 'a' }), stop, last), {
      ...chat,
      usage: true,
    });
    expect(chunks.map((chunk) => (chunk['choices'] as unknown[]).length)).toEqual([1, 1, 0]);
    expect(chunks.at(-1)).toMatchObject({ usage });
  });

  test('clamps counts that make no sense', async () => {
    const odd = { prompt_tokens: -4, completion_tokens: 2.9, total_tokens: Number.MAX_VALUE };
    const { usage: counted } = await streamed(lines(delta({}), stop, { choices: [], usage: odd }));
    expect(counted).toEqual({
      prompt_tokens: 0,
      completion_tokens: 2,
      total_tokens: Number.MAX_SAFE_INTEGER,
    });
  });

  test('never says [DONE] and reads nothing behind it', async () => {
    const { text, chunks } = await streamed(
      lines(delta({ content: 'a' }), stop, '[DONE]', { error: { message: 'late' } }),
    );
    expect(chunks).toHaveLength(2);
    expect(text).not.toContain('[DONE]');
  });

  test('is the same from any splitting of the bytes, one data line an event', async () => {
    const pieces = lines(
      delta({ content: 'Grüße\n👋' }),
      delta({ reasoning: 'x' }),
      stop,
      '[DONE]',
    );
    const bytes = Buffer.from(pieces.join('').replace('data: ', ': ping\r\n\r\ndata: '));
    const whole = fixed((await streamed([bytes])).text);
    expect(whole).toContain('Grüße');
    for (let cut = 0; cut <= bytes.length; cut++) {
      const { text } = await streamed([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(fixed(text)).toBe(whole);
      expect(text).toMatch(/^(data: .+\n\n)+$/);
    }
  });
});

describe('a completion stream', () => {
  test('is put into form', async () => {
    const sent = lines(
      { choices: [{ text: 'a' }], model: 'x' },
      { choices: [{ finish_reason: 'stop' }], usage },
    );
    const { chunks, usage: counted } = await streamed(sent, completion);
    expect(counted).toEqual(usage);
    expect(chunks.map(firstChoice)).toEqual([
      { index: 0, text: 'a', finish_reason: null },
      { index: 0, text: '', finish_reason: 'stop' },
    ]);
    expect(chunks[0]).toMatchObject({ object: 'text_completion', model: 'mine' });
    expect(chunks[0]?.['id']).toMatch(/^cmpl-/);
  });
});

describe('a stream that is not whole', () => {
  const hi = delta({ content: 'hi' });
  test.each([
    ['ends without finish_reason or [DONE]', lines(hi), /without a finish_reason/],
    [
      'leaves one of two choices open',
      lines(hi, { choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] }),
      /without a finish_reason/,
    ],
    ['has no choice at all', lines('[DONE]'), /without a single choice/],
    ['is empty', [''], /without a single choice/],
    ['is cut within a line', [...lines(hi), 'data: {"choi'], /not a JSON object/],
    ['says something that is not JSON', lines('oops'), /not a JSON object/],
    ['is plain text', ['Internal Server Error'], /without a single choice/],
    [
      'has an error object',
      lines(hi, { error: { message: 'no memory', code: 500 } }),
      /^no memory$/,
    ],
    ['has an error text', lines(hi, { error: 'no memory' }), /^no memory$/],
    ['has a flat error', lines(hi, { object: 'error', message: 'no memory' }), /^no memory$/],
    ['has a detail', lines(hi, { detail: 'no memory' }), /^no memory$/],
    ['has an error line', [...lines(hi), 'error: {"message":"no memory"}\n\n'], /^no memory$/],
    ['has an error line of text', [...lines(hi), 'error: no memory\n\n'], /^no memory$/],
    ['has an error beside its choices', lines({ ...hi, error: { message: 'bad' } }), /^bad$/],
  ])('fails: it %s', async (_what, pieces, message) => {
    const failure = await streamed(pieces).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LocalFailure);
    expect(failure).toMatchObject({ code: 'LOCAL_ERROR', message: expect.stringMatching(message) });
  });

  test('yields what came before the failure, even in the same read', async () => {
    const text = [...lines(hi), 'error: {"message":"bad"}\n\n'].join('');
    const { events } = (await read([text], chat)) as EventAnswer;
    expect((await events.next()).value).toContain('"hi"');
    await expect(events.next()).rejects.toThrow('bad');
  });

  test('is whole with [DONE] alone', async () => {
    const { chunks } = await streamed(lines(hi, '[DONE]'));
    const endings = chunks.map((chunk) => firstChoice(chunk)?.['finish_reason']);
    expect(endings).toEqual([null, 'stop']);
  });
});
