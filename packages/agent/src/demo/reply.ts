/** One answer of the demo server. */
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../openai-wire/json.js';
import { asObject, parseJson } from '../openai-wire/json.js';

export interface DemoReply {
  readonly status: number;
  readonly contentType: string;
  /** Null if the length is unknown in advance. */
  readonly bytes: number | null;
  /** Sent piece by piece, at the caller's pace. */
  readonly body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

export function jsonReply(document: JsonObject, status = 200): DemoReply {
  return { ...textReply(JSON.stringify(document), 'application/json'), status };
}

export function textReply(text: string, contentType: string): DemoReply {
  return { status: 200, contentType, bytes: Buffer.byteLength(text), body: [text] };
}

// Request bodies of the demo server; the agent on this machine sends them.

/** A coordinator's default limit, plus room for the form around a file. */
const MAX_BODY_MB = 32;

const MAX_BODY_BYTES = MAX_BODY_MB * 2 ** 20;

export async function readJson(request: IncomingMessage): Promise<JsonObject> {
  const body = asObject(parseJson((await readBytes(request)).toString()));
  if (body === null) throw new DemoRefusal(400, 'The body is not a JSON object.');
  return body;
}

export async function readForm(request: IncomingMessage): Promise<FormData> {
  const bytes = await readBytes(request);
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return new Response(bytes, { headers }).formData().catch(() => {
    throw new DemoRefusal(400, 'The body is not a multipart form.');
  });
}

/** The text of a field; null if it is absent, empty or a file. */
export function textField(form: FormData, name: string): string | null {
  const value = form.get(name);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Clients name lists `image` or `image[]`. */
export function listField(form: FormData, name: string): (string | File)[] {
  return [...form.getAll(name), ...form.getAll(`${name}[]`)];
}

/**
 * Reads a body beyond the limit to its end without keeping it: a client that is still sending would
 * see a reset instead of the answer. Node gives each request 5 minutes.
 */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (bytes <= MAX_BODY_BYTES) return Buffer.concat(chunks);
  throw new DemoRefusal(413, `The body has ${bytes} bytes: send at most ${MAX_BODY_MB} MiB.`);
}

/** A refusal of the demo server, which its request handler writes in OpenAI's form. */
export class DemoRefusal extends Error {
  readonly status: 400 | 404 | 413;
  /** The faulty request field. */
  readonly param: string | null;

  constructor(status: DemoRefusal['status'], message: string, param: string | null = null) {
    super(message);
    this.name = 'DemoRefusal';
    this.status = status;
    this.param = param;
  }

  get body(): JsonObject {
    const { message, param } = this;
    return { error: { message, type: 'invalid_request_error', code: null, param } };
  }
}
