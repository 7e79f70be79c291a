/** What calls add up to. Fed with the rows that are metered, so that the two never differ. */
import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { UsageRow } from '../store/port.js';

/** A call waits for a slot up to `GATEWAY_SYNC_WAIT_S`, 60 s unless that is changed. */
const QUEUE_BUCKETS_S = [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300];

export class CallCounters {
  readonly #requests: Counter<'endpoint' | 'outcome' | 'code'>;
  readonly #attempts: Counter<'endpoint'>;
  readonly #replacements: Counter<'endpoint'>;
  readonly #tokens: Counter<'type'>;
  readonly #audio: Counter<'endpoint'>;
  readonly #images: Counter;
  readonly #queueWait: Histogram<'service_type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: 'gateway_requests_total',
      help: 'Inference calls that have ended. code is the error code, empty where there is none.',
      labelNames: ['endpoint', 'outcome', 'code'],
      registers,
    });
    this.#attempts = new Counter({
      name: 'gateway_attempts_total',
      help: 'Times that a call was sent to a provider.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#replacements = new Counter({
      name: 'gateway_replacements_total',
      help: 'Attempts after the first of the same call.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#tokens = new Counter({
      name: 'gateway_tokens_total',
      help: 'Tokens metered: input is what was read, output what was made.',
      labelNames: ['type'],
      registers,
    });
    this.#audio = new Counter({
      name: 'gateway_audio_seconds_total',
      help: 'Seconds of audio metered, heard or made.',
      labelNames: ['endpoint'],
      registers,
    });
    this.#images = new Counter({
      name: 'gateway_images_total',
      help: 'Images metered.',
      registers,
    });
    this.#queueWait = new Histogram({
      name: 'gateway_queue_wait_seconds',
      help: 'How long a call waited for a free slot.',
      labelNames: ['service_type'],
      buckets: QUEUE_BUCKETS_S,
      registers,
    });
  }

  observe(row: UsageRow): void {
    const { endpoint, outcome } = row;
    this.#requests.inc({ endpoint, outcome, code: row.errorCode ?? '' });
    this.#attempts.inc({ endpoint }, row.attempts);
    this.#replacements.inc({ endpoint }, Math.max(0, row.attempts - 1));
    this.#queueWait.observe({ service_type: row.serviceType }, row.queueMs / 1000);
    if (row.promptTokens > 0) this.#tokens.inc({ type: 'input' }, row.promptTokens);
    if (row.completionTokens > 0) this.#tokens.inc({ type: 'output' }, row.completionTokens);
    if (row.audioMs > 0) this.#audio.inc({ endpoint }, row.audioMs / 1000);
    if (row.images > 0) this.#images.inc(row.images);
  }
}
