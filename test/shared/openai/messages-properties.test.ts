/** What holds of every conversation, and of every way in which an answer is cut into chunks. */
import { ApiError } from '@inference-gateway/shared/errors';
import { MESSAGES } from '@inference-gateway/shared/openai/messages/translation';
import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  letrec,
  nat,
  oneof,
  property,
  record,
} from 'fast-check';
import { expect, test } from 'vitest';
import { answer, chunksOf, completionOf, input, said } from './answer-samples.js';
import type { Fields } from './answer-samples.js';

// Conversations in their plainest form, which chat completions can hold: a turn of each role after
// the other, its texts joined, results before texts.

const textBlock = said.map((text) => ({ type: 'text', text }));
const imageBlock = constantFrom('image/png', 'image/webp').map((media_type) => ({
  type: 'image',
  source: { type: 'base64', media_type, data: 'AAAA' },
}));
const uses = array(record({ type: constant('tool_use'), id: said, name: said, input }), {
  maxLength: 3,
});
const results = array(record({ type: constant('tool_result'), tool_use_id: said, content: said }), {
  maxLength: 2,
});

const userTurn = record({
  results,
  rest: oneof(
    array(textBlock, { minLength: 1, maxLength: 1 }),
    array(oneof(textBlock, imageBlock), { minLength: 1, maxLength: 4 }).map((blocks) => [
      ...blocks,
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'BBBB' } },
    ]),
  ),
}).map((turn) => ({ role: 'user', content: [...turn.results, ...turn.rest] }));
const assistantTurn = record({ text: textBlock, uses }).map((turn) => ({
  role: 'assistant',
  content: [turn.text, ...turn.uses],
}));
const toolList = array(record({ name: said, description: said, input_schema: input }), {
  minLength: 1,
  maxLength: 3,
}).map((tools) => [...new Map(tools.map((tool) => [tool.name, tool])).values()]);

const conversation = record(
  {
    model: constant('m'),
    max_tokens: integer({ min: 1, max: 9 }),
    messages: array(record({ user: userTurn, assistant: assistantTurn }), {
      minLength: 1,
      maxLength: 3,
    }).map((turns) => turns.flatMap(({ user, assistant }) => [user, assistant])),
    system: said,
    tools: toolList,
    stop_sequences: array(said, { minLength: 1, maxLength: 2 }),
    temperature: constant(0.5),
    top_p: constant(0.9),
    top_k: nat(9),
    stream: boolean(),
    metadata: record({ user_id: said }),
    tool_choice: oneof(
      constantFrom({ type: 'any' }, { type: 'none' }),
      record({ type: constant('auto'), disable_parallel_tool_use: constant(true) }),
    ),
  },
  { requiredKeys: ['model', 'max_tokens', 'messages'] },
  // A choice among no tools says nothing.
).filter(({ tools, tool_choice: choice }) => choice === undefined || tools !== undefined);

test('a request keeps what chat completions can hold', () => {
  assert(
    property(conversation, (request) => {
      const { chat } = MESSAGES.toChat(request);
      expect(fromChat(chat)).toEqual(request);
    }),
    {
      numRuns: 300,
    },
  );
});

interface ChatMessage {
  readonly role: string;
  readonly content: string | readonly Part[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly Call[];
}
interface Part {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}
interface Call {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** The inverse of the translation, for conversations in their plainest form. */
function fromChat(chat: Fields): Fields {
  const { messages, tools, tool_choice: choice, parallel_tool_calls, stop, ...rest } = chat;
  const { stream_options: _options, ...same } = rest;
  const list = messages as readonly ChatMessage[];
  const [first, ...others] = list;
  const system = first?.role === 'system' ? first.content : undefined;
  return {
    ...same,
    messages: turnsFrom(system === undefined ? list : others),
    ...(system !== undefined && { system }),
    ...(stop !== undefined && { stop_sequences: stop }),
    ...(tools !== undefined && { tools: (tools as { function: Fields }[]).map(toolFrom) }),
    ...(choice !== undefined && { tool_choice: choiceFrom(choice, parallel_tool_calls) }),
  };
}

function toolFrom({ function: { parameters, ...rest } }: { function: Fields }): Fields {
  return { ...rest, input_schema: parameters };
}

function choiceFrom(choice: unknown, parallel: unknown): Fields {
  const type = choice === 'required' ? 'any' : choice;
  return { type, ...(parallel === false && { disable_parallel_tool_use: true }) };
}

function turnsFrom(messages: readonly ChatMessage[]): Fields[] {
  const turns: { role: string; content: unknown[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'tool' ? 'user' : message.role;
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, content: [] };
      turns.push(turn);
    }
    turn.content.push(...blocksFrom(message));
  }
  return turns;
}

function blocksFrom({ role, content, tool_call_id: id, tool_calls: calls }: ChatMessage): Fields[] {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, content }];
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const uses = (calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(args) as unknown,
  }));
  return [...parts.map(blockFrom), ...uses];
}

