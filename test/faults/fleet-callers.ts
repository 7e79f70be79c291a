/**
 * Callers of a fleet's models, which a seed repeats: chats with and without a stream, and jobs.
 * Records every answer, and everything that is neither an answer nor an error of the table.
 */
import { ERRORS } from '@inference-gateway/shared/errors';
import type { ErrorBody } from '@inference-gateway/shared/errors';
import { randomUUID } from 'node:crypto';
import { Random } from '../../bench/fleet/random.js';
import { accepted } from '../api/job-calls.js';
import type { JobBody } from '../api/job-calls.js';
import { chat, eventsOf, post, textOf } from '../api/requests.js';
import type { Stage } from '../support/process-stage.js';

const DONE = 'data: [DONE]\n\n';
/** A job takes no time to hand in: without a rest, there would be little else. */
const JOB_SHARE = 0.2;

export class FleetCallers {
  /** Of acknowledged submissions. */
  readonly jobs = new Set<string>();
  /** Synchronous calls by what became of them: `ok`, or the code of an error. */
  readonly outcomes = new Map<string, number>();
  /** Answers that no caller should meet. */
  readonly faults: string[] = [];
  readonly #gateway: Stage;
  readonly #models: readonly [string, ...string[]];
  readonly #callers: Promise<void>[];
  #stopped = false;

  constructor(gateway: Stage, models: readonly [string, ...string[]], callers: number) {
    this.#gateway = gateway;
    this.#models = models;
    this.#callers = Array.from({ length: callers }, (_, i) => this.#call(new Random(1, i)));
  }

  get answered(): number {
    return [...this.outcomes.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Resolves when every call that was begun has its answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#callers);
  }

  async #call(random: Random): Promise<void> {
    while (!this.#stopped) {
      const model = random.pick(this.#models);
      if (random.chance(JOB_SHARE)) await this.#submit(model);
      else await this.#ask(model, random.chance(0.5));
    }
  }

  async #ask(model: string, stream: boolean): Promise<void> {
    const response = await post(this.#gateway, chat({ model, stream }));
    const text = await response.text();
    if (response.status !== 200) return this.#failed(JSON.parse(text), response.status);
    if (stream) this.#streamed(text);
    else if (JSON.parse(text).choices[0].message.content.length > 0) this.#note('ok');
    else this.faults.push(`an empty answer: ${text}`);
    return undefined;
  }

  /** Whole, or with one error as its last event. */
  #streamed(text: string): void {
    const last = eventsOf(text).at(-2) ?? '';
    if (!text.endsWith(DONE)) this.faults.push(`a stream without its end: ${text.slice(-500)}`);
    else if (last.includes('"error"')) this.#failed(JSON.parse(last), null);
    else if (textOf(text) === '') this.faults.push(`an empty stream: ${text}`);
    else if (!last.includes('"finish_reason"')) this.faults.push(`cut without a word: ${last}`);
    else this.#note('ok');
  }

  /** Submitted with an idempotency key, so that an unanswered submission is not doubled. */
  async #submit(model: string): Promise<void> {
    const headers = { 'idempotency-key': randomUUID() };
    const response = await post(this.#gateway, chat({ model, async: true }), { headers });
    this.jobs.add((await accepted<JobBody>(response)).id);
  }

  /** A null status: within a stream. */
  #failed({ error }: ErrorBody, status: number | null): void {
    const row = ERRORS[error.code];
    const isKnown = row?.type === error.type && (status === null || row.status === status);
    if (isKnown) this.#note(error.code);
    else this.faults.push(`${status} ${JSON.stringify(error)}`);
  }

  #note(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
}
