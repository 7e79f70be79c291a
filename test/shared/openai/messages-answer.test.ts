import { ApiError } from '@inference-gateway/shared/errors';
import { messagesError } from '@inference-gateway/shared/openai/messages/errors';
import { modelInfo, modelsPage } from '@inference-gateway/shared/openai/messages/models';
import { MESSAGES } from '@inference-gateway/shared/openai/messages/translation';
import { describe, expect, test } from 'vitest';

const CONTEXT = { thinking: true, stop_sequences: ['END', 'END2'] };
const SUBJECT = { id: '01J', createdAt: 1_700_000_000, model: 'm', context: CONTEXT };
const QUIET = { ...SUBJECT, context: { thinking: false, stop_sequences: [] } };
const NO_TOKENS = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
};

type Fields = Readonly<Record<string, unknown>>;

const call = (id: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const answer = (choice: Fields, fields: Fields = {}, subject = SUBJECT) =>
  MESSAGES.toAnswer(
    { choices: [{ index: 0, finish_reason: 'stop', ...choice }], ...fields },
    subject,
  );
const contentOf = (message: Fields, subject = SUBJECT) =>
  answer({ message }, {}, subject)['content'];

describe('an answer', () => {
  test('of text has every field of that API', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    expect(answer({ message: { role: 'assistant', content: 'hello' } }, { usage })).toEqual({
      id: 'msg_01J',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { ...NO_TOKENS, input_tokens: 7, output_tokens: 3 },
    });
  });

  test.each(['reasoning_content', 'reasoning'])('shows %s to those who asked for it', (name) => {
    const message = { content: 'so', [name]: 'hm' };
    expect(contentOf(message)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: '' },
      { type: 'text', text: 'so' },
    ]);
    expect(contentOf(message, QUIET)).toEqual([{ type: 'text', text: 'so' }]);
  });

  test('with calls has them after its text', () => {
    const message = { content: 'I look', tool_calls: [call('a', '{"x":1}'), call('b', '')] };
    expect(contentOf(message)).toEqual([
      { type: 'text', text: 'I look' },
      { type: 'tool_use', id: 'a', name: 'read', input: { x: 1 } },
      { type: 'tool_use', id: 'b', name: 'read', input: {} },
    ]);
  });

  test.each<[string, unknown]>([
    ['"text"', { arguments: '"text"' }],
    ['[1]', { arguments: '[1]' }],
    ['{"a": 1', { arguments: '{"a": 1' }],
    ["{'a': 1}", { arguments: "{'a': 1}" }],
    ['null', { arguments: 'null' }],
    [' ', {}],
    [' {"a": "}{\\""} ', { a: '}{"' }],
    ['{"a": 1}{"a": 1}', { a: 1 }],
    ['{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000), { arguments: expect.any(String) }],
  ])('has an object as input for the arguments %s', (args, input) => {
    expect(contentOf({ content: null, tool_calls: [call('a', args)] })).toEqual([
      { type: 'tool_use', id: 'a', name: 'read', input },
    ]);
  });

  test('of nothing is empty', () => {
    expect(contentOf({ content: null })).toEqual([]);
    expect(MESSAGES.toAnswer({}, SUBJECT)).toMatchObject({ content: [], usage: NO_TOKENS });
    expect(MESSAGES.toAnswer({ choices: [null] }, SUBJECT)).toMatchObject({ content: [] });
    expect(contentOf({ content: '', refusal: 'I cannot' })).toEqual([
      { type: 'text', text: 'I cannot' },
    ]);
  });

  test('names a call that a server has left nameless', () => {
    expect(contentOf({ tool_calls: [{}, 3] })).toEqual([
      { type: 'tool_use', id: 'toolu_01J_0', name: '', input: {} },
    ]);
  });

  test.each<[Fields, string, string | null]>([
    [{ finish_reason: 'stop' }, 'end_turn', null],
    [{ finish_reason: null }, 'end_turn', null],
    [{ finish_reason: 'length' }, 'max_tokens', null],
    [{ finish_reason: 'content_filter' }, 'refusal', null],
    [{ finish_reason: 'tool_calls', message: { tool_calls: [{}] } }, 'tool_use', null],
    [{ finish_reason: 'stop', message: { tool_calls: [{}] } }, 'tool_use', null],
    // Clients wait for the result of a call that is not there.
    [{ finish_reason: 'tool_calls' }, 'end_turn', null],
    [{ finish_reason: 'length', message: { tool_calls: [{}] } }, 'max_tokens', null],
    [{ finish_reason: 'stop', stop_reason: 'END2' }, 'stop_sequence', 'END2'],
    [{ finish_reason: 'stop', matched_stop: 'END' }, 'stop_sequence', 'END'],
    [{ finish_reason: 'stop', stop_reason: null, matched_stop: 2 }, 'end_turn', null],
    [{ finish_reason: 'stop', stop_reason: '<|im_end|>' }, 'end_turn', null],
  ])('%j stops by %s', (choice, stop_reason, stop_sequence) => {
    expect(answer(choice)).toMatchObject({ stop_reason, stop_sequence });
  });

  test.each<[unknown, object]>([
    [
      { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } },
      { ...NO_TOKENS, input_tokens: 5, cache_read_input_tokens: 4, output_tokens: 2 },
    ],
    [
      { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 40 } },
      { ...NO_TOKENS, cache_read_input_tokens: 9 },
    ],
    [
      { prompt_tokens: 9, prompt_tokens_details: null, estimated: true },
      { ...NO_TOKENS, input_tokens: 9, estimated: true },
    ],
    [{ prompt_tokens: 'x', completion_tokens: -1 }, NO_TOKENS],
    [null, NO_TOKENS],
  ])('counts %j', (usage, counted) => {
    expect(answer({}, { usage })['usage']).toEqual(counted);
  });
});

