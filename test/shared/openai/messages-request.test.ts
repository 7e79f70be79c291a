import { ApiError } from '@inference-gateway/shared/errors';
import { toCountedChat } from '@inference-gateway/shared/openai/messages/request';
import { MESSAGES } from '@inference-gateway/shared/openai/messages/translation';
import { parseRequest } from '@inference-gateway/shared/openai/requests';
import { estimatePromptTokens } from '@inference-gateway/shared/openai/tokens';
import { describe, expect, test } from 'vitest';

const BASE = { model: 'm', max_tokens: 64, messages: [{ role: 'user', content: 'hi' }] };
const PIXEL = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';
const LIMITS = { maxImages: 4, maxSpeechCharacters: 20 };

const translated = (fields: object) => MESSAGES.toChat({ ...BASE, ...fields });
const chatOf = (fields: object) => translated(fields).chat;
const messagesOf = (...messages: object[]) => chatOf({ messages })['messages'];
const userSays = (...content: object[]) => messagesOf({ role: 'user', content });
const assistantSays = (...content: object[]) => messagesOf({ role: 'assistant', content });
const text = (said: string) => ({ type: 'text', text: said });
const imagePart = { type: 'image_url', image_url: { url: DATA_URL } };

const toolSays = (content: string) => ({ role: 'tool', tool_call_id: 'toolu_1', content });

const inUser = (block: unknown) => ({ messages: [{ role: 'user', content: [block] }] });

const inAssistant = (block: unknown) => ({ messages: [{ role: 'assistant', content: [block] }] });

const result = (content: unknown, fields = {}) => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content,
  ...fields,
});

function faultOf(fields: object): ApiError {
  try {
    translated(fields);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a message', () => {
  test('of text stays text', () => {
    expect(chatOf({})).toEqual(BASE);
  });

  test('of text blocks becomes one text', () => {
    expect(userSays(text('a'), text(''), text('b'))).toEqual([{ role: 'user', content: 'a\n\nb' }]);
  });

  test('with an image keeps the order of its parts', () => {
    expect(userSays(text('a'), { type: 'image', source: PIXEL }, text('b'))).toEqual([
      { role: 'user', content: [text('a'), imagePart, text('b')] },
    ]);
  });

  test('passes the checks of chat completions with all that it may hold', () => {
    const { chat } = translated({
      stream: true,
      system: 'be brief',
      tools: [{ name: 't', input_schema: { type: 'object', properties: { URL: {} } } }],
      tool_choice: { type: 'any' },
      messages: [
        { role: 'user', content: [{ type: 'image', source: PIXEL }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 't', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c' }] },
      ],
    });
    expect(parseRequest('chat', chat, LIMITS)).toMatchObject({ model: 'm', stream: true });
  });

  test.each([
    ['text', { type: 'text', media_type: 'text/plain', data: 'x' }, 'Title\n\nfrom me\n\nx'],
    ['texts', { type: 'content', content: [text('x'), text('y')] }, 'Title\n\nfrom me\n\nx\n\ny'],
    ['one text as content', { type: 'content', content: 'x' }, 'Title\n\nfrom me\n\nx'],
  ])('with a document of %s shows its text', (_what, source, content) => {
    const block = { type: 'document', source, title: 'Title', context: 'from me' };
    expect(userSays(block)).toEqual([{ role: 'user', content }]);
  });

  test('with a search result shows its source and text', () => {
    const block = { type: 'search_result', title: 'A', source: 'https://a', content: [text('x')] };
    expect(userSays(block)).toEqual([{ role: 'user', content: 'A: https://a\n\nx' }]);
  });

  test('and the next of the same role are one, as in that API', () => {
    expect(
      messagesOf(
        { role: 'user', content: 'a' },
        { role: 'user', content: [text('b')] },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 't', input: {} }] },
      ),
    ).toEqual([
      { role: 'user', content: 'a\n\nb' },
      {
        role: 'assistant',
        content: 'c',
        tool_calls: [{ id: '1', type: 'function', function: { name: 't', arguments: '{}' } }],
      },
    ]);
  });

  test('of the assistant may be the last, as the beginning of the answer', () => {
    const begun = { role: 'assistant', content: 'It is' };
    expect(messagesOf({ role: 'user', content: 'hi' }, begun)).toEqual([...BASE.messages, begun]);
  });
});

