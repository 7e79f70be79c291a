/**
 * Callers that send requests of every kind until they are stopped: chats and images as jobs and in
 * batches, synchronous calls, cancels and retries. A submission without an answer is sent again
 * with its key until it is answered, so that afterwards the number of jobs is known.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { accepted, BATCHES, JOBS } from '../api/job-calls.js';
import type { BatchBody, JobBody } from '../api/job-calls.js';
import { chat, post } from '../api/requests.js';
import type { Stage } from '../support/process-stage.js';

const CALLERS = 6;
/** While a coordinator starts, no caller needs an answer sooner. */
const RETRY_MS = 50;
/** More would only wait for the end of the test. */
const MOST_OPEN_JOBS = 60;
const MOST_BATCH_ITEMS = 6;

type Action = () => Promise<unknown>;

export class MixedLoad {
  /** Of acknowledged submissions. */
  readonly jobs = new Set<string>();
  readonly batches = new Set<string>();
  /** Jobs that the batches must hold. */
  batchItems = 0;
  /** Requests that were answered. */
  answered = 0;
  readonly #gateway: Stage;
  readonly #callers: Promise<void>[];
  #stopped = false;

  constructor(gateway: Stage) {
    this.#gateway = gateway;
    this.#callers = Array.from({ length: CALLERS }, () => this.#call());
  }

  /** Resolves when every request that was begun has its answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }

  async #call(): Promise<void> {
    const actions: readonly Action[] = [
      () => this.#submitChat(),
      () => this.#submitChat(),
      () => this.#submitImage(),
      () => this.#submitBatch(),
      () => this.#ask(),
      () => this.#act('cancel'),
      () => this.#act('retry'),
    ];
    while (!this.#stopped) {
      await actions[random(actions.length)]?.();
      this.answered += 1;
      if (random(CALLERS) === 0) await this.#whileMany();
    }
  }

  async #submitChat(): Promise<void> {
    this.jobs.add((await this.#submit<JobBody>(chat({ model: 'm', async: true }))).id);
  }

  async #submitImage(): Promise<void> {
    const image = { model: 'sd', prompt: 'a cat', async: true };
    this.jobs.add((await this.#submit<JobBody>(image, '/v1/images/generations')).id);
  }

  async #submitBatch(): Promise<void> {
    const requests = Array.from({ length: 1 + random(MOST_BATCH_ITEMS) }, (_, i) =>
      i % 3 === 2
        ? { endpoint: '/v1/images/generations', body: { model: 'sd', prompt: 'a cat' } }
        : { endpoint: '/v1/chat/completions', body: chat({ model: 'm' }) },
    );
    this.batches.add((await this.#submit<BatchBody>({ requests }, BATCHES)).id);
    this.batchItems += requests.length;
  }

  async #submit<Body>(body: object, path = '/v1/chat/completions'): Promise<Body> {
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const response = await post(this.#gateway, body, { path, headers }).catch(() => null);
      const read =
        response?.status === 202 ? await accepted<Body>(response).catch(() => null) : null;
      if (read !== null) return read;
      await expectDown(response);
    }
  }

  /** A synchronous call may fail. */
  async #ask(): Promise<void> {
    await post(this.#gateway, chat({ model: 'm' })).then(
      (response) => response.text(),
      () => pause(RETRY_MS),
    );
  }

  async #act(verb: 'cancel' | 'retry'): Promise<void> {
    const id = [...this.jobs][random(this.jobs.size)];
    if (id === undefined) return;
    const path = `${JOBS}/${id}/${verb}`;
    await this.#gateway.fetch(path, { method: 'POST' }).catch(() => pause(RETRY_MS));
  }

  async #whileMany(): Promise<void> {
    while (!this.#stopped) {
      const response = await this.#gateway.fetch(`${JOBS}?active=1&limit=500`).catch(() => null);
      const list = (await response?.json().catch(() => null)) as { data?: object[] } | null;
      if (list?.data !== undefined && list.data.length < MOST_OPEN_JOBS) return;
      await pause(RETRY_MS);
    }
  }
}

/** What may come in place of a 202: nothing at all, or that it is not there yet. */
async function expectDown(response: Response | null): Promise<void> {
  if (response !== null && response.status !== 202 && response.status !== 503) {
    throw new Error(`${response.status} ${await response.text()}`);
  }
  await pause(RETRY_MS);
}

export function random(below: number): number {
  return Math.floor(Math.random() * below);
}