interface Event {
  readonly type: string;
  readonly index: number;
  readonly content_block: { readonly type: string; readonly id?: string };
  readonly delta: object;
}

/** Each event with its name and one line of data. */
function eventsIn(text: string): Event[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      const read = JSON.parse(data ?? '') as Event;
      expect(read.type).toBe(name);
      return read;
    });
}

const delta = (fields: Fields, choice: Fields = {}) => ({
  choices: [{ index: 0, delta: fields, finish_reason: null, ...choice }],
});
const piece = (index: number, args: string, begun?: string) =>
  delta({
    tool_calls: [
      begun === undefined
        ? { index, function: { arguments: args } }
        : { index, ...call(begun, args) },
    ],
  });
const STOP = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** The events of these chunks, without the first two. */
function stream(chunks: readonly Fields[], subject = SUBJECT): Event[] {
  const events = MESSAGES.openEvents(subject);
  return eventsIn(chunks.map((chunk) => events.chunk(chunk)).join('') + events.end()).slice(2);
}

/** One line an event. */
const brief = (events: readonly Event[]): string[] =>
  events.map((event) => {
    const { type, index, content_block: block, delta: change } = event;
    if (type === 'content_block_start') return `${index} ${block.type} ${block.id ?? ''}`.trim();
    if (type === 'content_block_stop') return `${index} stop`;
    if (type !== 'content_block_delta') return type;
    return `${index} ${Object.values(change).join(' ')}`;
  });
const END = ['message_delta', 'message_stop'];

