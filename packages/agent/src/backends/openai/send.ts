/** One media request to a server that speaks OpenAI's API, and its answer. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { extensionOf } from '@inference-gateway/shared/media/types';
import { writeSparse, RawJson } from '@inference-gateway/shared/json/sparse';
import type { AudioConverter } from '../../media/audio-converter.js';
import { errorDocument } from '../../openai-wire/error-document.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalCall, LocalUpload } from '../backend.js';
import { forward } from '../forward.js';
import { serverRoot } from '../probe.js';
import type { ForwardedAnswer } from '../forward.js';
import { multipartForm } from '../multipart.js';
import type { FormBody, FormFile } from '../multipart.js';
import { forwardToEnd } from '../run-call.js';
import { readWhole } from '../bytes.js';
import type { CallTarget } from '../run-call.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import type { JsonObject } from '../../openai-wire/json.js';

export interface MediaTarget extends CallTarget {
  readonly converter: AudioConverter;
}

/** A few pictures of 4,096 pixels a side in base64. */
export const MAX_DOCUMENT_BYTES = 96 * 1024 * 1024;

/** The caller's fields with the server's own model name. */
export function fieldsOf(call: LocalCall): Record<string, unknown> {
  return { ...call.body, model: call.model.served_name };
}

/** The fields may be a caller's, with any name: the code derives nothing from them. */
export function sendJson(
  target: CallTarget,
  call: LocalCall,
  fields: Readonly<Record<string, unknown>>,
): Promise<ForwardedAnswer> {
  return send(target, call, writeSparse(shaped(target, call, fields)));
}

/** Sends the fields as a form, with every file of the call under the name from `nameOf`. */
export function sendForm(
  target: CallTarget,
  call: LocalCall,
  { fields, nameOf }: FormOrder,
): Promise<ForwardedAnswer> {
  const files = call.uploads.map((upload) => formFile(upload, nameOf?.(upload) ?? upload.name));
  return send(target, call, multipartForm(formFields(shaped(target, call, fields)), files));
}

interface FormOrder {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly nameOf?: (upload: LocalUpload) => string;
}

/** In the server's form; fields that the owner drops stay dropped under the server's names too. */
function shaped(
  target: CallTarget,
  call: LocalCall,
  fields: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { dropFields, dialect } = target;
  const kept = withoutFields(fields, dropFields);
  return withoutFields(dialect?.shape?.(kept, call) ?? kept, dropFields);
}

async function send(
  target: CallTarget,
  call: LocalCall,
  body: Buffer | FormBody,
): Promise<ForwardedAnswer> {
  const { baseUrl, apiKey } = target;
  const { path, kind } = ENDPOINTS[call.endpoint];
  call.signal.throwIfAborted();
  const isLasting = target.dialect?.outlives?.includes(kind) === true;
  const ask = isLasting ? forwardToEnd : forward;
  const own = target.dialect?.rootPaths?.[kind];
  const url = own === undefined ? baseUrl + path : serverRoot(baseUrl) + own;
  const answer = await ask({ url, apiKey, body, signal: call.signal });
  if (answer.status < 300 || answer.status >= 400) return answer;
  answer.body.abandon();
  const what = `status ${answer.status}, which leads elsewhere`;
  throw new LocalFailure('LOCAL_ERROR', `the local server answered ${what}.`);
}

export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const bytes = await readWhole(body, MAX_DOCUMENT_BYTES);
  // Without the byte order mark that some servers on Windows write.
  return new TextDecoder().decode(bytes);
}

/** Throws a `LocalFailure` for a 404: the owner must learn what the server lacks. */
export async function readError(
  { endpoint }: LocalCall,
  { status, body }: ForwardedAnswer,
): Promise<DocumentAnswer> {
  const document = errorDocument(status, await readText(body));
  if (status !== 404) return document;
  const { path } = ENDPOINTS[endpoint];
  const { message } = (JSON.parse(document.json) as { error: { message: string } }).error;
  throw new LocalFailure('LOCAL_ERROR', `the local server answered 404 to ${path}: ${message}`);
}

/** Servers detect formats by the file extension; the caller's file name is never used. */
function formFile(upload: LocalUpload, name: string): FormFile {
  const filename = `${upload.name}.${extensionOf(upload.contentType)}`;
  const { contentType, bytes } = upload;
  return { name, filename, contentType, bytes, read: () => upload.read() };
}

// A JSON body as the fields of a form.

/** Lists become `name[]`, as OpenAI's clients write them; null is left out. */
function formFields(body: Readonly<JsonObject>): (readonly [string, string])[] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) return [[name, asField(value)]];
    return value.map((item): [string, string] => [`${name}[]`, asField(item)]);
  });
}

function asField(value: unknown): string {
  if (value instanceof RawJson) return Buffer.from(value.bytes).toString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
