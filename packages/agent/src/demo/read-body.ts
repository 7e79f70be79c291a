/** Request bodies of the demo server, which come from the agent beside it. */
import type { IncomingMessage } from 'node:http';
import { asObject, parseJson } from '../openai-wire/json.js';
import type { JsonObject } from '../openai-wire/json.js';
import { DemoRefusal } from './refusal.js';

/** What a coordinator lets through by default, and room for the form around a file. */
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

/** The text of a field; null where it is absent, empty or a file. */
export function textField(form: FormData, name: string): string | null {
  const value = form.get(name);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Clients write lists as `image` and as `image[]`. */
export function listField(form: FormData, name: string): (string | File)[] {
  return [...form.getAll(name), ...form.getAll(`${name}[]`)];
}

/**
 * A body beyond the limit is read to its end all the same, without being kept: a client that is
 * still sending would meet a reset instead of the answer. Node gives each request 5 minutes.
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
