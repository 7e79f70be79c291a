/** The input of the Responses API, a list of items, as the messages of a chat. */
import * as z from 'zod';
import { ApiError } from '../../errors.js';
import { checkAt, listOf } from '../check.js';
import { CUSTOM_INPUT } from './tools.js';
import type { ToolNames } from './tools.js';

type Part = Readonly<Record<string, unknown>>;
interface Message {
  role: string;
  content?: string | Part[] | null;
  reasoning_content?: string;
  tool_calls?: object[];
  tool_call_id?: string;
}

const content = z.union(
  [z.string(), listOf(z.looseObject({ type: z.string() }))],
  'it must be text or an array of parts',
);
interface Thought {
  readonly text?: string | null;
}
type Content = z.infer<typeof content>;
const thoughts = listOf(z.looseObject({ text: z.string().nullish() })).nullish();
const ITEMS = {
  message: z.looseObject({
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content,
  }),
  function_call: z.looseObject({
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().nullish(),
    arguments: z.string(),
  }),
  function_call_output: z.looseObject({ call_id: z.string(), output: content }),
  custom_tool_call: z.looseObject({ call_id: z.string(), name: z.string(), input: z.string() }),
  custom_tool_call_output: z.looseObject({ call_id: z.string(), output: content }),
  reasoning: z.looseObject({ summary: thoughts, content: thoughts }),
} as const;
type ItemType = keyof typeof ITEMS;

interface Prompt {
  readonly instructions?: string | null | undefined;
  readonly input: string | readonly unknown[];
}

export function writeMessages(
  { instructions, input }: Prompt,
  names: ToolNames,
): readonly Message[] {
  const writer = new MessageWriter(names);
  if (instructions) writer.system(instructions);
  if (typeof input === 'string') writer.message('user', input);
  else for (const [index, item] of input.entries()) writer.item(item, `input[${index}]`);
  return writer.end();
}

/** Writes messages item by item. The items of one turn of the model become one message. */
class MessageWriter {
  readonly #messages: Message[] = [];
  readonly #names: ToolNames;
  /** The model's turn that is being written; null after any other message. */
  #turn: Message | null = null;
  #reasoning = '';
  /** Images of results, which follow the last result: a message of role `tool` has only text. */
  #images: Part[] = [];

  constructor(names: ToolNames) {
    this.#names = names;
  }

  item(item: unknown, at: string): void {
    const { type: written, role } = Object(item) as {
      readonly type?: unknown;
      readonly role?: unknown;
    };
    const type = written ?? (role === undefined ? undefined : 'message');
    if (typeof type !== 'string' || !(type in ITEMS)) throw unknownItem(type, at);
    this.#write(type as ItemType, item, at);
  }

  #write(type: ItemType, item: unknown, at: string): void {
    switch (type) {
      case 'message': {
        const { role, content: said } = checkAt(ITEMS.message, item, at);
        if (role === 'assistant') return this.#assistant(said, `${at}.content`);
        const read = contentOf(said, `${at}.content`);
        if (role === 'user') return this.message(role, read);
        return this.system(read);
      }
      case 'function_call': {
        const call = checkAt(ITEMS.function_call, item, at);
        const name = this.#names.functionOf(call.namespace ?? null, call.name);
        return this.#call(call.call_id, name, call.arguments);
      }
      case 'custom_tool_call': {
        const call = checkAt(ITEMS.custom_tool_call, item, at);
        const written = JSON.stringify({ [CUSTOM_INPUT]: call.input });
        return this.#call(call.call_id, call.name, written);
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#result(checkAt(ITEMS[type], item, at), at);
      case 'reasoning':
        return this.#think(checkAt(ITEMS.reasoning, item, at));
    }
  }

  /** Several at the beginning are one message: many models accept only one, and only there. */
  system(said: string | Part[]): void {
    const [first] = this.#messages;
    const text = textOf(said);
    const isFirst = this.#messages.length === 1 && first?.role === 'system';
    if (isFirst && text !== null && typeof first.content === 'string') {
      first.content = `${first.content}\n\n${text}`;
      return;
    }
    this.message('system', text ?? said);
  }

  message(role: string, said: string | Part[]): void {
    this.#endTurn();
    this.#reasoning = '';
    this.#messages.push({ role, content: said });
  }

  end(): readonly Message[] {
    this.#endTurn();
    return this.#messages;
  }

