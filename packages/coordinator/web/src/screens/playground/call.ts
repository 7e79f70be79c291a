/** A request to the API, as the page sends it and as the code drawer shows it. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { readFault } from '../../api/fault.js';
import { CONSOLE, jsonInit, send } from '../../api/request.js';
import { noteRate } from './rate.js';

export interface ApiRequest {
  readonly endpoint: EndpointKey;
  /** The JSON body; the fields of the form if there are files. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly files?: readonly RequestFile[];
}

export interface RequestFile {
  /** Name of the form field: `image`. */
  readonly field: string;
  readonly name: string;
  readonly content: Blob;
}

/** Throws a `Fault` if the answer is not OK, and an `AbortError` if `signal` is aborted. */
export async function call(request: ApiRequest, signal?: AbortSignal): Promise<Response> {
  return answered(
    await send(`${CONSOLE}${ENDPOINTS[request.endpoint].path}`, initOf(request, signal)),
  );
}

/** Sends a GET, and stores the rate limit of the answer. Throws a `Fault`. */
export async function read<T>(path: string): Promise<T> {
  return (await (await answered(await send(`${CONSOLE}${path}`))).json()) as T;
}

/** Queues the request as a job. Resolves to the job's id; throws a `Fault`. */
export async function submitJob(request: ApiRequest): Promise<string> {
  const response = await call(asJob(request));
  return ((await response.json()) as { readonly id: string }).id;
}

/** The same request, to be queued instead of answered at once. */
export function asJob(request: ApiRequest): ApiRequest {
  return { ...request, body: { ...request.body, async: true } };
}

async function answered(response: Response): Promise<Response> {
  noteRate(response.headers);
  if (response.ok) return response;
  throw await readFault(response);
}

function initOf({ body, files = [] }: ApiRequest, signal?: AbortSignal): RequestInit {
  if (files.length === 0) return jsonInit(body, signal);
  return { method: 'POST', body: formOf(body, files), ...(signal !== undefined && { signal }) };
}

/** A list becomes several fields of one name, as OpenAI's clients send it. */
export function formOf(body: ApiRequest['body'], files: readonly RequestFile[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (Array.isArray(value)) for (const one of value) form.append(`${name}[]`, String(one));
    else form.append(name, String(value));
  }
  for (const { field, name, content } of files) form.append(field, content, name);
  return form;
}
