/** Runs one graph, from its submission to its result. */
import { randomUUID } from 'node:crypto';
import { pauseUnless } from '@inference-gateway/shared/program/pause-unless';
import { setTimeout as pause } from 'node:timers/promises';
import { asObject, asText, parseJson, asObjects } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { errorDocument, withoutPaths } from '../../openai-wire/error-document.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';
import { connectionFailure, forward } from '../forward.js';
import { readWhole } from '../bytes.js';
import { askComfy, orderComfy } from './comfy-server.js';
import type { ComfyServer } from './comfy-server.js';

/** ComfyUI checks a graph before it answers, and may be busy computing. */
const SUBMIT_TIMEOUT_MS = 60_000;

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The poll interval is a tenth of the time that has passed, within these limits. */
const FIRST_POLL_MS = 100;

const LONGEST_POLL_MS = 1_000;

/**
 * After this many polls without a result the agent checks whether the job is still in the queue.
 */
const LOOKS_PER_QUEUE_LOOK = 8;

/** Maximum number of consecutive polls without an answer. */
const MAX_LOST_LOOKS = 5;

const MAX_RUN_MS = 24 * 60 * 60_000;

/** Throws a `LocalFailure`, or, once the card is free, the signal's abort reason. */
export async function runPrompt(
  server: ComfyServer,
  graph: JsonObject,
  signal: AbortSignal,
): Promise<Made | DocumentAnswer> {
  signal.throwIfAborted();
  const submitted = await submit(server, graph);
  if (typeof submitted !== 'string') return submitted;
  try {
    return readOutcome(await ended(server, submitted, signal));
  } catch (error) {
    // An abandoned job would continue to run beside its next attempt; for a finished job this costs
    // one query.
    await takeBack(server, submitted);
    throw error;
  } finally {
    // Removes callers' prompts from the owner's history.
    await orderComfy(server, '/history', { delete: [submitted] });
    signal.throwIfAborted();
  }
}

/** Ignores the caller's signal: to cancel a queued job the agent must know its id. */
async function submit(server: ComfyServer, graph: JsonObject): Promise<string | DocumentAnswer> {
  const promptId = randomUUID();
  const body = JSON.stringify({ prompt: graph, client_id: CLIENT_ID, prompt_id: promptId });
  const { root: url, apiKey } = server;
  const signal = AbortSignal.timeout(SUBMIT_TIMEOUT_MS);
  try {
    const answer = await forward({ url: `${url}/prompt`, apiKey, body, signal });
    const text = (await readWhole(answer.body, MAX_ANSWER_BYTES)).toString();
    if (answer.status >= 400) return readRefusal(answer.status, text);
    // Older versions assign their own id.
    return asText(asObject(parseJson(text))?.['prompt_id']) ?? promptId;
  } catch (error) {
    const failure = connectionFailure(error);
    // The job may be queued nevertheless, under the id of the request.
    if (failure.code !== 'LOCAL_UNREACHABLE') await takeBack(server, promptId);
    throw failure;
  }
}

const CLIENT_ID = `gateway-${randomUUID()}`;

/** The job's entry in the history, which exists once the job has ended. */
async function ended(
  server: ComfyServer,
  promptId: string,
  signal: AbortSignal,
): Promise<JsonObject> {
  const began = performance.now();
  let lost = 0;
  for (let look = 1; performance.now() - began < MAX_RUN_MS; look++) {
    await pauseUnless(signal, pauseAfter(performance.now() - began));
    const isThorough = look % LOOKS_PER_QUEUE_LOOK === 0;
    const seen = await lookUp(server, { promptId, isThorough }, signal).catch(told);
    if (!(seen instanceof LocalFailure)) lost = 0;
    else if (++lost > MAX_LOST_LOOKS || seen.code === 'LOCAL_UNREACHABLE') throw seen;
    else continue;
    if (seen === 'gone') throw dropped();
    if (seen !== null) return seen;
  }
  throw new LocalFailure('LOCAL_TIMEOUT', `ComfyUI was at it for ${MAX_RUN_MS / 3_600_000} h.`);
}

function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(tookMs / 10, FIRST_POLL_MS), LONGEST_POLL_MS);
}

interface Look {
  readonly promptId: string;
  readonly isThorough: boolean;
}

/** Null while the job has not ended. */
async function lookUp(
  server: ComfyServer,
  { promptId, isThorough }: Look,
  signal: AbortSignal,
): Promise<JsonObject | 'gone' | null> {
  // Queries the queue first, so that a job that ends in between is found in the history.
  const place = isThorough ? await placeOf(server, promptId, signal) : null;
  const history = await askComfy(server, `/history/${promptId}`, signal);
  const entry = asObject(history[promptId]);
  return entry === null && place === 'gone' ? 'gone' : entry;
}

function told(error: unknown): LocalFailure {
  if (error instanceof LocalFailure) return error;
  throw error;
}

function dropped(): LocalFailure {
  const message = 'ComfyUI no longer knows the job: it was restarted, or its owner removed it.';
  return new LocalFailure('LOCAL_ERROR', message);
}

