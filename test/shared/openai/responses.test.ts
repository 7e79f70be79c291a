/** Requests of the Responses API as chat completions, case by case. */
import { ApiError } from '@inference-gateway/shared/errors';
import { pendingResponse, RESPONSES } from '@inference-gateway/shared/openai/responses/translation';
import { describe, expect, test } from 'vitest';
import type { Fields } from './answer-samples.js';

function chatOf(fields: object): Fields {
  return RESPONSES.toChat({ model: 'm', input: 'hi', ...fields }).chat;
}

function messagesOf(input: unknown, fields: object = {}): unknown {
  return chatOf({ input, ...fields })['messages'];
}

function refusalOf(fields: object): { param: string | null; message: string } {
  try {
    chatOf(fields);
  } catch (error) {
    if (error instanceof ApiError) return { param: error.param, message: error.message };
  }
  throw new Error('it was not refused');
}

function said(role: string, content: string) {
  return { role, content };
}

function call(id: string) {
  return { type: 'function_call', call_id: id, name: 'f', arguments: '{}' };
}

function result(id: string) {
  return { type: 'function_call_output', call_id: id, output: 'ok' };
}

function chatCall(id: string) {
  return { id, type: 'function', function: { name: 'f', arguments: '{}' } };
}

function inner(name: string) {
  return { type: 'function', name, parameters: { type: 'object' } };
}

describe('input', () => {
  test('the roles developer and system are system messages, the first ones are one', () => {
    const input = [said('developer', 'b'), said('system', 'c'), said('user', 'd')];
    expect(messagesOf([...input, said('developer', 'e')], { instructions: 'a' })).toEqual([
      { role: 'system', content: 'a\n\nb\n\nc' },
      { role: 'user', content: 'd' },
      { role: 'system', content: 'e' },
    ]);
  });

  test('reasoning, text and calls of one turn are one message, results follow', () => {
    const thought = { type: 'reasoning', summary: [], content: [{ type: 'x', text: 'hm' }] };
    const text = { type: 'message', role: 'assistant', content: 'Let me see.' };
    const input = [thought, text, call('1'), call('2'), result('1'), result('2'), call('3')];
    expect(messagesOf(input)).toEqual([
      {
        role: 'assistant',
        content: 'Let me see.',
        reasoning_content: 'hm',
        tool_calls: [chatCall('1'), chatCall('2')],
      },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
      { role: 'tool', tool_call_id: '2', content: 'ok' },
      { role: 'assistant', content: null, tool_calls: [chatCall('3')] },
    ]);
  });

  test('text between calls and their results joins the turn of the calls', () => {
    const text = { role: 'assistant', content: 'Done soon.' };
    expect(messagesOf([call('1'), text, result('1')])).toMatchObject([
      { role: 'assistant', content: 'Done soon.', tool_calls: [{ id: '1' }] },
      { role: 'tool' },
    ]);
  });

  test('images of results follow in a message of the user', () => {
    const output = [
      { type: 'input_text', text: 'a picture' },
      { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'low' },
    ];
    const shown = { ...result('1'), output };
    expect(messagesOf([shown, { role: 'user', content: 'And?' }])).toEqual([
      { role: 'tool', tool_call_id: '1', content: 'a picture' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
        ],
      },
      { role: 'user', content: 'And?' },
    ]);
  });

  test.each<[object, string]>([
    [{ input: [{ type: 'magic' }] }, 'input[0].type'],
    [{ input: [{}] }, 'input[0].type'],
    [{ input: [{ role: 'ghost', content: 'x' }] }, 'input[0].role'],
    [{ input: [{ role: 'user', content: 7 }] }, 'input[0].content'],
    [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input[0].content[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input[0].arguments'],
    [{ input: [7] }, 'input[0].type'],
    [{ input: [null] }, 'input[0].type'],
    [{ Background: true }, 'Background'],
    [{ previous_Response_id: 'x' }, 'previous_Response_id'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [{ name: 'f' }] }, 'tools[0].type'],
    [{ tool_choice: 'maybe' }, 'tool_choice'],
    [{ tool_choice: 'required', tools: [{ type: 'web_search' }] }, 'tool_choice'],
    [{ tool_choice: { type: 'function', name: 'f' } }, 'tool_choice'],
    [{ text: { format: { type: 'yaml' } } }, 'text.format.type'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
  ])('%# is refused by the path of its field', (fields, param) => {
    expect(refusalOf(fields).param).toBe(param);
  });
});

describe('tools', () => {
  const patch = {
    type: 'custom',
    name: 'patch',
    description: 'Changes files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
  };
  const space = { type: 'namespace', name: 'mcp__files__', tools: [inner('read'), inner('list')] };

  test('a custom tool is a function of one text, and back', () => {
    const { chat, context } = RESPONSES.toChat({
      model: 'm',
      tools: [patch],
      input: [{ type: 'custom_tool_call', call_id: '1', name: 'patch', input: 'a\n"b"' }],
    });
    expect(chat['tools']).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'patch',
          parameters: {
            properties: { input: { description: expect.stringContaining('start: "a"') as string } },
          },
        },
      },
    ]);
    const [{ tool_calls: calls }] = chat['messages'] as [{ tool_calls: object[] }];
    const subject = { id: '1', createdAt: 1, model: 'm', context };
    const message = { content: null, tool_calls: calls };
    const answer = RESPONSES.toAnswer({ choices: [{ message }] }, subject);
    expect(answer['output']).toMatchObject([
      { type: 'custom_tool_call', call_id: '1', name: 'patch', input: 'a\n"b"' },
    ]);
  });

  test('tools of a namespace are functions of different names, and back', () => {
    const { chat, context } = RESPONSES.toChat({
      model: 'm',
      tools: [inner('mcp__files__read'), space],
      input: [
        {
          type: 'function_call',
          call_id: '1',
          namespace: 'mcp__files__',
          name: 'read',
          arguments: '{}',
        },
      ],
    });
    const tools = chat['tools'] as { function: { name: string } }[];
    const names = tools.map((tool) => tool.function.name);
    expect(names).toEqual(['mcp__files__read', 'mcp__files__read_2', 'mcp__files__list']);
    const [message] = chat['messages'] as object[];
    expect(message).toMatchObject({ tool_calls: [{ function: { name: names[1] } }] });
    const subject = { id: '1', createdAt: 1, model: 'm', context };
    expect(RESPONSES.toAnswer({ choices: [{ message }] }, subject)['output']).toMatchObject([
      { type: 'function_call', namespace: 'mcp__files__', name: 'read' },
    ]);
  });

  test('what only OpenAI runs is left out and told; allowed_tools chooses among the others', () => {
    const tools = [{ type: 'web_search' }, inner('f'), inner('g'), { type: 'mcp' }];
    const mode = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'g' }],
    };
    const { chat, ignoredTools } = RESPONSES.toChat({
      model: 'm',
      input: 'hi',
      tools,
      tool_choice: mode,
    });
    expect(ignoredTools).toEqual(['web_search', 'mcp']);
    expect(chat).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'g' } }] });
    expect(chatOf({ tools: [{ type: 'web_search' }], tool_choice: 'auto' })).not.toHaveProperty(
      'tool_choice',
    );
  });
});