describe('a stream', () => {
  test('of text has the events of that API', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    const role = events.chunk(delta({ role: 'assistant', content: '' }));
    expect(eventsIn(role)).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_01J',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: NO_TOKENS,
        },
      },
      { type: 'ping' },
    ]);
    expect(eventsIn(events.chunk(delta({ content: 'a"\n' })))).toEqual([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a"\n' } },
    ]);
    expect(eventsIn(events.chunk(delta({ content: 'b' })))).toEqual([
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'b' } },
    ]);
    expect(events.chunk(STOP)).toBe('');
    expect(events.chunk({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } })).toBe(
      '',
    );
    expect(eventsIn(events.end())).toEqual([
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { ...NO_TOKENS, input_tokens: 5, output_tokens: 2 },
      },
      { type: 'message_stop' },
    ]);
  });

  test.each<[string, Fields]>([
    ['a role', delta({ role: 'assistant', content: null })],
    ['nothing', delta({})],
    ['empty texts', delta({ content: '', reasoning_content: '', tool_calls: [] })],
    ['no choices', { choices: [] }],
    ['no list of choices', {}],
    ['things that are none', { choices: [{ delta: { content: 1, tool_calls: [null, 'x'] } }] }],
  ])('has no event for a chunk of %s', (_what, chunk) => {
    expect(brief(stream([delta({ content: 'a' }), chunk, STOP]))).toEqual([
      '0 text',
      '0 text_delta a',
      '0 stop',
      ...END,
    ]);
  });

  test('shows reasoning as thinking, with a signature, and only if it is asked for', () => {
    const chunks = [
      delta({ reasoning_content: 'h' }),
      delta({ reasoning: 'm' }),
      delta({ content: 'so' }),
      STOP,
    ];
    expect(brief(stream(chunks))).toEqual([
      '0 thinking',
      '0 thinking_delta h',
      '0 thinking_delta m',
      '0 signature_delta ',
      '0 stop',
      '1 text',
      '1 text_delta so',
      '1 stop',
      ...END,
    ]);
    expect(brief(stream(chunks, QUIET))).toEqual(['0 text', '0 text_delta so', '0 stop', ...END]);
  });

  test('of a call passes its pieces on as they come', () => {
    const chunks = [
      delta({ content: 'I look' }),
      piece(0, '', 'a'),
      piece(0, ' {"x"'),
      piece(0, ':1}'),
    ];
    const events = stream([...chunks, STOP]);
    expect(brief(events)).toEqual([
      '0 text',
      '0 text_delta I look',
      '0 stop',
      '1 tool_use a',
      '1 input_json_delta {"x"',
      '1 input_json_delta :1}',
      '1 stop',
      ...END,
    ]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(events[3]).toMatchObject({
      content_block: { type: 'tool_use', id: 'a', name: 'read', input: {} },
    });
  });

  test('of a call without arguments has an empty object', () => {
    expect(brief(stream([piece(0, '', 'a'), STOP]))).toEqual([
      '0 tool_use a',
      '0 input_json_delta {}',
      '0 stop',
      ...END,
    ]);
  });

  test('of arguments that are no object holds them until their end', () => {
    expect(brief(stream([piece(0, '[1', 'a'), piece(0, ', 2]'), STOP]))).toEqual([
      '0 tool_use a',
      '0 input_json_delta {"arguments":"[1, 2]"}',
      '0 stop',
      ...END,
    ]);
  });

  test('of calls that follow each other shows each at once', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    events.chunk(piece(0, '{"x":1}', 'a'));
    expect(brief(eventsIn(events.chunk(piece(1, '{', 'b'))))).toEqual([
      '0 stop',
      '1 tool_use b',
      '1 input_json_delta {',
    ]);
  });

  test('of calls that alternate holds back the later ones', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    const told = (chunk: Fields) => brief(eventsIn(events.chunk(chunk)));
    events.chunk(piece(0, '{"x":', 'a'));
    expect(told(piece(1, '{"y":"}', 'b'))).toEqual([]);
    expect(told(piece(2, '', 'c'))).toEqual([]);
    expect(told(delta({ content: 'meanwhile' }))).toEqual([]);
    expect(told(piece(0, '[{}]'))).toEqual(['0 input_json_delta [{}]']);
    expect(told(piece(0, '} '))).toEqual([
      '0 input_json_delta }',
      '0 stop',
      '1 tool_use b',
      '1 input_json_delta {"y":"}',
    ]);
    // Nothing that follows a complete object belongs to it.
    expect(told(piece(0, '{}'))).toEqual([]);
    expect(told(piece(1, '"}'))).toEqual(['1 input_json_delta "}', '1 stop', '2 tool_use c']);
    expect(brief(eventsIn(events.end()))).toEqual([
      '2 input_json_delta {}',
      '2 stop',
      '3 text',
      '3 text_delta meanwhile',
      '3 stop',
      ...END,
    ]);
  });

  test('that holds back more than its limit ends in an error', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    events.chunk(piece(0, '{', 'a'));
    const flood = () => {
      for (let i = 0; i < 17; i++) events.chunk(piece(1, 'x'.repeat(1024 * 1024), 'b'));
    };
    expect(flood).toThrow(ApiError);
    const blocks = MESSAGES.openEvents(SUBJECT);
    blocks.chunk(piece(0, '{', 'a'));
    expect(() => {
      for (let i = 0; i < 1_025; i++) blocks.chunk(piece(i + 1, '', `${i}`));
    }).toThrow('1024 blocks');
  });

  test('that holds nothing back may be endless', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    events.chunk(piece(0, '{"x":"', 'a'));
    for (let i = 0; i < 20; i++) events.chunk(piece(0, 'x'.repeat(1024 * 1024)));
    events.chunk(piece(0, '"}'));
    for (let i = 0; i < 20; i++) expect(events.chunk(piece(0, ' '.repeat(1024 * 1024)))).toBe('');
    expect(brief(eventsIn(events.end()))).toEqual(['0 stop', ...END]);
  });

  test('without a chunk is still whole', () => {
    const events = eventsIn(MESSAGES.openEvents(SUBJECT).end());
    expect(brief(events)).toEqual(['message_start', 'ping', ...END]);
  });

  test('tells a reason that came before the last chunk', () => {
    const cut = delta({}, { finish_reason: 'length' });
    const events = stream([delta({ content: 'a' }), cut, { choices: [], usage: {} }]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'max_tokens' } });
    const stopped = delta({}, { finish_reason: 'stop', stop_reason: 'END' });
    expect(stream([stopped]).at(-2)).toMatchObject({
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    });
  });

  test('that fails says so in that API’s envelope', () => {
    const events = MESSAGES.openEvents(SUBJECT);
    events.chunk(delta({ content: 'a' }));
    expect(events.fail(new ApiError('provider_error', 'It broke.'))).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"It broke.",' +
        '"code":"provider_error","param":null},"request_id":"req_01J"}\n\n',
    );
  });
});