function blockFrom(part: Part): Fields {
  const { image_url: image } = part;
  if (image === undefined) return { ...part };
  const [, media_type, data] = /^data:(.*);base64,(.*)$/.exec(image.url) ?? [];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

// Streams.

test('the events of an answer, however it is cut, are the answer', () => {
  assert(
    property(answer, (sample) => {
      const { thinking } = sample;
      const context = { thinking, stop_sequences: [] };
      const subject = { id: '1', createdAt: 1, model: 'm', context };
      const whole = MESSAGES.toAnswer(completionOf(sample), subject);
      const events = MESSAGES.openEvents(subject);
      let wire = '';
      for (const chunk of chunksOf(sample)) wire += events.chunk(chunk);
      wire += events.end();
      expect(accumulated(wire)).toEqual(JSON.parse(JSON.stringify(whole)));
    }),
    { numRuns: 500 },
  );
});

interface Event {
  readonly type: string;
  readonly index: number;
  readonly message: Record<string, unknown>;
  readonly content_block: Record<string, unknown>;
  readonly delta: Record<string, string>;
  readonly usage: object;
}

/** The message that a client builds; checks the order of the events. */
function accumulated(wire: string): unknown {
  let message: Record<string, unknown> = {};
  const content: Record<string, unknown>[] = [];
  let open: { block: Record<string, unknown>; json: string } | null = null;
  const types: string[] = [];
  for (const text of wire.split('\n\n').slice(0, -1)) {
    const event = JSON.parse(text.replace(/^event: \w+\ndata: /, '')) as Event;
    types.push(event.type);
    if (event.type === 'message_start') ({ message } = event);
    else if (event.type === 'content_block_start') {
      expect(open).toBeNull();
      expect(event.index).toBe(content.length);
      open = { block: event.content_block, json: '' };
      content.push(open.block);
    } else if (event.type === 'content_block_delta') {
      expect(event.index).toBe(content.length - 1);
      const { type: _type, partial_json: json, ...more } = event.delta;
      if (open === null) throw new Error('a delta of no block');
      open.json += json ?? '';
      for (const [name, piece] of Object.entries(more)) {
        open.block[name] = String(open.block[name]) + piece;
      }
    } else if (event.type === 'content_block_stop') {
      expect(event.index).toBe(content.length - 1);
      if (open?.block['type'] === 'tool_use') open.block['input'] = parsed(open.json);
      open = null;
    } else if (event.type === 'message_delta') {
      expect(open).toBeNull();
      message = { ...message, ...event.delta, usage: event.usage };
    }
  }
  expect(types.slice(0, 2)).toEqual(['message_start', 'ping']);
  expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
  return { ...message, content };
}

/** Of a call that has been broken off, only the text. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return { arguments: json };
  }
}

// Whatever is sent.

const KEYS = [
  'role content type text source data media_type id name input tool_use_id is_error title',
  'url message delta choices tool_calls function arguments index finish_reason usage',
  'prompt_tokens __proto__ input_schema description user_id reasoning_content refusal',
  'tool_name',
].flatMap((line) => line.split(' '));
const WORDS = [
  'user assistant system text image document search_result tool_use tool_result thinking',
  'web_search_tool_result base64 content auto tool tool_reference image/png custom enabled',
  'stop {} { any',
].flatMap((line) => line.split(' '));
const word = constantFrom(...WORDS);
const { anything } = letrec<{ anything: unknown }>((tie) => ({
  anything: oneof(
    { maxDepth: 6 },
    oneof(word, word, nat(3), constant(null), boolean()),
    dictionary(constantFrom(...KEYS), tie('anything'), { maxKeys: 5 }),
    array(tie('anything'), { maxLength: 3 }),
  ),
}));
const block = oneof(
  textBlock,
  imageBlock,
  uses.map(([use]) => use ?? {}),
  record({ type: word, content: oneof(said, array(textBlock)), tool_use_id: said }),
  dictionary(constantFrom(...KEYS), anything, { maxKeys: 6 }),
);
const rarely = oneof({ weight: 4, arbitrary: constant(null) }, { weight: 1, arbitrary: anything });
const anyRequest = record(
  {
    model: constant('m'),
    max_tokens: integer({ min: 1, max: 9 }),
    messages: array(
      record({
        role: constantFrom('user', 'assistant', 'system'),
        content: oneof(said, array(block, { maxLength: 2 })),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    system: rarely,
    tools: oneof(constant(null), array(block), anything),
    tool_choice: oneof(constant(null), block, anything),
    stop_sequences: rarely,
    metadata: rarely,
    thinking: rarely,
    stream: anything,
  },
  { requiredKeys: ['model', 'max_tokens', 'messages'] },
);

test('a request is translated or refused, whatever it holds', () => {
  let translated = 0;
  assert(
    property(anyRequest, (request) => {
      try {
        MESSAGES.toChat(request);
        translated += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({ status: 400, param: expect.any(String) });
      }
    }),
    { numRuns: 1_000 },
  );
  expect(translated).toBeGreaterThan(10);
});

test('an answer is translated, and a stream ends, whatever a provider sends', () => {
  const provided = record({
    choices: oneof(anything, array(record({ message: block, delta: block, finish_reason: word }))),
    usage: anything,
  });
  assert(
    property(array(provided, { maxLength: 4 }), boolean(), (chunks, thinking) => {
      const context = { thinking, stop_sequences: ['stop'] };
      const subject = { id: '1', createdAt: 1, model: 'm', context };
      const events = MESSAGES.openEvents(subject);
      let wire = '';
      for (const chunk of chunks) {
        wire += events.chunk(chunk);
        expect(MESSAGES.toAnswer(chunk, subject)).toMatchObject({ type: 'message' });
      }
      expect(accumulated(wire + events.end())).toMatchObject({ type: 'message' });
    }),
    { numRuns: 1_000 },
  );
});
