/**
 * Converts a local server's answer, in any form, into the form that the caller requested. The first
 * character of the body shows the form: servers often send wrong content types.
 */
import type { TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { DocumentAnswer, LocalAnswer } from '../backends/backend.js';
import { LocalFailure, LocalRefusal } from '../backends/backend.js';
import { ChunkReader, streamEvents, eventOf } from './stream-events.js';
import { readDocument } from './document.js';
import type { Document } from './document.js';
import { errorDocument, errorInSuccess, readReportedError } from './error-document.js';
import { asObject, parseJson, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';
import { SseParser } from './sse-parser.js';
import type { ByteSource } from './stream-events.js';
import type { AnswerForm } from './answer-form.js';

export interface RawAnswer {
  readonly status: number;
  readonly body: ByteSource;
}

/** The longest answer that is held whole. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;

/** The longest stream that is folded into one answer: each token has a chunk around it. */
const MAX_FOLDED_BYTES = 8 * MAX_DOCUMENT_BYTES;

/** Throws a `LocalFailure` if the answer is invalid, or the errors of reading the body. */
export async function readAnswer(raw: RawAnswer, form: AnswerForm): Promise<LocalAnswer> {
  const { status } = raw;
  if (status >= 400) return errorDocument(status, decode(await readAll(raw.body)));
  if (status < 200 || status >= 300) throw unexpected(`status ${status}, which leads elsewhere`);
  if (!form.stream) return readPlain(raw.body, form);
  const { first, body } = await peek(raw.body);
  if (first === '<') throw unexpected('a page instead of an answer');
  if (first !== '{') {
    const reader = new ChunkReader(form);
    return { kind: 'events', events: streamEvents(body, reader), soFar: () => reader.usage };
  }
  const answer = parseDocument(decode(await readAll(body)));
  const error = readReportedError(answer);
  if (error !== null) return errorInSuccess(error);
  const document = readDocument(answer, form);
  return { kind: 'events', events: documentEvents(document, form), soFar: () => document.usage };
}

/** The first letter of `data:`, `event:`, `id:`, `retry:`, `error:` or a comment. */
const STREAM_START = /[deir:]/;

async function readPlain(source: ByteSource, form: AnswerForm): Promise<LocalAnswer> {
  const { first, body } = await peek(source);
  const read = STREAM_START.test(first)
    ? await fold(body, form)
    : readJson(decode(await readAll(body)), form);
  if ('kind' in read) return read;
  const json = JSON.stringify(read.json);
  if (json.length > MAX_DOCUMENT_BYTES) throw unexpected(`more than ${MAX_DOCUMENT_BYTES} bytes`);
  return { kind: 'document', status: 200, json, usage: read.usage };
}

function readJson(text: string, form: AnswerForm): Document | DocumentAnswer {
  const answer = parseDocument(text);
  const error = readReportedError(answer);
  return error === null ? readDocument(answer, form) : errorInSuccess(error);
}

/** A stream that answers a plain request, or the error that it contains. */
async function fold(source: ByteSource, form: AnswerForm): Promise<Document | DocumentAnswer> {
  const parser = new SseParser();
  // The document always contains the usage.
  const reader = new ChunkReader({ ...form, usage: true });
  const collector = new ChunkCollector();
  const collect = (chunk: JsonObject | null): void => {
    if (chunk !== null) collector.add(chunk);
  };
  let bytes = 0;
  try {
    for await (const piece of source) {
      bytes += piece.length;
      if (bytes > MAX_FOLDED_BYTES) throw unexpected(`more than ${MAX_FOLDED_BYTES} bytes`);
      for (const event of parser.push(piece)) collect(reader.read(event));
      if (reader.done) break;
    }
    if (reader.done) source.finished();
    for (const event of parser.end()) collect(reader.read(event));
    for (const chunk of reader.finish()) collect(chunk);
  } catch (error) {
    if (error instanceof LocalRefusal) return error.answer;
    throw error;
  }
  const { names: _checked, ...plain } = form;
  return readDocument(collector.answer, plain);
}

function parseDocument(text: string): JsonObject {
  const answer = asObject(parseJson(text));
  if (answer === null) throw unexpected('something that is neither JSON nor an event stream');
  return answer;
}

async function readAll(body: ByteSource): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_DOCUMENT_BYTES) throw unexpected(`more than ${MAX_DOCUMENT_BYTES} bytes`);
    pieces.push(piece);
  }
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}

