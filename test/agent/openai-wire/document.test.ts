import type { DocumentAnswer } from '@inference-gateway/agent/backends/backend';
import { readAnswer } from '@inference-gateway/agent/openai-wire/local-answer';
import { CHAT_WIRE, COMPLETION_WIRE } from '@inference-gateway/agent/openai-wire/answer-form';
import type { AnswerForm } from '@inference-gateway/agent/openai-wire/answer-form';
import { describe, expect, test } from 'vitest';

const chat: AnswerForm = { wire: CHAT_WIRE, model: 'mine', stream: false, usage: false };
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

async function read(body: unknown, { form = chat, status = 200 } = {}): Promise<DocumentAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const source = {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(text);
    },
    finished: () => undefined,
  };
  const answer = await readAnswer({ status, body: source }, form);
  if (answer.kind !== 'document') throw new Error('not a document');
  return answer;
}

async function json(body: unknown, form = chat): Promise<Record<string, unknown>> {
  return JSON.parse((await read(body, { form })).json) as Record<string, unknown>;
}

const call = (index: number, piece: object) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, ...piece }] } }],
});
const events = (...chunks: readonly unknown[]) =>
  chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');

describe('a document', () => {
  test('gets what a local server left out', async () => {
    const answer = await json({ model: 'x', choices: [{ message: { content: 'hi' } }] });
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'mine',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 0, completion_tokens: 1, total_tokens: 1, estimated: true },
    });
    expect(answer['id']).toMatch(/^chatcmpl-/);
  });

  test('keeps fields that it does not know', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 1 } };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'a', x: 1 }, y: 2 }];
    const answer = await json({
      id: 'a',
      created: 9,
      choices,
      usage: { ...usage, ...details },
      z: 3,
    });
    expect(answer).toMatchObject({ id: 'a', created: 9, z: 3, usage: { ...usage, ...details } });
    expect(answer).toMatchObject({ choices: [{ y: 2, message: { x: 1 } }] });
  });

  test.each([
    [{ content: null }, { content: '' }],
    [{ content: null, tool_calls: [{ id: 'c' }] }, { content: null }],
    [{ content: 'a', reasoning: 'hm' }, { reasoning_content: 'hm' }],
    [{ content: 'a', reasoning_content: 'hm' }, { reasoning_content: 'hm' }],
    [
      { tool_calls: [{ function: { name: 'f', arguments: { a: 1 } } }] },
      {
        tool_calls: [
          {
            id: expect.stringMatching(/^call_\w+$/),
            type: 'function',
            function: { name: 'f', arguments: '{"a":1}' },
          },
        ],
      },
    ],
    [
      { tool_calls: [{ id: 'c', function: { name: 'f' } }] },
      { tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    ],
    [
      { function_call: { name: 'f', arguments: { a: 1 } } },
      { function_call: { name: 'f', arguments: '{"a":1}' } },
    ],
  ])('message %j becomes %j', async (message, wanted) => {
    expect(await json({ choices: [{ message }] })).toMatchObject({
      choices: [{ message: wanted }],
    });
  });

  test('keeps a call of a tool of another type', async () => {
    const custom = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } };
    const answer = await json({ choices: [{ message: { tool_calls: [custom] } }] });
    expect(answer).toMatchObject({ choices: [{ message: { tool_calls: [custom] } }] });
  });

  test('is metered, with counts that make sense', async () => {
    const choices = [{ message: { content: 'a' } }];
    expect((await read({ choices, usage })).usage).toEqual(usage);
    // Missing or zero counts are estimated.
    const guess = { prompt_tokens: 0, completion_tokens: 1, total_tokens: 1, estimated: true };
    expect((await read({ choices })).usage).toEqual(guess);
    const partial = await read({ choices, usage: { prompt_tokens: 2.5, completion_tokens: -1 } });
    expect(partial.usage).toEqual({ ...guess, prompt_tokens: 2, total_tokens: 3 });
    expect(JSON.parse(partial.json)).toMatchObject({ usage: partial.usage });
  });

  test('of the completions endpoint has texts', async () => {
    const form: AnswerForm = { ...chat, wire: COMPLETION_WIRE };
    expect(await json({ choices: [{ text: 'a' }, {}] }, form)).toMatchObject({
      object: 'text_completion',
      choices: [
        { index: 0, text: 'a', finish_reason: 'stop' },
        { index: 1, text: '' },
      ],
    });
  });

  test('may begin with a byte order mark', async () => {
    const text = `\uFEFF${JSON.stringify({ choices: [{ message: { content: 'a' } }] })}`;
    expect(await json(text)).toMatchObject({ choices: [{ message: { content: 'a' } }] });
  });

  test.each([
    ['{"ok":true}', /without choices/],
    ['<html>hello</html>', /neither JSON nor an event stream/],
    ['', /neither JSON nor an event stream/],
    ['[1]', /neither JSON nor an event stream/],
  ])('%j is a failure', async (text, message) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'LOCAL_ERROR',
      message: expect.stringMatching(message),
    });
  });

  test('a redirect is a failure', async () => {
    await expect(read('', { status: 302 })).rejects.toMatchObject({ code: 'LOCAL_ERROR' });
  });
});

