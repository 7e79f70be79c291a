/**
 * One music task, from the request to the file's address. The server cannot stop or cancel a task:
 * if the caller leaves, the agent waits for its end, because the card is busy until then.
 */
import { pauseUnless } from '@inference-gateway/shared/program/pause-unless';
import {
  errorDocument,
  errorInSuccess,
  readReportedError,
} from '../../openai-wire/error-document.js';
import { asObject, asObjects, asText, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';
import { forward } from '../forward.js';
import { outlive } from '../run-call.js';
import { readWhole } from '../bytes.js';

export interface AceStepServer {
  readonly root: string;
  readonly apiKey: string | null;
  readonly limits?: AceStepLimits;
}

export interface AceStepLimits {
  readonly taskMs: number;
  readonly unknownMs: number;
}

/** A short piece takes some seconds, a long one minutes: the pauses grow with the elapsed time. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;
const PAUSE_GROWTH = 1.5;
const LIMITS: AceStepLimits = {
  /** The server itself aborts a task after an hour. */
  taskMs: 60 * 60_000,
  /**
   * Limit for answers that do not mention the task: after a restart the server has lost it, and
   * does not say so.
   */
  unknownMs: 60_000,
};
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * The address of the file, or the refusal. Throws a `LocalFailure`, or the signal's abort reason.
 */
export async function runTask(
  server: AceStepServer,
  fields: JsonObject,
  signal: AbortSignal,
): Promise<string | DocumentAnswer> {
  const released = await post(server, '/release_task', { fields, signal });
  if ('kind' in released) return released;
  const id = asText(asObject(released.data)?.['task_id']);
  if (id === null) throw new LocalFailure('LOCAL_ERROR', 'the local server gave no task_id.');
  return outlive(signal, (own) => waitFor(server, id, own));
}

async function waitFor(
  server: AceStepServer,
  id: string,
  signal: AbortSignal,
): Promise<string | DocumentAnswer> {
  const { taskMs, unknownMs } = server.limits ?? LIMITS;
  const begun = performance.now();
  let knownAt = begun;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < begun + taskMs;) {
    await pauseUnless(signal, pauseMs);
    const asked = { fields: { task_id_list: [id] }, signal };
    const answer = await post(server, '/query_result', asked);
    if ('kind' in answer) return answer;
    const task = asObjects(answer.data).find((item) => item['task_id'] === id) ?? {};
    const [result] = asObjects(parseJson(asText(task['result']) ?? ''));
    if (task['status'] === SUCCEEDED) return addressIn(result);
    if (task['status'] === FAILED) return failed(result, task);
    if (result !== undefined) knownAt = performance.now();
    if (performance.now() > knownAt + unknownMs) throw lost();
    pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
  }
  throw new LocalFailure('LOCAL_TIMEOUT', `no music came within ${taskMs / 1_000} s.`);
}

const SUCCEEDED = 1;
const FAILED = 2;

function addressIn(result: JsonObject | undefined): string {
  const file = asText(result?.['file']);
  if (file !== null) return file;
  throw new LocalFailure('LOCAL_ERROR', 'the local server succeeded, but names no file.');
}

function failed(result: JsonObject | undefined, task: JsonObject): DocumentAnswer {
  const said = asText(result?.['error']) ?? asText(task['progress_text']) ?? 'The task failed.';
  return errorDocument(500, JSON.stringify({ error: said }));
}

function lost(): LocalFailure {
  const message = 'the local server knows nothing of the task any more. Was it restarted?';
  return new LocalFailure('LOCAL_ERROR', message);
}

interface Posted {
  readonly fields: JsonObject;
  readonly signal: AbortSignal;
}

/** The content of the wrapped answer. */
interface Unwrapped {
  readonly data: unknown;
}

/** The server sends errors with an error status, or wrapped in a success. */
async function post(
  { root, apiKey }: AceStepServer,
  path: string,
  { fields, signal }: Posted,
): Promise<Unwrapped | DocumentAnswer> {
  const body = JSON.stringify(fields);
  const answer = await forward({ url: root + path, apiKey, body, signal });
  const text = (await readWhole(answer.body, MAX_ANSWER_BYTES)).toString();
  if (answer.status === 404 || (answer.status >= 300 && answer.status < 400)) {
    throw new LocalFailure('LOCAL_ERROR', `the local server answered ${answer.status} to ${path}.`);
  }
  if (answer.status >= 400) return errorDocument(answer.status, text);
  const said = asObject(parseJson(text));
  if (said === null) throw new LocalFailure('LOCAL_ERROR', `its answer to ${path} is no JSON.`);
  const error = readReportedError(said);
  return error === null ? { data: said['data'] } : errorInSuccess(error);
}