const UTF8 = new TextDecoder();

/** Without the byte order mark that some servers on Windows write. */
function decode(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

function unexpected(what: string): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `the local server answered ${what}.`);
}

// Folds a stream into one document, for local servers that always stream, and for those that are
// asked to stream so that they notice when the caller leaves. The document equals the answer to a
// plain call.

/** Collects chunks that a `ChunkReader` has cleaned. */
class ChunkCollector {
  #frame: JsonObject = {};
  readonly #choices = new Map<unknown, JsonObject>();

  add(chunk: JsonObject): void {
    const { choices, usage, ...frame } = chunk;
    // Every chunk repeats the same few fields.
    Object.assign(this.#frame, frame);
    const counts = asObject(usage);
    if (counts !== null) this.#frame['usage'] = { ...asObject(this.#frame['usage']), ...counts };
    for (const choice of asObjects(choices)) this.#choice(choice);
  }

  /** The answer so far; `readDocument` completes its form. */
  get answer(): JsonObject {
    return { ...this.#frame, choices: [...this.#choices.values()] };
  }

  #choice(read: JsonObject): void {
    const { index, delta, text, finish_reason: ending, logprobs, ...rest } = read;
    const choice = this.#choices.get(index) ?? { index, finish_reason: null };
    this.#choices.set(index, choice);
    Object.assign(choice, rest);
    choice['finish_reason'] = ending ?? choice['finish_reason'];
    if (typeof text === 'string') append(choice, 'text', text);
    if (logprobs !== undefined) choice['logprobs'] = withLogprobs(choice['logprobs'], logprobs);
    const piece = asObject(delta);
    if (piece !== null) choice['message'] = withDelta(asObject(choice['message']) ?? {}, piece);
  }
}

/**
 * Each chunk has lists with the values of its own tokens: `content`, or `tokens` and similar ones.
 */
function withLogprobs(before: unknown, piece: unknown): unknown {
  const [known, added] = [asObject(before), asObject(piece)];
  if (known === null || added === null) return added ?? before ?? null;
  for (const [key, value] of Object.entries(added)) {
    const list = known[key];
    if (Array.isArray(list) && Array.isArray(value)) for (const one of value) list.push(one);
    else known[key] = value ?? list;
  }
  return known;
}

/** Fields whose pieces are concatenated; of other fields the last value counts. */
const JOINED: ReadonlySet<string> = new Set([
  'content',
  'reasoning',
  'reasoning_content',
  'refusal',
]);

function withDelta(message: JsonObject, delta: JsonObject): JsonObject {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'tool_calls') message[key] = withToolCalls(asObjects(message[key]), value);
    else if (JOINED.has(key) && typeof value === 'string') append(message, key, value);
    else message[key] ??= value;
  }
  // OpenAI's form if the model only calls tools.
  if (message['content'] === '' && 'tool_calls' in message) message['content'] = null;
  return message;
}

/** Merges pieces of tool calls by their index, which a document does not contain. */
function withToolCalls(calls: JsonObject[], pieces: unknown): JsonObject[] {
  for (const { index, ...piece } of asObjects(pieces)) {
    const position = typeof index === 'number' && index < calls.length ? index : calls.length;
    const call = calls[position] ?? {};
    calls[position] = call;
    const { function: called, ...rest } = piece;
    for (const [key, value] of Object.entries(rest)) call[key] = asText(value) ?? call[key];
    const target = asObject(call['function']) ?? { name: '', arguments: '' };
    const { name, arguments: text } = asObject(called) ?? {};
    target['name'] = asText(name) ?? target['name'];
    if (typeof text === 'string') append(target, 'arguments', text);
    call['function'] = target;
  }
  return calls;
}

function append(target: JsonObject, key: string, text: string): void {
  const before = target[key];
  target[key] = typeof before === 'string' ? before + text : text;
}

