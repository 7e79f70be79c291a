/**
 * The turns of a conversation in blocks, and the chat messages that they become. Texts of one
 * message are joined by empty lines: some local servers take only text, or read a list of texts as
 * several messages.
 */
import * as z from 'zod';
import type { ApiError } from '../../errors.js';
import { checkAt, unsupported } from '../check.js';
import type { Path } from '../check.js';
import { isFields } from '../tokens.js';

export type ChatMessage = Readonly<Record<string, unknown>>;

export interface Turn {
  readonly role: Role;
  readonly blocks: Block[];
}

interface Block {
  readonly type: string;
  readonly value: unknown;
  readonly path: Path;
}

/** A part of a chat message. */
type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

const ROLES = ['user', 'assistant', 'system'] as const;
type Role = (typeof ROLES)[number];

const PARAGRAPH = '\n\n';

/** Consecutive messages of one role are one turn, as in that API. */
export function turnsOf(messages: readonly unknown[]): Turn[] {
  const turns: Turn[] = [];
  for (const [index, value] of messages.entries()) {
    const path = ['messages', index];
    const { role, content } = checkAt(message, value, path);
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, blocks: [] };
      turns.push(turn);
    }
    for (const block of blocksOf(content, [...path, 'content'])) turn.blocks.push(block);
  }
  return turns;
}

const message = z.looseObject({ role: z.enum(ROLES), content: z.unknown().optional() });
const list = z.array(z.unknown(), 'it must be text or a list of blocks');
const anyBlock = z.looseObject({ type: z.string() });

function* blocksOf(content: unknown, path: Path): Generator<Block> {
  if (typeof content === 'string') {
    yield { type: 'text', value: { text: content }, path };
    return;
  }
  for (const [index, value] of checkAt(list, content, path).entries()) {
    const at = [...path, index];
    // A schema for each block would take most of the time: it only describes the error.
    const isBlock = isFields(value) && typeof value['type'] === 'string';
    const { type } = isBlock ? (value as { type: string }) : checkAt(anyBlock, value, at);
    yield { type, value, path: at };
  }
}

function requireType(block: Block, allowed: readonly string[]): void {
  if (allowed.includes(block.type)) return;
  const rule = `the gateway takes ${allowed.join(', ')} here; leave the block away`;
  throw unsupported(block.type, [...block.path, 'type'], rule);
}

// System: text alone.

const IN_SYSTEM = ['text'];

/**
 * Claude Code's first block is for its provider's accounts and differs in every request: no server
 * could reuse the prompt behind it.
 */
const BILLING_HEADER = 'x-anthropic-billing-header:';

export function textOfSystem(system: unknown): string[] {
  const blocks = [...blocksOf(system, ['system'])];
  return systemTurn({ role: 'system', blocks }).filter((text) => !text.startsWith(BILLING_HEADER));
}

/** The texts of a turn, without empty ones. */
export function systemTurn({ blocks }: Turn): string[] {
  return blocks.flatMap((block) => {
    requireType(block, IN_SYSTEM);
    return textOf(block) || [];
  });
}

// The assistant: text and tool calls.

const IN_ASSISTANT = [
  'text',
  'tool_use',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'web_search_tool_result',
];

const toolUse = z.looseObject({
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.custom<object>(isFields, 'it must be an object'),
});

export function assistantTurn({ blocks }: Turn): ChatMessage {
  const texts: string[] = [];
  const calls: object[] = [];
  for (const block of blocks) {
    requireType(block, IN_ASSISTANT);
    if (block.type === 'tool_use') calls.push(toolCall(block));
    else if (block.type === 'text') texts.push(textOf(block));
    // What a search found is text; its query is not, and earlier reasoning is not read again.
    else if (block.type === 'web_search_tool_result') texts.push(searchResults(block));
  }
  const content = join(texts);
  if (calls.length === 0) return { role: 'assistant', content };
  return { role: 'assistant', content: content === '' ? null : content, tool_calls: calls };
}

function toolCall({ value, path }: Block): object {
  const { id, name, input } = checkAt(toolUse, value, path);
  const call = { name, arguments: toJson(input, [...path, 'input']) };
  return { id, type: 'function', function: call };
}

function toJson(value: object, path: Path): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw unsupported(value, path, 'it is nested too deep to be passed on; nest it less');
  }
}

const webSearch = z.looseObject({ content: z.unknown().optional() });
const webPage = z.looseObject({ title: z.string(), url: z.string() });

/** The pages' contents are encrypted for that API's provider. */
function searchResults({ value, path }: Block): string {
  const { content } = checkAt(webSearch, value, path);
  if (!Array.isArray(content)) return '';
  return (content as unknown[])
    .map((page, index) => {
      const { title, url } = checkAt(webPage, page, [...path, 'content', index]);
      return `${title}: ${url}`;
    })
    .join('\n');
}

// The user: results of tools, which come first, and then everything else.

const IN_USER = ['text', 'image', 'document', 'search_result', 'tool_result'];
const IN_RESULT = ['text', 'image', 'document', 'search_result', 'tool_reference'];
const IN_DOCUMENT = ['text', 'image'];
const IN_SEARCH_RESULT = ['text'];

/** Stands where an image was, because a tool's message has only text. */
const IMAGE_FOLLOWS = '(An image, see the next message.)';
const FAILED = 'Error: ';

