/**
 * One job of Stable Diffusion's web UI, from its request to its end. The web UI continues to
 * compute after a connection closes, and its `/sdapi/v1/interrupt` stops any running job, including
 * the owner's own. So the agent interrupts an abandoned job only while the server names it as the
 * running one, and waits for its end in any case: the card is busy until then.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { asObject, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { forward } from '../forward.js';
import { probe } from '../probe.js';
import { readWhole } from '../bytes.js';

export interface WebUi {
  /** Without `/sdapi/v1`. */
  readonly root: string;
  /** `user:password`, or null. */
  readonly apiKey: string | null;
}

export interface Job {
  /** Below `/sdapi/v1/`. */
  readonly path: 'txt2img' | 'img2img';
  readonly taskId: string;
  readonly body: string;
}

export interface JobAnswer {
  readonly status: number;
  readonly text: string;
}

/** Poll interval for an abandoned job. */
const LOOK_MS = 250;
const LOOK_TIMEOUT_MS = 2_000;
/** The agent stops waiting for an abandoned job after this time. */
const WIND_DOWN_MS = 10 * 60_000;
/**
 * A job that will end within this time is not interrupted: the interruption could hit the next job.
 */
const MIN_LEFT_S = 1;
/** Four images of 4096 by 4096 pixels, in base64. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;

/** Throws a `LocalFailure`, or, once the card is free, the signal's abort reason. */
export async function runJob(ui: WebUi, job: Job, signal: AbortSignal): Promise<JobAnswer> {
  signal.throwIfAborted();
  const connection = new AbortController();
  const over = new AbortController();
  const leave = (): void => void windDown(ui, job, { connection, over: over.signal });
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await post(ui, job, connection.signal);
  } finally {
    over.abort();
    signal.removeEventListener('abort', leave);
    signal.throwIfAborted();
  }
}

async function post(ui: WebUi, { path, body }: Job, signal: AbortSignal): Promise<JobAnswer> {
  const url = `${ui.root}/sdapi/v1/${path}`;
  const { apiKey } = ui;
  const answer = await forward({ url, apiKey, keyScheme: 'basic', body, signal });
  const whole = await readWhole(answer.body, MAX_ANSWER_BYTES);
  return { status: answer.status, text: whole.toString() };
}

interface WindDown {
  /** Closes the job's connection. */
  readonly connection: AbortController;
  /** Aborted as soon as the server has answered the job. */
  readonly over: AbortSignal;
}

async function windDown(ui: WebUi, job: Job, { connection, over }: WindDown): Promise<void> {
  const end = performance.now() + WIND_DOWN_MS;
  while (!over.aborted && performance.now() < end) {
    if (await canBeInterrupted(ui, job, over)) await interrupt(ui, over);
    await pause(LOOK_MS, undefined, { signal: over }).catch(() => undefined);
  }
  connection.abort();
}

/**
 * True if the server names this job as the running one and enough time remains. The remaining time
 * is null before the first step.
 */
async function canBeInterrupted(ui: WebUi, { taskId }: Job, over: AbortSignal): Promise<boolean> {
  const asked = { id_task: taskId, id_live_preview: -1, live_preview: false };
  const told = await ask(ui, '/internal/progress', { over, body: asked });
  if (told === null) return isNamedAsCurrent(ui, taskId, over);
  const { active, eta } = told;
  return active === true && (typeof eta !== 'number' || eta > MIN_LEFT_S);
}

/**
 * The documented way. The original web UI always answers null: its API keeps the job name from the
 * start of the program (1.8 to 1.10), so it is asked only if the other way is missing.
 */
async function isNamedAsCurrent(ui: WebUi, taskId: string, over: AbortSignal): Promise<boolean> {
  const told = await ask(ui, '/sdapi/v1/progress?skip_current_image=true', { over });
  const left = told?.['eta_relative'];
  return asText(told?.['current_task']) === taskId && typeof left === 'number' && left > MIN_LEFT_S;
}

async function interrupt(ui: WebUi, over: AbortSignal): Promise<void> {
  await ask(ui, '/sdapi/v1/interrupt', { over, body: {} });
}

interface Asking {
  readonly over: AbortSignal;
  readonly body?: JsonObject;
}

/** Null if there is no such answer: then the state is unknown, and the job runs to its end. */
async function ask(ui: WebUi, path: string, { over, body }: Asking): Promise<JsonObject | null> {
  const signal = AbortSignal.any([over, AbortSignal.timeout(LOOK_TIMEOUT_MS)]);
  const { root, apiKey } = ui;
  const answer = await probe(root + path, {
    apiKey,
    keyScheme: 'basic',
    signal,
    ...(body !== undefined && { body }),
  }).catch(() => null);
  return answer?.status === 200 ? asObject(answer.json) : null;
}
