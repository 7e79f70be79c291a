/** One graph, from its submission to what came of it. */
import { randomUUID } from 'node:crypto';
import { pauseUnless } from '@inference-gateway/shared/program/pause-unless';
import { asObject, asText, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';
import { connectionFailure } from '../failure.js';
import { forward } from '../forward.js';
import { readWhole } from '../read-whole.js';
import { askComfy, orderComfy } from './comfy-server.js';
import type { ComfyServer } from './comfy-server.js';
import { readOutcome, readRefusal } from './outcome.js';
import type { Made } from './outcome.js';
import { placeOf, takeBack } from './take-back.js';

/** ComfyUI checks a graph before it answers, and may be computing meanwhile. */
const SUBMIT_TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** A job is asked for when it has taken a tenth longer, within these. */
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 1_000;
/** So many looks without a result, and the queue is asked whether there is such a job still. */
const LOOKS_PER_QUEUE_LOOK = 8;
/** So many answers in a row may fail to come. */
const MAX_LOST_LOOKS = 5;
const MAX_RUN_MS = 24 * 60 * 60_000;

/** Throws a `LocalFailure`, or, once the card is free, what the signal was aborted with. */
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
    // Left or given up, it would run on beside its next attempt; one that is over costs one look.
    await takeBack(server, submitted);
    throw error;
  } finally {
    // Prompts of strangers do not stay in the owner's list.
    await orderComfy(server, '/history', { delete: [submitted] });
    signal.throwIfAborted();
  }
}

/** Not under the caller's signal: what was queued must be known, to be taken back. */
async function submit(server: ComfyServer, graph: JsonObject): Promise<string | DocumentAnswer> {
  const promptId = randomUUID();
  const body = JSON.stringify({ prompt: graph, client_id: CLIENT_ID, prompt_id: promptId });
  const { root: url, apiKey } = server;
  const signal = AbortSignal.timeout(SUBMIT_TIMEOUT_MS);
  try {
    const answer = await forward({ url: `${url}/prompt`, apiKey, body, signal });
    const text = (await readWhole(answer.body, MAX_ANSWER_BYTES)).toString();
    if (answer.status >= 400) return readRefusal(answer.status, text);
    // Older ones give it a name of their own.
    return asText(asObject(parseJson(text))?.['prompt_id']) ?? promptId;
  } catch (error) {
    const failure = connectionFailure(error);
    // It may have been queued all the same, under the name that it was given.
    if (failure.code !== 'LOCAL_UNREACHABLE') await takeBack(server, promptId);
    throw failure;
  }
}

const CLIENT_ID = `gateway-${randomUUID()}`;

/** The job's entry in the history, which it gets when it ends. */
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

/** Null while it is not over. */
async function lookUp(
  server: ComfyServer,
  { promptId, isThorough }: Look,
  signal: AbortSignal,
): Promise<JsonObject | 'gone' | null> {
  // First, so that a job that ends in between is found in the history.
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
