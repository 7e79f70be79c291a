/** Reads what was posted to a stand-in as the real servers do. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';

export type Fields = Readonly<Record<string, unknown>>;

/** Throws if the body is not JSON; the stand-in then cuts the connection. */
export function jsonOf(request: RecordedRequest | undefined): Record<string, unknown> {
  return JSON.parse(String(request?.body)) as Record<string, unknown>;
}

/** A string field; `otherwise` if it is absent or not a string. */
export function textIn(fields: Fields, name: string, otherwise: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : otherwise;
}

export function formOf(request: RecordedRequest | undefined): Promise<FormData> {
  if (request === undefined) throw new Error('nothing was posted');
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  return new Response(new Uint8Array(request.body), { headers }).formData();
}

/** FastAPI's error for a field: 422 with its location. */
export function refuseField(response: ServerResponse, field: string, message: string): void {
  const detail = [{ type: 'value_error', loc: ['body', field], msg: message, input: null }];
  send(response, 422, { detail });
}

/** The JSON body if the fields are there; null if the request was refused. */
export function required(
  request: RecordedRequest,
  response: ServerResponse,
  names: readonly string[],
): Fields | null {
  const fields = jsonOf(request);
  const missing = names.find((name) => typeof fields[name] !== 'string');
  if (missing === undefined) return fields;
  refuseField(response, missing, 'Field required');
  return null;
}
