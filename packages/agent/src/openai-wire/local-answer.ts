/**
 * A local server's answer, whatever its form, as what the caller asked for. Forms are told apart
 * by the first character of the body: content types in the field are often wrong.
 */
import type { LocalAnswer } from '../backends/backend.js';
import { LocalFailure } from '../backends/backend.js';
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

/** Throws a `LocalFailure` where the answer makes no sense, or whatever reading the body throws. */
export async function readAnswer(raw: RawAnswer, wish: Wish): Promise<LocalAnswer> {
  const { status } = raw;
  if (status >= 400) return errorDocument(status, decode(await readAll(raw.body)));
  if (status < 200 || status >= 300) throw unexpected(`status ${status}, which leads elsewhere`);
  if (!wish.stream) return readWhole(await readAll(raw.body), wish);
  const { first, body } = await peek(raw.body);
  if (first === '<') throw unexpected('a page instead of an answer');
  if (first !== '{') return { kind: 'events', events: streamEvents(body, wish) };
  const answer = parseDocument(decode(await readAll(body)));
  const error = readReportedError(answer);
  if (error !== null) return errorInSuccess(error);
  return { kind: 'events', events: documentEvents(readDocument(answer, wish), wish) };
}

function readWhole(bytes: Buffer, wish: Wish): LocalAnswer {
  const text = decode(bytes);
  const isStream = /^\s*(?:data|event|id|retry|error)?:/.test(text);
  const answer = isStream ? null : parseDocument(text);
  const error = readReportedError(answer);
  if (error !== null) return errorInSuccess(error);
  const { json, usage } = answer === null ? collect(bytes, wish) : readDocument(answer, wish);
  return { kind: 'document', status: 200, json: JSON.stringify(json), usage };
}

/** A stream that answers a plain request. */
function collect(bytes: Buffer, wish: Wish): Document {
  const parser = new SseParser();
  const reader = new ChunkReader(wish);
  const collector = new ChunkCollector();
  for (const event of [...parser.push(bytes), ...parser.end()]) {
    const chunk = reader.read(event);
    if (chunk !== null) collector.add(chunk);
  }
  reader.finish();
  return readDocument({ ...collector.answer, usage: reader.usage }, wish);
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
