/** Submits and reads jobs and batches as any HTTP client would. */
import type { TestGateway } from '../support/gateway.js';
import { administer, CHAT, chat, post } from './requests.js';
import type { Caller } from './requests.js';

export const JOBS = '/v1/jobs';
export const BATCHES = '/v1/batches';

/** A job as the API shows it; the last five fields are optional. */
export interface JobBody {
  readonly id: string;
  readonly object: string;
  readonly status: string;
  readonly inference_type: string;
  readonly endpoint: string;
  readonly model: string;
  readonly created: number;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly batch_id: string | null;
  readonly error: { message: string; type: string; code: string; param: string | null } | null;
  readonly position?: number | null;
  readonly waiting_reason?: string;
  readonly result_url?: string;
  readonly served_model?: string;
  readonly result?: { readonly model: string; readonly choices: readonly object[] };
  readonly assets?: readonly { id: string; url: string; content_type: string; bytes: number }[];
}

export interface BatchBody {
  readonly id: string;
  readonly object: string;
  readonly label: string | null;
  readonly status: string;
  readonly total: number;
  readonly queued: number;
  readonly processing: number;
  readonly processed: number;
  readonly failed: number;
  readonly canceled: number;
  readonly created: number;
  readonly jobs?: readonly { id: string; status: string; inference_type: string; index: number }[];
}

export interface ListBody<Row> {
  readonly object: string;
  readonly data: readonly Row[];
  readonly has_more: boolean;
}

type Options = Parameters<typeof post>[2];

/** Submits a chat for the model `tiny` as a job. */
export function submit(gateway: Caller, fields: object = {}, options: Options = {}) {
  return post(gateway, chat({ async: true, ...fields }), options);
}

/** The job of an accepted submission. */
export async function submitted(
  gateway: Caller,
  fields: object = {},
  options: Options = {},
): Promise<JobBody> {
  return accepted<JobBody>(await submit(gateway, fields, options));
}

/** The body of a 202. */
export async function accepted<Body>(response: Response): Promise<Body> {
  const body = await response.json();
  if (response.status !== 202) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body as Body;
}

export async function getJson<Body>(gateway: Caller, path: string): Promise<Body> {
  const response = await gateway.fetch(path);
  const body = await response.json();
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body as Body;
}

export function getJob(gateway: Caller, id: string, query = ''): Promise<JobBody> {
  return getJson(gateway, `${JOBS}/${id}${query}`);
}

/** The job once it has ended. */
export async function ended(gateway: Caller, id: string): Promise<JobBody> {
  const job = await getJob(gateway, id, '?wait=20');
  if (job.finished_at === null) throw new Error(`the job is still ${job.status}`);
  return job;
}

export function listJobs(gateway: Caller, query = ''): Promise<ListBody<JobBody>> {
  return getJson(gateway, `${JOBS}${query}`);
}

/** Sends a POST without a body: cancel or retry. */
export function act(gateway: Caller, path: string, headers: Record<string, string> = {}) {
  return gateway.fetch(path, { method: 'POST', headers });
}

/** An item of a batch: a chat for the model `tiny`. */
export function chatItem(fields: object = {}) {
  return { endpoint: CHAT, body: chat(fields) };
}

/** Submits a batch; `fields` are added beside its requests. */
export function submitBatch(
  gateway: Caller,
  requests: readonly unknown[],
  { headers = {}, ...fields }: { headers?: Record<string, string> } & Record<string, unknown> = {},
) {
  return post(gateway, { requests, ...fields }, { path: BATCHES, headers });
}

/** While the queue is paused, every job stays QUEUED. */
export async function pauseQueue(gateway: TestGateway): Promise<void> {
  await administer(gateway, 'queue.pause', {});
}

export async function resumeQueue(gateway: TestGateway): Promise<void> {
  await administer(gateway, 'queue.resume', {});
}

/** Headers of a request with this member's key. */
export function keyOf({ key }: TestGateway['anna']): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
