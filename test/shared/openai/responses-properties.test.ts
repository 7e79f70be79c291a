/** What holds of every input of the Responses API, and of every way in which an answer is cut. */
import { RESPONSES } from '@inference-gateway/shared/openai/responses/translation';
import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  oneof,
  property,
  record,
  string,
} from 'fast-check';
import { expect, test } from 'vitest';
import { answer, chunksOf, completionOf, input, said } from './answer-samples.js';
import type { Fields } from './answer-samples.js';

// Requests in their plainest form, which chat completions can hold: the calls of a turn together,
// then their results, and one text as text.

const textParts = array(
  said.map((text) => ({ type: 'input_text', text })),
  { minLength: 2, maxLength: 3 },
);
const image = constant({ type: 'input_image', image_url: 'data:image/png;base64,AAAA' });
const userItem = oneof(
  said,
  textParts,
  textParts.map((parts) => [...parts, { type: 'input_image', image_url: 'data:image/x;base64,B' }]),
).map((content) => ({ type: 'message', role: 'user', content }));
const call = record({ call_id: said, name: constantFrom('f', 'g'), arguments: said }).map(
  (fields) => ({ type: 'function_call', ...fields }),
);
const output = record({ call_id: said, output: said }).map((fields) => ({
  type: 'function_call_output',
  ...fields,
}));
const modelTurn = record({
  text: oneof(constant(null), said),
  calls: array(call, { maxLength: 3 }),
  outputs: array(output, { maxLength: 2 }),
}).map(({ text, calls, outputs }) => [
  ...(text === null ? [] : [{ type: 'message', role: 'assistant', content: text }]),
  ...calls,
  // Results belong to calls.
  ...(calls.length === 0 ? [] : outputs),
]);
const turns = array(record({ user: userItem, model: modelTurn }), { minLength: 1, maxLength: 3 });
const tools = array(
  record({ name: constantFrom('f', 'g'), description: said, parameters: input, strict: boolean() }),
  { minLength: 1, maxLength: 2 },
).map((list) => list.map((tool) => ({ type: 'function', ...tool })));

const request = record(
  {
    model: constant('m'),
    input: turns.map((list) => list.flatMap(({ user, model }) => [user, ...model])),
    instructions: said,
    tools,
    tool_choice: constantFrom('auto', 'none', 'required'),
    parallel_tool_calls: boolean(),
    max_output_tokens: integer({ min: 1, max: 9 }),
    temperature: constant(0.5),
    top_p: constant(0.9),
    reasoning: record({ effort: constantFrom('low', 'high') }),
    text: record({
      format: oneof(
        constant({ type: 'json_object' }),
        input.map((schema) => ({ type: 'json_schema', name: 'n', schema, strict: true })),
      ),
    }),
    user: said,
    prompt_cache_key: said,
    metadata: constant({ a: 'b' }),
  },
  { requiredKeys: ['model', 'input'] },
)
  // Only beside tools do the others mean something.
  .filter(
    (one) => one.tools !== undefined || (!one.tool_choice && one.parallel_tool_calls === undefined),
  );

test('a request keeps what chat completions can hold', () => {
  assert(
    property(request, (sample) => {
      const plain = JSON.parse(JSON.stringify(sample)) as Fields;
      expect(fromChat(RESPONSES.toChat(plain).chat)).toEqual(plain);
    }),
    { numRuns: 500 },
  );
});

interface ChatMessage {
  readonly role: string;
  readonly content: string | null | readonly Fields[];
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: Fields }[];
}

/** The inverse of the translation, for requests in their plainest form. */
function fromChat(chat: Fields): Fields {
  const { messages, max_tokens: most, reasoning_effort: effort, ...others } = chat;
  const { response_format: format, tools: functions, ...same } = others;
  const list = messages as readonly ChatMessage[];
  const [first] = list;
  const isLed = first?.role === 'system';
  return {
    ...same,
    input: (isLed ? list.slice(1) : list).flatMap(itemsFrom),
    ...(isLed && { instructions: first.content }),
    ...(most !== undefined && { max_output_tokens: most }),
    ...(effort !== undefined && { reasoning: { effort } }),
    ...(functions !== undefined && {
      tools: (functions as { function: Fields }[]).map((tool) => ({
        type: 'function',
        ...tool.function,
      })),
    }),
    ...(format !== undefined && { text: { format: formatFrom(format as Fields) } }),
  };
}

function formatFrom({ type, json_schema: schema }: Fields): Fields {
  return { type, ...(schema as Fields | undefined) };
}