export function userTurn({ blocks }: Turn): readonly ChatMessage[] {
  const results: ChatMessage[] = [];
  const pictures: Part[] = [];
  const said: Part[] = [];
  for (const block of blocks) {
    requireType(block, IN_USER);
    if (block.type === 'tool_result') {
      const { message: result, images } = toolResult(block);
      results.push(result);
      for (const part of images) pictures.push(part);
    } else for (const part of partsOf(block)) said.push(part);
  }
  for (const part of said) pictures.push(part);
  if (pictures.length > 0 || results.length === 0) {
    results.push({ role: 'user', content: contentOf(pictures) });
  }
  return results;
}

const toolResultBlock = z.looseObject({
  tool_use_id: z.string().min(1),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});

interface Result {
  readonly message: ChatMessage;
  /** With a text before them that names the call. */
  readonly images: readonly Part[];
}

function toolResult({ value, path }: Block): Result {
  const { tool_use_id: id, content, is_error: failed } = checkAt(toolResultBlock, value, path);
  const parts = partsIn(content ?? '', [...path, 'content'], IN_RESULT);
  const images = parts.filter(({ type }) => type === 'image_url');
  const texts = parts.map((part) => (part.type === 'text' ? part.text : IMAGE_FOLLOWS));
  const text = (failed === true ? FAILED : '') + join(texts);
  if (images.length > 0) images.unshift({ type: 'text', text: `The result of ${id} shows:` });
  return { message: { role: 'tool', tool_call_id: id, content: text }, images };
}

/** The parts of a content of its own, within another block. */
function partsIn(content: unknown, path: Path, allowed: readonly string[]): Part[] {
  const parts: Part[] = [];
  for (const block of blocksOf(content, path)) {
    requireType(block, allowed);
    for (const part of partsOf(block)) parts.push(part);
  }
  return parts;
}

/** Blocks contain others at most three deep: document, search result or text in a result. */
function partsOf(block: Block): readonly Part[] {
  switch (block.type) {
    case 'image':
      return [image(block)];
    case 'document':
      return documentParts(block);
    case 'search_result':
      return [searchResult(block)];
    case 'tool_reference':
      return [
        { type: 'text', text: `Tool: ${checkAt(reference, block.value, block.path).tool_name}` },
      ];
    default: {
      const text = textOf(block);
      return text === '' ? [] : [{ type: 'text', text }];
    }
  }
}

const reference = z.looseObject({ tool_name: z.string() });
const text = z.looseObject({ text: z.string() });

function textOf({ value, path }: Block): string {
  const isText = isFields(value) && typeof value['text'] === 'string';
  return isText ? (value['text'] as string) : checkAt(text, value, path).text;
}

const imageBlock = z.looseObject({
  source: z.looseObject({
    type: z.string(),
    media_type: z.unknown().optional(),
    data: z.unknown().optional(),
  }),
});
const base64Source = z.looseObject({
  media_type: z.string().regex(/^image\/[\w.+-]{1,64}$/, 'it must be an image type: image/png'),
  data: z.string().min(1),
});

function image({ value, path }: Block): Part {
  const { source } = checkAt(imageBlock, value, path);
  const at = [...path, 'source'];
  if (source.type !== 'base64') throw notSent(source.type, at);
  const { media_type: mediaType, data } = checkAt(base64Source, source, at);
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } };
}

function notSent(type: string, source: Path): ApiError {
  const rule = 'the gateway fetches no URLs and keeps no files here; send it as base64';
  return unsupported(type, [...source, 'type'], rule);
}

const documentBlock = z.looseObject({
  source: z.looseObject({
    type: z.string(),
    data: z.unknown().optional(),
    content: z.unknown().optional(),
  }),
  title: z.string().nullish(),
  context: z.string().nullish(),
});

function documentParts({ value, path }: Block): readonly Part[] {
  const { source, title, context } = checkAt(documentBlock, value, path);
  const at = [...path, 'source'];
  const head = join([title ?? '', context ?? '']);
  const before: Part[] = head === '' ? [] : [{ type: 'text', text: head }];
  if (source.type === 'text') {
    const data = checkAt(z.string(), source.data, [...at, 'data']);
    return [...before, { type: 'text', text: data }];
  }
  if (source.type === 'content') {
    return [...before, ...partsIn(source.content, [...at, 'content'], IN_DOCUMENT)];
  }
  const rule = 'local models read no such documents; send the text, with a source of type text';
  throw unsupported(source.type, [...at, 'type'], rule);
}

const searchResultBlock = z.looseObject({
  title: z.string(),
  source: z.string(),
  content: z.unknown().optional(),
});

function searchResult({ value, path }: Block): Part {
  const { title, source, content } = checkAt(searchResultBlock, value, path);
  const parts = partsIn(content, [...path, 'content'], IN_SEARCH_RESULT);
  return { type: 'text', text: join([`${title}: ${source}`, contentText(parts)]) };
}

/** Text where all parts are text. */
function contentOf(parts: readonly Part[]): string | readonly Part[] {
  return parts.every(({ type }) => type === 'text') ? contentText(parts) : parts;
}

function contentText(parts: readonly Part[]): string {
  return join(parts.flatMap((part) => (part.type === 'text' ? part.text : [])));
}

function join(texts: readonly string[]): string {
  return texts.filter((one) => one !== '').join(PARAGRAPH);
}
