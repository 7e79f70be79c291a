import { describe, expect, test } from 'vitest';
import { chat, completion, deltas, firstChoice, read, streamed, usage } from './answers.js';

describe('JSON for a stream', () => {
  test('is told in chunks: role, reasoning, content, tool calls, ending, usage', async () => {
    const message = {
      content: 'hi',
      reasoning: 'hm',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const document = { id: 'a', created: 9, choices: [{ message }], usage, timings: 1 };
    const told = await streamed([JSON.stringify(document)], { ...chat, usage: true });
    expect(deltas(told)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'hm' },
      { content: 'hi' },
      { tool_calls: [{ index: 0, ...message.tool_calls[0] }] },
      {},
      undefined,
    ]);
    expect(firstChoice(told.chunks[4])?.['finish_reason']).toBe('tool_calls');
    expect(told.chunks[5]).toMatchObject({ id: 'a', choices: [], usage, model: 'mine' });
    expect(told.usage).toEqual(usage);
  });

  test('cuts long text into lines that fit, and never through a character', async () => {
    const content = `x${'👋'.repeat(100_000)}`;
    const document = { choices: [{ message: { content } }] };
    const told = await streamed([JSON.stringify(document)]);
    expect(told.chunks.length).toBeGreaterThan(3);
    const texts = deltas(told).map((piece) => (piece as { content?: string }).content ?? '');
    expect(texts.every((text) => Buffer.from(text).toString() === text)).toBe(true);
    expect(texts.join('')).toBe(content);
  });

  test('tells a completion', async () => {
    const document = { choices: [{ text: 'hi', finish_reason: 'length' }] };
    const { chunks } = await streamed([JSON.stringify(document)], completion);
    expect(chunks.map((chunk) => firstChoice(chunk)?.['text'])).toEqual(['hi', '']);
    expect(firstChoice(chunks[1])?.['finish_reason']).toBe('length');
  });

  test.each([
    ['beside its text', 'a b', [null, 'all', null]],
    ['at the end of one without text', '', [null, 'all']],
  ])('tells logprobs once, as clients add them up: %s', async (_, content, told) => {
    const choice = { message: { content }, logprobs: 'all', finish_reason: 'stop' };
    const { chunks } = await streamed([JSON.stringify({ choices: [choice] })]);
    expect(chunks.map((chunk) => firstChoice(chunk)?.['logprobs'])).toEqual(told);
  });

  test('that is an error is an answer with its status', async () => {
    const answer = await read(['{"error":"Unexpected endpoint or method. (POST /x)"}'], chat);
    expect(answer).toMatchObject({ kind: 'document', status: 500 });
  });

  test('without choices, or a page, is a failure', async () => {
    await expect(read(['{"ok":true}'], chat)).rejects.toThrow('without choices');
    await expect(read([' <html></html>'], chat)).rejects.toThrow('a page');
  });
});