  #assistant(said: Content, at: string): void {
    const text = contentOf(said, at);
    const turn = this.#turn;
    // Results follow the calls at once: text between them belongs to the turn of the calls.
    if (turn?.tool_calls !== undefined) {
      turn.content = joined(turn.content ?? null, text);
      return;
    }
    this.#open({ role: 'assistant', content: text });
  }

  #call(id: string, name: string, written: string): void {
    const call = { id, type: 'function', function: { name, arguments: written } };
    const turn = this.#turn ?? this.#open({ role: 'assistant', content: null });
    turn.tool_calls ??= [];
    turn.tool_calls.push(call);
  }

  #open(turn: Message): Message {
    this.#endTurn();
    if (this.#reasoning !== '') turn.reasoning_content = this.#reasoning;
    this.#reasoning = '';
    this.#turn = turn;
    this.#messages.push(turn);
    return turn;
  }

  #result(
    { call_id: id, output }: { readonly call_id: string; readonly output: Content },
    at: string,
  ): void {
    this.#turn = null;
    const read = contentOf(output, `${at}.output`);
    const told = typeof read === 'string' ? [{ type: 'text', text: read }] : read;
    const texts = told.flatMap((part) => (part['type'] === 'text' ? [String(part['text'])] : []));
    this.#images.push(...told.filter((part) => part['type'] !== 'text'));
    this.#messages.push({ role: 'tool', tool_call_id: id, content: texts.join('\n') });
  }

  /** It belongs to the turn that follows. */
  #think({ summary, content: thought }: z.infer<(typeof ITEMS)['reasoning']>): void {
    const told = (thought?.length ? thought : (summary ?? [])) as readonly Thought[];
    const text = told.map(({ text: one }) => one ?? '').join('\n');
    if (text === '') return;
    // Of a new turn of the model, even if no message is between the two.
    this.#endTurn();
    this.#reasoning = text;
  }

  #endTurn(): void {
    this.#turn = null;
    if (this.#images.length === 0) return;
    this.#messages.push({ role: 'user', content: this.#images });
    this.#images = [];
  }
}

function joined(before: string | Part[] | null, text: string | Part[]): string | Part[] {
  if (before === null || before === '') return text;
  if (typeof before === 'string' && typeof text === 'string') return `${before}\n\n${text}`;
  return [...asParts(before), ...asParts(text)];
}

function asParts(said: string | Part[]): Part[] {
  return typeof said === 'string' ? [{ type: 'text', text: said }] : said;
}

/** Only text as text; null if there is anything else. */
function textOf(said: string | Part[]): string | null {
  if (typeof said === 'string') return said;
  const isText = said.every((part) => part['type'] === 'text');
  return isText ? said.map((part) => String(part['text'])).join('\n') : null;
}

/** One text as text, which every model's template accepts. */
function contentOf(said: Content, at: string): string | Part[] {
  if (typeof said === 'string') return said;
  const read = (said as readonly Part[]).map((part, index) => partOf(part, `${at}[${index}]`));
  const [only] = read;
  return read.length === 1 && only?.['type'] === 'text' ? String(only['text']) : read;
}

const spoken = z.looseObject({ text: z.string() });
const refused = z.looseObject({ refusal: z.string() });
const image = z.looseObject({
  image_url: z.string().nullish(),
  detail: z.string().nullish(),
});
const sound = z.looseObject({ input_audio: z.looseObject({}) });

function partOf(part: Part, at: string): Part {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
    case 'reasoning_text':
      return { type: 'text', text: checkAt(spoken, part, at).text };
    case 'refusal':
      return { type: 'text', text: checkAt(refused, part, at).refusal };
    case 'input_image': {
      const { image_url: url, detail } = checkAt(image, part, at);
      if (!url?.startsWith('data:')) throw noData(`${at}.image_url`);
      return { type: 'image_url', image_url: { url, ...(detail && { detail }) } };
    }
    case 'input_audio':
      return { type: 'input_audio', input_audio: checkAt(sound, part, at).input_audio };
    default:
      throw unknownPart(part['type'], at);
  }
}

function noData(param: string): ApiError {
  const message =
    `'${param}' is not a data: URL. The gateway keeps no files and fetches no addresses: send ` +
    'the image itself, as data:image/png;base64,…';
  return new ApiError('unsupported_value', message, { param });
}

/** Characters of a type that are repeated in an error. */
const MAX_SHOWN = 80;

function show(type: unknown): string {
  return JSON.stringify(typeof type === 'string' ? type.slice(0, MAX_SHOWN) : null);
}

function unknownPart(type: unknown, at: string): ApiError {
  const message =
    `'${at}.type' is ${show(type)}: it must be input_text, output_text, refusal, input_image or ` +
    'input_audio.';
  return new ApiError('unsupported_value', message, { param: `${at}.type` });
}

function unknownItem(type: unknown, at: string): ApiError {
  const isReference = type === 'item_reference';
  const remedy = isReference
    ? "The gateway keeps no conversations: send the item itself. Clients do with 'store': false."
    : `It must be one of ${Object.keys(ITEMS).join(', ')}.`;
  const message = `'${at}.type' is ${show(type)}. ${remedy}`;
  return new ApiError('unsupported_value', message, { param: `${at}.type` });
}