function itemsFrom(message: ChatMessage): Fields[] {
  const { role, content, tool_call_id: id, tool_calls: calls = [] } = message;
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: content }];
  const written = typeof content === 'string' ? content : content?.map(partFrom);
  return [
    ...(written === undefined ? [] : [{ type: 'message', role, content: written }]),
    ...calls.map((one) => ({ type: 'function_call', call_id: one.id, ...one.function })),
  ];
}

function partFrom({ type, text, image_url: url }: Fields): Fields {
  if (type === 'text') return { type: 'input_text', text };
  return { type: 'input_image', image_url: (url as Fields)['url'] };
}

test('a picture alone, and one among texts, arrive', () => {
  assert(
    property(array(image, { minLength: 1, maxLength: 2 }), (content) => {
      const { chat } = RESPONSES.toChat({ model: 'm', input: [{ role: 'user', content }] });
      const [message] = chat['messages'] as { content: Fields[] }[];
      expect(message?.content.map(partFrom)).toEqual(content);
    }),
  );
});

// Streams.

interface StreamEvent extends Fields {
  readonly type: string;
  readonly sequence_number: number;
}

function eventsOf(wire: string): StreamEvent[] {
  const written = wire.split('\n\n').filter((event) => event !== '');
  return written.map((event) => {
    const [, name, data = ''] = /^event: (.*)\ndata: (.*)$/s.exec(event) ?? [];
    const parsed = JSON.parse(data) as StreamEvent;
    expect(parsed.type).toBe(name);
    return parsed;
  });
}

const CUSTOM = { custom: ['patch'], namespaces: { ns__f: ['ns', 'f'] } };

test('the events of an answer, however it is cut, are the answer', () => {
  const sample = record({ answer, names: array(constantFrom('patch', 'ns__f', 'plain')) });
  assert(
    property(sample, ({ answer: one, names }) => {
      const calls = one.calls.map((each, i) => ({ ...each, name: names[i] ?? each.name }));
      const cut = { ...one, calls };
      const subject = { id: '1', createdAt: 1, model: 'm', context: CUSTOM };
      const whole = RESPONSES.toAnswer(completionOf(cut), subject);
      const writer = RESPONSES.openEvents(subject);
      let wire = '';
      for (const chunk of chunksOf(cut)) wire += writer.chunk(chunk);
      const events = eventsOf(wire + writer.end());
      expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
      const last = events.at(-1);
      expect(last?.['response']).toEqual(JSON.parse(JSON.stringify(whole)));
      expect(last?.type).toBe(`response.${String(whole['status'])}`);
      checkItems(events, whole['output'] as readonly Fields[]);
    }),
    { numRuns: 500 },
  );
});

/** Every item is added, then written by deltas, then done, and the deltas are what it holds. */
function checkItems(events: readonly StreamEvent[], output: readonly Fields[]): void {
  for (const [index, item] of output.entries()) {
    const own = events.filter((event) => event['output_index'] === index);
    expect(own.at(0)).toMatchObject({
      type: 'response.output_item.added',
      item: { id: item['id'] },
    });
    expect(own.at(-1)).toMatchObject({ type: 'response.output_item.done', item });
    const deltas = own.filter(({ type }) => type.endsWith('.delta'));
    expect(deltas.every((event) => event['item_id'] === item['id'])).toBe(true);
    const written = deltas.map((event) => String(event['delta'])).join('');
    const [part] = (item['content'] ?? []) as readonly Fields[];
    expect(written).toBe(String(part?.['text'] ?? item['input'] ?? item['arguments']));
  }
}

test('the text of a custom tool is the same in any pieces, whatever it holds', () => {
  const pieces = record({
    text: string({ unit: 'binary' }),
    cuts: array(integer({ min: 1, max: 5 }), { minLength: 1 }),
  });
  assert(
    property(pieces, ({ text, cuts }) => {
      const subject = { id: '1', createdAt: 1, model: 'm', context: CUSTOM };
      const written = JSON.stringify({ input: text });
      const writer = RESPONSES.openEvents(subject);
      const send = (called: Fields): string =>
        writer.chunk({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...called }] } }] });
      let wire = send({ id: 'c', function: { name: 'patch', arguments: '' } });
      for (let at = 0, step = 0; at < written.length; step += 1) {
        const end = at + (cuts[step % cuts.length] ?? 1);
        wire += send({ function: { arguments: written.slice(at, end) } });
        at = end;
      }
      const events = eventsOf(wire + writer.end());
      const done = events.find(({ type }) => type === 'response.custom_tool_call_input.done');
      expect(done?.['input']).toBe(text);
    }),
    { numRuns: 300 },
  );
});