describe('the system prompt', () => {
  test.each([
    ['a text', 'a', 'a'],
    ['a list', [{ ...text('a'), cache_control: { type: 'ephemeral' } }, text('b')], 'a\n\nb'],
  ])('as %s is the first message', (_what, system, content) => {
    expect(chatOf({ system })['messages']).toEqual([{ role: 'system', content }, ...BASE.messages]);
  });

  test.each([[''], [[]], [null]])('%j is none', (system) => {
    expect(chatOf({ system })['messages']).toEqual(BASE.messages);
  });

  test('loses the block that Claude Code writes for its provider', () => {
    const system = [text('x-anthropic-billing-header: cch=1234;'), text('You are')];
    expect(chatOf({ system })['messages']).toEqual([
      { role: 'system', content: 'You are' },
      ...BASE.messages,
    ]);
  });

  test('as a message at the beginning is joined with the others', () => {
    const messages = [
      { role: 'system', content: 'b' },
      { role: 'system', content: [text('c')] },
      { role: 'user', content: 'hi' },
    ];
    expect(chatOf({ system: 'a', messages })['messages']).toEqual([
      { role: 'system', content: 'a\n\nb\n\nc' },
      ...BASE.messages,
    ]);
  });

  test('as a later message stays where it is', () => {
    const later = { role: 'system', content: 'now be brief' };
    expect(messagesOf(...BASE.messages, later)).toEqual([...BASE.messages, later]);
  });
});

describe('tools in a conversation', () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'read', input: { Path: 'a', deep: [1] } };

  test('a call is one of the assistant, without reasoning', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
    const hidden = { type: 'redacted_thinking', data: 'x' };
    expect(assistantSays(thought, hidden, text('I look'), use)).toEqual([
      {
        role: 'assistant',
        content: 'I look',
        tool_calls: [
          {
            id: 'toolu_1',
            type: 'function',
            function: { name: 'read', arguments: '{"Path":"a","deep":[1]}' },
          },
        ],
      },
    ]);
    expect(assistantSays(use)).toMatchObject([{ content: null }]);
    expect(assistantSays(thought)).toEqual([{ role: 'assistant', content: '' }]);
  });

  test('what a search at that API has found is text', () => {
    const found = [{ type: 'web_search_result', title: 'A', url: 'https://a' }];
    expect(
      assistantSays(
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 's', content: found },
        text('So it is.'),
      ),
    ).toEqual([{ role: 'assistant', content: 'A: https://a\n\nSo it is.' }]);
  });

  test.each([
    ['a text', 'done', 'done'],
    ['texts', [text('a'), text('b')], 'a\n\nb'],
    ['nothing', undefined, ''],
    ['no blocks', [], ''],
    ['a reference to a tool', [{ type: 'tool_reference', tool_name: 'x' }], 'Tool: x'],
    [
      'a document',
      [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'd' } }],
      'd',
    ],
  ])('a result of %s is a message of the tool', (_what, content, said) => {
    expect(userSays(result(content))).toEqual([toolSays(said)]);
  });

  test('a failed result says so', () => {
    expect(userSays(result('no file', { is_error: true }))).toEqual([toolSays('Error: no file')]);
  });

  test('results come before the rest of their message', () => {
    expect(userSays(text('go on'), result('done'))).toEqual([
      toolSays('done'),
      { role: 'user', content: 'go on' },
    ]);
  });

  test('images of a result follow in the user’s message', () => {
    const shown = result([text('see'), { type: 'image', source: PIXEL }]);
    expect(userSays(shown, text('go on'))).toEqual([
      toolSays('see\n\n(An image, see the next message.)'),
      {
        role: 'user',
        content: [text('The result of toolu_1 shows:'), imagePart, text('go on')],
      },
    ]);
  });
});

describe('the other fields', () => {
  test('pass where chat completions have the same', () => {
    const same = { temperature: 0.2, top_p: 0.9, top_k: 40, stream: false, async: true };
    const webhook = { url: 'https://example.org/hook' };
    expect(chatOf({ ...same, webhook })).toEqual({ ...BASE, ...same, webhook });
    expect(chatOf({ temperature: null, stream: null, webhook: null })).toEqual(BASE);
  });

  test('stop_sequences are stop, and kept for the answer', () => {
    const { chat, context } = translated({ stop_sequences: ['a', '\n\nb'] });
    expect(chat).toEqual({ ...BASE, stop: ['a', '\n\nb'] });
    expect(context).toEqual({ thinking: false, stop_sequences: ['a', '\n\nb'] });
    expect(chatOf({ stop_sequences: [] })).toEqual(BASE);
  });

  test('a stream is asked for its counts', () => {
    const options = { stream_options: { include_usage: true } };
    expect(chatOf({ stream: true })).toEqual({ ...BASE, stream: true, ...options });
  });

  test('metadata keeps the user’s id', () => {
    expect(chatOf({ metadata: { user_id: 'u', other: 1 } })['metadata']).toEqual({ user_id: 'u' });
    expect(chatOf({ metadata: {} })).toEqual(BASE);
    expect(chatOf({ metadata: { user_id: null } })).toEqual(BASE);
  });

  test.each([
    [{ type: 'enabled', budget_tokens: 1024 }, true],
    [{ type: 'adaptive' }, true],
    [{ type: 'enabled', display: 'summarized' }, true],
    [{ type: 'enabled', display: 'omitted' }, false],
    [{ type: 'disabled' }, false],
    [null, false],
  ])('thinking %j stays here, and decides whether reasoning is shown', (thinking, isShown) => {
    const { chat, context } = translated({ thinking });
    expect(chat).toEqual(BASE);
    expect(context).toMatchObject({ thinking: isShown });
  });

  test.each([
    ['context_management', { edits: [{ type: 'clear_tool_uses_20250919' }] }],
    ['output_config', { effort: 'high', format: { type: 'json_schema', schema: { URL: 1 } } }],
    ['output_format', { type: 'json_schema', schema: { properties: { Model: {} } } }],
    ['cache_control', { type: 'ephemeral' }],
    ['service_tier', 'auto'],
    ['container', null],
    ['mcp_servers', []],
    ['speed', 'fast'],
    ['n', 7],
    ['a_field_of_tomorrow', 1],
  ])('%s is ignored', (name, value) => {
    expect(chatOf({ [name]: value })).toEqual(BASE);
  });
});