// ComfyUI's error for a refused graph, and its result of an ended job. Its messages list the
// owner's files, so only parts of them are passed on.
export interface Made {
  readonly kind: 'made';
  /** The outputs by node number. */
  readonly outputs: JsonObject;
}

/** `{error: {type, message, details}, node_errors}`. */
function readRefusal(status: number, text: string): DocumentAnswer {
  const told = asObject(parseJson(text));
  const error = asObject(told?.['error']);
  if (error === null) return errorDocument(status, text);
  const faults = Object.entries(asObject(told?.['node_errors']) ?? {}).flatMap(nodeFaults);
  if (faults.length === 0) return document(500, asText(error['message']) ?? 'It said nothing.');
  // A number out of range is the caller's fault; anything else, such as a missing file, the
  // owner's.
  const isCallers = faults.every(({ type }) => RANGE_FAULTS.has(type));
  return document(isCallers ? 400 : 500, faults.map(({ message }) => message).join(' '));
}

/** Throws a `LocalFailure` if the owner interrupted it. */
function readOutcome(entry: JsonObject): Made | DocumentAnswer {
  const { status_str: status, messages } = asObject(entry['status']) ?? {};
  if (status !== 'error') return { kind: 'made', outputs: asObject(entry['outputs']) ?? {} };
  const told = new Map(Array.isArray(messages) ? messages.flatMap(readMessage) : []);
  if (told.has('execution_interrupted')) {
    throw new LocalFailure('LOCAL_ERROR', 'the job was interrupted on its own machine.');
  }
  const { node_id: id, node_type: type, exception_message: said } = told.get(FAILED) ?? {};
  const where = nodeName(asText(id) ?? '?', type);
  return document(500, `${where} failed: ${withoutPaths(asText(said) ?? 'it did not say why')}`);
}

const FAILED = 'execution_error';

const RANGE_FAULTS: ReadonlySet<string> = new Set([
  'value_smaller_than_min',
  'value_bigger_than_max',
]);

interface Fault {
  readonly type: string;
  readonly message: string;
}

/** Without the details, which list the available files. */
function nodeFaults([id, node]: readonly [string, unknown]): Fault[] {
  const { class_type: type, errors } = asObject(node) ?? {};
  return asObjects(errors).map((error) => {
    const input = asText(asObject(error['extra_info'])?.['input_name']);
    const place = input === null ? '' : ` (${input})`;
    const said = withoutPaths(asText(error['message']) ?? 'not valid');
    return {
      type: asText(error['type']) ?? '',
      message: `${nodeName(id, type)}: ${said}${place}.`,
    };
  });
}

function nodeName(id: string, type: unknown): string {
  return `node ${id} (${asText(type) ?? 'unknown'}) of the workflow`;
}

function readMessage(message: unknown): [string, JsonObject][] {
  if (!Array.isArray(message)) return [];
  const [name, facts] = message as unknown[];
  return typeof name === 'string' ? [[name, asObject(facts) ?? {}]] : [];
}

function document(status: number, message: string): DocumentAnswer {
  return errorDocument(status, JSON.stringify({ error: message }));
}

// An abandoned job. ComfyUI continues to compute after a connection closes, so the agent removes
// the job from the queue, or interrupts it if it is running, and waits for its end: until then the
// card is busy.

type Place = 'running' | 'pending' | 'gone';

const LOOK_MS = 250;

/** The agent stops waiting for an abandoned job after this time. */
const WIND_DOWN_MS = 10 * 60_000;

/** Does not throw. */
async function takeBack(server: ComfyServer, promptId: string): Promise<void> {
  const end = performance.now() + WIND_DOWN_MS;
  while (performance.now() < end) {
    const place = await lastPlace(server, promptId);
    if (place === 'gone') return;
    if (place === 'pending') await orderComfy(server, '/queue', { delete: [promptId] });
    // ComfyUI before 0.3.57 ignores `prompt_id` and interrupts any running job: hence the check
    // first.
    if (place === 'running') await orderComfy(server, '/interrupt', { prompt_id: promptId });
    await pause(LOOK_MS);
  }
}

/** Throws a `LocalFailure`. */
async function placeOf(server: ComfyServer, promptId: string, signal: AbortSignal): Promise<Place> {
  const { queue_running: running, queue_pending: pending } = await askComfy(
    server,
    '/queue',
    signal,
  );
  if (holds(running, promptId)) return 'running';
  return holds(pending, promptId) ? 'pending' : 'gone';
}

const NEVER = new AbortController().signal;

/** Null if it is unknown. If the server is gone, so are its jobs. */
async function lastPlace(server: ComfyServer, promptId: string): Promise<Place | null> {
  try {
    return await placeOf(server, promptId, NEVER);
  } catch (error) {
    const isDown = error instanceof LocalFailure && error.code === 'LOCAL_UNREACHABLE';
    return isDown ? 'gone' : null;
  }
}

/** Each row is `[number, prompt_id, graph, …]`. */
function holds(rows: unknown, promptId: string): boolean {
  return Array.isArray(rows) && rows.some((row) => Array.isArray(row) && row[1] === promptId);
}