describe('answers', () => {
  const subject = { id: '1', createdAt: 1, model: 'm', context: {} };

  test('repeat the request, unless instructions and tools are long', () => {
    const { context } = RESPONSES.toChat({ model: 'm', input: 'x', instructions: 'Be short.' });
    const pending = pendingResponse({ ...subject, context }, { status: 'queued', error: null });
    expect(pending).toMatchObject({
      id: 'resp_1',
      status: 'queued',
      instructions: 'Be short.',
      output: [],
      usage: null,
    });
    const long = RESPONSES.toChat({ model: 'm', input: 'x', instructions: 'a'.repeat(40_000) });
    expect(JSON.stringify(long.context).length).toBeLessThan(1_000);
  });

  test('a failed one has its error, and a stream that fails too', () => {
    const error = new ApiError('provider_error', 'It broke.');
    expect(pendingResponse(subject, { status: 'failed', error })).toMatchObject({
      status: 'failed',
      error: { code: 'provider_error', message: 'It broke.' },
    });
    const events = RESPONSES.openEvents(subject);
    events.chunk({ choices: [{ index: 0, delta: { content: 'Hel' } }] });
    const [failed, told] = events.fail(error).split('\n\n');
    expect(failed).toContain('"status":"failed"');
    // OpenAI's client raises it for the field `error`.
    expect(JSON.parse(told?.split('\ndata: ')[1] ?? '')).toMatchObject({
      type: 'error',
      error: { code: 'provider_error', message: 'It broke.' },
    });
  });

  test('a stream that is too long is an error of the provider', () => {
    const events = RESPONSES.openEvents(subject);
    const content = 'a'.repeat(1024 * 1024);
    const send = (): string => events.chunk({ choices: [{ index: 0, delta: { content } }] });
    for (let mib = 0; mib < 4; mib++) send();
    expect(send).toThrow('longer than');
  });
});

test('hostile requests take time in proportion to their size', () => {
  const many = 20_000;
  const same = Array.from({ length: many }, () => ({ type: 'function', name: 'a' }));
  const tools = [{ type: 'namespace', name: 'n', tools: same }];
  const { chat } = RESPONSES.toChat({
    model: 'm',
    tools,
    input: Array.from({ length: many }, (_, i) => ({ ...call(`${i}`), namespace: 'n' })),
  });
  const names = (chat['tools'] as { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
  expect(new Set(names).size).toBe(many);
  expect(names.every((name) => name.length <= 64)).toBe(true);
});