describe('SSE for a plain request', () => {
  test('becomes one document', async () => {
    const answer = await read(
      events(
        { id: 'a', created: 9, choices: [{ index: 0, delta: { content: null } }] },
        { choices: [{ index: 0, delta: { reasoning: 'h' } }] },
        { choices: [{ index: 0, delta: { reasoning: 'm', content: 'Hel' } }] },
        { choices: [{ index: 0, delta: { content: 'lo' } }] },
        { choices: [{ index: 0, delta: {}, finish_reason: 'length' }], timings: 1 },
        { choices: [], usage },
      ),
    );
    expect(answer.usage).toEqual(usage);
    const message = {
      role: 'assistant',
      content: 'Hello',
      reasoning_content: 'hm',
    };
    expect(JSON.parse(answer.json)).toEqual({
      id: 'a',
      created: 9,
      object: 'chat.completion',
      model: 'mine',
      timings: 1,
      choices: [{ index: 0, message, finish_reason: 'length' }],
      usage,
    });
  });

  test('joins the pieces of tool calls', async () => {
    const answer = await json(
      events(
        call(0, { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"a"' } }),
        call(1, { id: 'c1', type: 'function', function: { name: 'g', arguments: '{}' } }),
        call(0, { function: { arguments: ':1}' } }),
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      ),
    );
    expect(answer).toMatchObject({
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            content: null,
            tool_calls: [
              { id: 'c0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'c1', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
        },
      ],
    });
  });

  test('joins the texts of a completion', async () => {
    const form: AnswerForm = { ...chat, wire: COMPLETION_WIRE };
    const text = events(
      { choices: [{ text: 'a' }] },
      { choices: [{ text: 'b', finish_reason: 'stop' }] },
    );
    expect(await json(text, form)).toMatchObject({ choices: [{ text: 'ab' }] });
  });

  test('that is not whole is a failure', async () => {
    const text = events({ choices: [{ index: 0, delta: { content: 'a' } }] });
    await expect(read(text)).rejects.toThrow('without a finish_reason');
  });
});

describe('an error', () => {
  const overflow = 'context_length_exceeded';
  const rejected = 'provider_rejected';
  test.each([
    [400, { error: { message: 'bad', code: 400, type: 'x' } }, 400, rejected, 'bad'],
    [422, { detail: [{ loc: ['body', 'n'], msg: 'too big' }] }, 422, rejected, 'body.n: too big'],
    [400, { error: 'text only' }, 400, rejected, 'text only'],
    [400, { object: 'error', message: 'flat', code: 40001 }, 400, rejected, 'flat'],
    [
      404,
      { error: { message: 'no model', code: 'model_not_found' } },
      404,
      'model_not_found',
      'no model',
    ],
    [401, { error: { message: 'Invalid API Key', code: 401 } }, 401, null, 'Invalid API Key'],
    [503, { error: { message: 'Loading model', code: 503 } }, 503, null, 'Loading model'],
    [503, { detail: { msg: 'Server is busy', type: 'busy' } }, 503, null, 'Server is busy'],
    [500, { detail: 'no memory' }, 500, null, 'no memory'],
    [500, { message: 'only a message' }, 500, null, 'only a message'],
    [500, 'Internal Server Error', 500, null, 'Internal Server Error'],
    [
      502,
      '<html><head><title>x</title></head><h1>Bad  <b>Gateway</b></h1>',
      502,
      null,
      'Bad Gateway',
    ],
    [500, '', 500, null, 'The local server answered 500 without a message.'],
    [400, 'data: {"error":{"message":"bad"}}\n\n', 400, rejected, 'bad'],
    [200, { error: 'Unexpected endpoint' }, 500, null, 'Unexpected endpoint'],
    [200, { error: { message: 'gone', code: 404 } }, 404, null, 'gone'],
    [
      400,
      { error: { message: 'request (12021 tokens) exceeds', type: 'exceed_context_size_error' } },
      400,
      overflow,
      'request (12021 tokens) exceeds',
    ],
    [
      400,
      { object: 'error', message: "This model's maximum context length is 4096 tokens." },
      400,
      overflow,
      "This model's maximum context length is 4096 tokens.",
    ],
    [
      500,
      { error: 'Trying to keep the first 9 tokens when context the overflows.' },
      400,
      overflow,
      'Trying to keep the first 9 tokens when context the overflows.',
    ],
    [404, { error: 'no context window here' }, 404, null, 'no context window here'],
  ])('%i %j', async (...[status, body, wantedStatus, code, message]) => {
    const answer = await read(body, { status });
    expect(answer.status).toBe(wantedStatus);
    expect(answer.usage).toBeNull();
    const { error } = JSON.parse(answer.json) as { error: Record<string, unknown> };
    expect(error).toEqual({ message, code, type: expect.any(String), param: null });
  });

  test('keeps 2,000 characters of its message', async () => {
    const answer = await read({ error: 'x'.repeat(9_000) }, { status: 500 });
    expect(JSON.parse(answer.json)).toMatchObject({ error: { message: 'x'.repeat(2_000) } });
  });

  test('keeps the field that it names', async () => {
    const answer = await read({ error: { message: 'bad', param: 'top_p' } }, { status: 400 });
    expect(JSON.parse(answer.json)).toMatchObject({ error: { param: 'top_p' } });
  });
});