describe('an error', () => {
  test('has that API’s envelope, and the gateway’s code and field', () => {
    const error = new ApiError('invalid_value', 'Wrong.', { param: 'top_k' });
    expect(messagesError(error, 'req_1')).toEqual({
      status: 400,
      body: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'Wrong.',
          code: 'invalid_value',
          param: 'top_k',
        },
        request_id: 'req_1',
      },
    });
  });

  test.each([
    ['invalid_api_key', 401, 'not_authenticated'],
    ['model_not_found', 404, 'no_provider'],
    ['no_provider', 404, 'no_provider'],
    ['job_not_found', 404, 'not_found_error'],
    ['unknown_url', 404, 'not_found_error'],
    ['not_allowed', 403, 'permission_error'],
    ['method_not_allowed', 405, 'invalid_request_error'],
    ['batch_too_large', 400, 'invalid_request_error'],
    ['conflict', 409, 'invalid_request_error'],
    ['body_too_large', 413, 'request_too_large'],
    ['unsupported_content_type', 415, 'invalid_request_error'],
    ['rate_limit_exceeded', 429, 'rate_limit_error'],
    ['queue_full', 429, 'rate_limit_error'],
    ['internal_error', 500, 'api_error'],
    ['provider_timeout', 502, 'api_error'],
    ['capacity_exhausted', 503, 'overloaded_error'],
    ['async_disabled', 503, 'api_error'],
    ['storage_full', 507, 'api_error'],
  ] as const)('%s is %d %s', (code, status, type) => {
    expect(messagesError(new ApiError(code, 'x'), '1')).toMatchObject({
      status,
      body: { error: { type, code } },
    });
  });
});

describe('the list of models', () => {
  const models = ['a', 'b', 'c', 'b', 'd'].map((id, i) => ({
    id,
    created: 1_700_000_000 + i,
    context_length: i === 0 ? 8_192 : null,
  }));
  const idsOf = (query: Record<string, string>) => {
    const { data, ...page } = modelsPage(models, query);
    return [data.map(({ id }) => id).join(''), page];
  };

  test('has that API’s fields', () => {
    expect(modelInfo({ id: 'a/b:7b', created: 1_700_000_000, context_length: 8_192 })).toEqual({
      type: 'model',
      id: 'a/b:7b',
      display_name: 'a/b:7b',
      created_at: '2023-11-14T22:13:20.000Z',
      max_input_tokens: 8_192,
    });
  });

  test.each([
    [{}, 'abcd', { has_more: false, first_id: 'a', last_id: 'd' }],
    [{ limit: '2' }, 'ab', { has_more: true, first_id: 'a', last_id: 'b' }],
    [{ limit: '2', after_id: 'b' }, 'cd', { has_more: false, first_id: 'c', last_id: 'd' }],
    [{ limit: '1', after_id: 'b' }, 'c', { has_more: true, first_id: 'c', last_id: 'c' }],
    [{ limit: '2', before_id: 'd' }, 'bc', { has_more: true, first_id: 'b', last_id: 'c' }],
    [{ before_id: 'c' }, 'ab', { has_more: false, first_id: 'a', last_id: 'b' }],
    [{ after_id: 'd' }, '', { has_more: false, first_id: null, last_id: null }],
    [{ after_id: 'c', before_id: 'b' }, '', { has_more: false, first_id: null, last_id: null }],
  ])('%j is %s', (query, ids, page) => {
    expect(idsOf(query as Record<string, string>)).toEqual([ids, page]);
  });

  test('has twenty at a time', () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ ...models[0], id: `${i}` }));
    expect(modelsPage(many as typeof models, {}).data).toHaveLength(20);
  });

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '1001' }, 'limit'],
    [{ limit: 'x' }, 'limit'],
    [{ limit: ['1', '2'] }, 'limit'],
    [{ after_id: 'x' }, 'after_id'],
    [{ before_id: '' }, 'before_id'],
  ])('refuses %j', (query, param) => {
    try {
      modelsPage(models, query);
    } catch (error) {
      expect(error).toMatchObject({ status: 400, param });
      return;
    }
    expect.fail('it was accepted');
  });
});