describe('is refused with its field, its value and the remedy', () => {
  const AT = 'messages[0].content[0]';
  const image = (source: object) => inUser({ type: 'image', source });
  const ofTool = (block: object) =>
    inUser({ type: 'tool_result', tool_use_id: 'x', content: [block] });

  test.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model'],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
    ['null as max_tokens', { max_tokens: null }, 'max_tokens'],
    ['no limit', { max_tokens: -1 }, 'max_tokens'],
    ['half a token', { max_tokens: 1.5 }, 'max_tokens'],
    ['no messages', { messages: undefined }, 'messages'],
    ['an empty conversation', { messages: [] }, 'messages'],
    ['a message that is none', { messages: ['hi'] }, 'messages[0]'],
    [
      'a role of chat completions',
      { messages: [{ role: 'tool', content: '' }] },
      'messages[0].role',
    ],
    ['no role', { messages: [{ content: '' }] }, 'messages[0].role'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
    ['a number as content', { messages: [{ role: 'user', content: 1 }] }, 'messages[0].content'],
    ['a text among blocks', inUser('hi'), AT],
    ['a block without type', inUser({ text: 'hi' }), `${AT}.type`],
    ['a block of no text', inUser({ type: 'text' }), `${AT}.text`],
    ['an unknown block', inUser({ type: 'hologram' }), `${AT}.type`],
    ['a file', inUser({ type: 'container_upload', file_id: 'f' }), `${AT}.type`],
    [
      'a call by the user',
      inUser({ type: 'tool_use', id: 'x', name: 'y', input: {} }),
      `${AT}.type`,
    ],
    ['an image by the assistant', inAssistant({ type: 'image', source: PIXEL }), `${AT}.type`],
    ['an image’s address', image({ type: 'url', url: 'http://10.0.0.1/' }), `${AT}.source.type`],
    ['an image’s file', image({ type: 'file', file_id: 'f' }), `${AT}.source.type`],
    ['an image of no type', image({ type: 'base64', data: 'x' }), `${AT}.source.media_type`],
    [
      'an image of another type',
      image({ ...PIXEL, media_type: 'text/html,<script>' }),
      `${AT}.source.media_type`,
    ],
    ['an image of nothing', image({ ...PIXEL, data: '' }), `${AT}.source.data`],
    [
      'a PDF',
      inUser({ type: 'document', source: { type: 'base64', media_type: 'application/pdf' } }),
      `${AT}.source.type`,
    ],
    [
      'a document in a document',
      inUser({ type: 'document', source: { type: 'content', content: [{ type: 'document' }] } }),
      `${AT}.source.content[0].type`,
    ],
    ['a result of no call', inUser({ type: 'tool_result', content: 'x' }), `${AT}.tool_use_id`],
    ['a result in a result', ofTool({ type: 'tool_result' }), `${AT}.content[0].type`],
    [
      'an address in a result',
      ofTool({ type: 'image', source: { type: 'url', url: 'x' } }),
      `${AT}.content[0].source.type`,
    ],
    ['a call without input', inAssistant({ type: 'tool_use', id: 'x', name: 'y' }), `${AT}.input`],
    [
      'a call with a list',
      inAssistant({ type: 'tool_use', id: 'x', name: 'y', input: [] }),
      `${AT}.input`,
    ],
    ['a system prompt of images', { system: [{ type: 'image', source: PIXEL }] }, 'system[0].type'],
    ['a number as system prompt', { system: 1 }, 'system'],
    ['an empty stop sequence', { stop_sequences: ['a', ''] }, 'stop_sequences[1]'],
    ['a text as stop_sequences', { stop_sequences: 'a' }, 'stop_sequences'],
    ['top_k as text', { top_k: '4' }, 'top_k'],
    ['thinking as a flag', { thinking: true }, 'thinking'],
    ['metadata of numbers', { metadata: { user_id: 1 } }, 'metadata.user_id'],
    ['tools that are none', { tools: {} }, 'tools'],
    ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools[0].name'],
    ['a tool without a schema', { tools: [{ name: 'a' }] }, 'tools[0].input_schema'],
    ['a tool of chat completions', { tools: [{ type: 'custom', function: {} }] }, 'tools[0].name'],
    ['a field in another spelling', { Max_Tokens: 1 }, 'Max_Tokens'],
  ])('%s', (_what, fields, param) => {
    const fault = faultOf(fields);
    expect(fault).toMatchObject({ status: 400, param });
    expect(fault.message).toContain(param);
  });

  test.each([null, 'text', [], 1])('%j as a body', (body) => {
    expect(() => MESSAGES.toChat(body)).toThrow(ApiError);
  });

  test('says what to send instead', () => {
    expect(faultOf(image({ type: 'url', url: 'http://a/' })).message).toBe(
      '\'messages[0].content[0].source.type\' is "url": the gateway fetches no URLs and keeps ' +
        'no files here; send it as base64.',
    );
  });
});

