/**
 * A local server's answer, whatever its form, as what the caller asked for. Forms are told apart
 * by the first character of the body: content types in the field are often wrong.
 */
import type { DocumentAnswer, LocalAnswer } from '../backends/backend.js';
import { LocalFailure, LocalRefusal } from '../backends/backend.js';
import { ChunkCollector } from './chunk-collector.js';
import { ChunkReader } from './chunk-reader.js';
import { documentEvents } from './document-events.js';
import { readDocument } from './document.js';
import type { Document } from './document.js';
import { errorDocument, errorInSuccess } from './error-document.js';
import { asObject, parseJson } from './json.js';
import type { JsonObject } from './json.js';
import { peek } from './peek.js';
import { readReportedError } from './reported-error.js';
import { SseParser } from './sse-parser.js';
import { streamEvents } from './stream-events.js';
import type { ByteSource } from './stream-events.js';
import type { Wish } from './wish.js';

export interface RawAnswer {
  readonly status: number;
  readonly body: ByteSource;
}

/** The longest answer that is held whole. */
const MAX_DOCUMENT_BYTES = 32 * 1024 * 1024;
/** The longest stream that is folded into one: around each token is a chunk's frame. */
const MAX_FOLDED_BYTES = 8 * MAX_DOCUMENT_BYTES;

/** Throws a `LocalFailure` where the answer makes no sense, or whatever reading the body throws. */
export async function readAnswer(raw: RawAnswer, wish: Wish): Promise<LocalAnswer> {
  const { status } = raw;
  if (status >= 400) return errorDocument(status, decode(await readAll(raw.body)));
  if (status < 200 || status >= 300) throw unexpected(`status ${status}, which leads elsewhere`);
  if (!wish.stream) return readPlain(raw.body, wish);
  const { first, body } = await peek(raw.body);
  if (first === '<') throw unexpected('a page instead of an answer');
  if (first !== '{') {
    const reader = new ChunkReader(wish);
    return { kind: 'events', events: streamEvents(body, reader), soFar: () => reader.usage };
  }
  const answer = parseDocument(decode(await readAll(body)));
  const error = readReportedError(answer);
  if (error !== null) return errorInSuccess(error);
  const document = readDocument(answer, wish);
  return { kind: 'events', events: documentEvents(document, wish), soFar: () => document.usage };
}

/** Of `data:`, `event:`, `id:`, `retry:`, `error:` and a comment. */
const STREAM_START = /[deir:]/;

async function readPlain(source: ByteSource, wish: Wish): Promise<LocalAnswer> {
  const { first, body } = await peek(source);
  const read = STREAM_START.test(first)
    ? await fold(body, wish)
    : readJson(decode(await readAll(body)), wish);
  if ('kind' in read) return read;
  const json = JSON.stringify(read.json);
  if (json.length > MAX_DOCUMENT_BYTES) throw unexpected(`more than ${MAX_DOCUMENT_BYTES} bytes`);
  return { kind: 'document', status: 200, json, usage: read.usage };
}

function readJson(text: string, wish: Wish): Document | DocumentAnswer {
  const answer = parseDocument(text);
  const error = readReportedError(answer);
  return error === null ? readDocument(answer, wish) : errorInSuccess(error);
}

/** A stream that answers a plain request, or what it says instead of an answer. */
async function fold(source: ByteSource, wish: Wish): Promise<Document | DocumentAnswer> {
  const parser = new SseParser();
  // The document has the usage whoever asked.
  const reader = new ChunkReader({ ...wish, usage: true });
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
  const { names: _checked, ...form } = wish;
  return readDocument(collector.answer, form);
}

function parseDocument(text: string): JsonObject {
  const answer = asObject(parseJson(text));
  if (answer === null) throw unexpected('something that is neither JSON nor an event stream');
  return answer;
}

async function readAll(body: ByteSource): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_DOCUMENT_BYTES) throw unexpected(`more than ${MAX_DOCUMENT_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Without the byte order mark that some servers on Windows write. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes);
}

function unexpected(what: string): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `the local server answered ${what}.`);
}
