/** One action on a model, from its beginning to some time after its end. */
import { randomId } from '@inference-gateway/shared/ids';
import type { ModelAction, ModelActivity } from '@inference-gateway/shared/protocol/model-asks';
import type { PullProgress } from '../backends/backend.js';

/** Within this time the rate is the same: a stream reports several times a second. */
const RATE_MS = 1_000;

/** Weight of the newest interval in the rate. */
const RATE_WEIGHT = 0.3;

interface Asked {
  readonly action: ModelAction;
  readonly serviceId: string;
  readonly model: string;
  /** Who asks, as the coordinator says. */
  readonly by: string;
  readonly canCancel: boolean;
}

export class Activity {
  readonly id = randomId();
  readonly asked: Asked;
  /** Resolves at its end. */
  readonly over: Promise<void>;
  readonly #startedAt: number;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  #state: ModelActivity['state'] = 'running';
  #phase: ModelActivity['phase'] = 'starting';
  #message: string | null = null;
  #endedAt: number | null = null;
  #bytes: number | null = null;
  #totalBytes: number | null = null;
  #step: PullProgress['step'];
  #rate: number | null = null;
  #measured: { readonly at: number; readonly bytes: number } | null = null;
  #tellOver: () => void = () => {};

  constructor(asked: Asked, now: () => number) {
    this.asked = asked;
    this.#now = now;
    this.#startedAt = now();
    this.over = new Promise((resolve) => (this.#tellOver = resolve));
  }

  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Null: not known. */
  get bytes(): number | null {
    return this.#bytes;
  }

  get totalBytes(): number | null {
    return this.#totalBytes;
  }

  /** Ends what is under way; the first reason counts. */
  stop(reason: Error): void {
    this.#stopping.abort(reason);
  }

  /** True if it shows progress, not only that the server is alive. */
  progressed({ phase, bytes, totalBytes, step }: PullProgress): boolean {
    const isNew = phase !== this.#phase || bytes !== this.#bytes || step !== this.#step;
    this.#step = step;
    this.#phase = phase;
    // A server may report anything.
    this.#bytes = bytes === null ? null : Math.max(0, bytes);
    this.#totalBytes = totalBytes === null ? null : Math.max(0, totalBytes);
    this.#measure(this.#bytes);
    return isNew;
  }

  ended(state: 'done' | 'failed' | 'canceled', message: string | null = null): void {
    this.#state = state;
    this.#message = message;
    this.#endedAt = this.#now();
    this.#rate = null;
    this.#tellOver();
  }

  view(): ModelActivity {
    const { action, serviceId, model, by, canCancel } = this.asked;
    return {
      id: this.id,
      action,
      service_id: serviceId,
      model,
      by,
      state: this.#state,
      phase: this.#phase,
      bytes: this.#bytes,
      total_bytes: this.#totalBytes,
      bytes_per_second: this.#rate,
      can_cancel: canCancel && this.isRunning && !this.signal.aborted,
      message: this.#message,
      started_at: this.#startedAt,
      ended_at: this.#endedAt,
    };
  }

  #measure(bytes: number | null): void {
    if (bytes === null) return;
    const at = performance.now();
    const before = this.#measured;
    if (before === null || bytes < before.bytes) this.#measured = { at, bytes };
    else if (at - before.at >= RATE_MS) {
      const rate = ((bytes - before.bytes) * 1_000) / (at - before.at);
      const last = this.#rate ?? rate;
      this.#rate = Math.round(last + (rate - last) * RATE_WEIGHT);
      this.#measured = { at, bytes };
    }
  }
}