describe('hostile input', () => {
  test('ten thousand blocks and results cost a moment', () => {
    const results = Array.from({ length: 10_000 }, (_, i) => ({
      type: 'tool_result',
      tool_use_id: `${i}`,
      content: [text('x'), { type: 'image', source: PIXEL }],
    }));
    const said = userSays(...results) as readonly { content: unknown }[];
    expect(said).toHaveLength(10_001);
    expect(said.at(-1)?.content).toHaveLength(20_000);
    const turns = Array.from({ length: 20_000 }, () => ({ role: 'user', content: 'x' }));
    expect(messagesOf(...turns)).toHaveLength(1);
    const system = Array.from({ length: 200_000 }, () => text('x'));
    const messages = [{ role: 'system', content: system }];
    expect(chatOf({ system, messages })['messages']).toHaveLength(1);
  });

  test('a giant text passes, and is never repeated in an error', () => {
    const giant = 'x'.repeat(20_000_000);
    expect(userSays(text(giant))).toEqual([{ role: 'user', content: giant }]);
    expect(
      faultOf({ messages: [{ role: 'user', content: [{ type: giant }] }] }).message.length,
    ).toBeLessThan(400);
  });

  test('endless nesting is an error of its field, or is not looked at', () => {
    let deep: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth++) deep = { a: deep };
    const call = { type: 'tool_use', id: 'x', name: 'y', input: deep };
    const at = { messages: [{ role: 'assistant', content: [call] }] };
    expect(faultOf(at)).toMatchObject({ status: 400, param: 'messages[0].content[0].input' });
    expect(chatOf({ context_management: deep })).toEqual(BASE);
    let nested: object = text('x');
    for (let depth = 0; depth < 100_000; depth++) {
      nested = { type: 'document', source: { type: 'content', content: [nested] } };
    }
    const param = 'messages[0].content[0].source.content[0].type';
    expect(faultOf({ messages: [{ role: 'user', content: [nested] }] })).toMatchObject({ param });
  });

  test('names of prototypes are names', () => {
    const input = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}') as object;
    const block = { type: 'tool_use', id: 'x', name: '__proto__', input };
    expect(assistantSays(block)).toMatchObject([
      {
        tool_calls: [
          { function: { name: '__proto__', arguments: '{"__proto__":{"a":1},"constructor":2}' } },
        ],
      },
    ]);
    expect(
      faultOf({ messages: [{ role: 'user', content: [{ type: 'constructor' }] }] }).param,
    ).toBe('messages[0].content[0].type');
  });
});

describe('counting', () => {
  test('needs no max_tokens, and reads system, tools and images', () => {
    const { max_tokens: _limit, ...counted } = BASE;
    const plain = estimatePromptTokens(toCountedChat(counted));
    const tools = [{ name: 'read', input_schema: { description: 'x'.repeat(400) } }];
    const more = estimatePromptTokens(toCountedChat({ ...counted, system: 'x'.repeat(40), tools }));
    expect(more).toBeGreaterThanOrEqual(plain + 110);
    const messages = [{ role: 'user', content: [{ type: 'image', source: PIXEL }] }];
    expect(estimatePromptTokens(toCountedChat({ ...counted, messages }))).toBeGreaterThan(800);
  });

  test('refuses what the request itself would be refused for', () => {
    expect(() => toCountedChat({ ...BASE, messages: [{ role: 'x' }] })).toThrow(ApiError);
  });
});