// Converts a whole answer into a stream, for local servers that always answer JSON (GPT4All).

/** The longest text of one chunk: readers of the stream limit their lines. */
const MAX_PIECE_CHARACTERS = 64 * 1024;

/** `document` is already in clean form. */
async function* documentEvents(
  document: Document,
  form: AnswerForm,
): AsyncGenerator<string, TokenUsage | null, void> {
  const { choices, usage, ...rest } = document.json;
  const frame = { ...rest, object: form.wire.chunk };
  for (const choice of asObjects(choices)) {
    const { index, logprobs: all = null } = choice;
    const told = form.wire.choice === 'message' ? chatPieces(choice) : textPieces(choice);
    // Clients add them up, so they are sent once.
    const bearer = told.find(isText) ?? told.at(-1);
    for (const piece of told) {
      const logprobs = piece === bearer ? all : null;
      yield eventOf({ ...frame, choices: [{ index, logprobs, finish_reason: null, ...piece }] });
    }
  }
  if (form.usage) yield eventOf({ ...frame, choices: [], usage });
  return document.usage;
}

function chatPieces(choice: JsonObject): JsonObject[] {
  const message = asObject(choice['message']) ?? {};
  const {
    role,
    content,
    reasoning,
    reasoning_content: usual,
    tool_calls: calls,
    ...rest
  } = message;
  const deltas: JsonObject[] = [{ role, content: '', ...rest }];
  for (const part of pieces(reasoning)) deltas.push({ reasoning: part });
  for (const part of pieces(usual)) deltas.push({ reasoning_content: part });
  for (const part of pieces(content)) deltas.push({ content: part });
  const toolCalls = asObjects(calls).map((call, index) => ({ ...call, index }));
  if (toolCalls.length > 0) deltas.push({ tool_calls: toolCalls });
  const last = { delta: {}, finish_reason: choice['finish_reason'] };
  return [...deltas.map((delta) => ({ delta })), last];
}

function textPieces(choice: JsonObject): JsonObject[] {
  const last = { text: '', finish_reason: choice['finish_reason'] };
  return [...pieces(choice['text']).map((text) => ({ text })), last];
}

function isText({ text, delta }: JsonObject): boolean {
  return asText(text ?? asObject(delta)?.['content']) !== null;
}

/** Cuts between characters, never inside a surrogate pair. */
function pieces(value: unknown): string[] {
  const text = asText(value) ?? '';
  const cut: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_PIECE_CHARACTERS, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    cut.push(text.slice(start, end));
    start = end;
  }
  return cut;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

// Reads the beginning of a body without consuming it.

interface Peeked {
  /** The first character that is not white space, or an empty string if there is none. */
  readonly first: string;
  /** The whole body, from its first byte. */
  readonly body: ByteSource;
}

/** After this much white space the search for the first character stops. */
const MAX_BLANK_BYTES = 64 * 1024;

async function peek(source: ByteSource): Promise<Peeked> {
  const iterator = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let first = '';
  let blankBytes = 0;
  while (first === '' && blankBytes < MAX_BLANK_BYTES) {
    const read = await iterator.next();
    if (read.done === true) break;
    seen.push(read.value);
    first = firstCharacter(read.value);
    blankBytes += read.value.length;
  }
  return { first, body: new PeekedBody(seen, iterator, source) };
}

/** A body whose beginning was read, from its first byte. */
class PeekedBody implements ByteSource, AsyncIterator<Uint8Array> {
  readonly #seen: Uint8Array[];
  readonly #rest: AsyncIterator<Uint8Array>;
  readonly #source: ByteSource;

  constructor(seen: Uint8Array[], rest: AsyncIterator<Uint8Array>, source: ByteSource) {
    this.#seen = seen;
    this.#rest = rest;
    this.#source = source;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#seen.shift();
    return value === undefined ? this.#rest.next() : Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    return this.#rest.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this;
  }

  finished(): void {
    this.#source.finished();
  }
}

/** The characters that distinguish the forms are ASCII; a byte order mark is skipped. */
function firstCharacter(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024))
    .toString('latin1')
    .replace(/^[\s\u00bb\u00bf\u00ef]+/, '')
    .charAt(0);
}
