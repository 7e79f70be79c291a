/** Polls one configured service and keeps its state; never two questions at once. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import { LocalFailure } from '../backend.js';
import type { Backend, Description, ServiceConfig } from '../backend.js';
import { createBackend } from '../create-backend.js';
import type { BackendTools } from '../create-backend.js';
import type { Subject } from '../proving/try-model.js';

/** `since` is in milliseconds since 1970. */
export type ServiceState =
  | { readonly kind: 'starting'; readonly since: number }
  | { readonly kind: 'up'; readonly since: number; readonly description: Description }
  | { readonly kind: 'down'; readonly since: number; readonly reason: string };

export interface WatchOptions {
  readonly pollMs: number;
  readonly describeTimeoutMs: number;
  readonly logger: Logger | null;
  readonly tools: BackendTools;
  /** Unix ms. */
  readonly now: () => number;
  /** Called after each answer, even if nothing changed. */
  onAnswer(): void;
}

/** Polling a service that is down costs one refused connection, so it is polled more often. */
const DOWN_POLL_MS = 2_000;
/** After a refused connection: a server that restarts needs a moment. */
const REPROBE_MS = 500;

type Outcome =
  { readonly description: Description } | { readonly reason: string; readonly timedOut: boolean };

export class WatchedServer {
  readonly config: ServiceConfig;
  readonly backend: Backend;
  readonly #options: WatchOptions;
  #state: ServiceState;
  #timer: NodeJS.Timeout | null = null;
  /** Aborts the current question, if there is one. */
  #asking = new AbortController();
  #closed = false;
  /** Counts losses, so that an answer from before a loss does not undo it. */
  #losses = 0;
  /** The agent's requests that it has not begun to answer. */
  #unanswered = 0;

  constructor(config: ServiceConfig, options: WatchOptions) {
    this.config = config;
    this.#state = { kind: 'starting', since: options.now() };
    const backend = createBackend(config, options.tools);
    this.backend = {
      describe: (signal) => backend.describe(signal),
      call: (call) => this.#counted(backend.call(call)),
      unfit: async (model, signal) => backend.unfit?.(model, signal) ?? null,
      library: backend.library,
    };
    this.#options = options;
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Asks once, then polls until `close`. Resolves after the first answer. */
  async watch(): Promise<void> {
    this.#timer = null;
    const startedAt = performance.now();
    const losses = this.#losses;
    const outcome = await this.#ask();
    if (this.#closed) return;
    if (losses !== this.#losses) {
      this.#schedule(REPROBE_MS);
      return;
    }
    if (!this.#isMerelyBusy(outcome)) this.#apply(outcome);
    const { pollMs } = this.#options;
    const everyMs = this.#state.kind === 'up' ? pollMs : Math.min(pollMs, DOWN_POLL_MS);
    this.#schedule(Math.max(0, everyMs - (performance.now() - startedAt)));
  }

  /** A request could not connect: the models leave at once and the next question comes soon. */
  lost(reason: string): void {
    if (this.#state.kind !== 'up') return;
    this.#losses++;
    this.#apply({ reason, timedOut: false });
    if (this.#timer !== null) this.#schedule(REPROBE_MS);
  }

  /** Asks soon: its models have changed. */
  lookSoon(): void {
    if (this.#timer !== null) this.#schedule(0);
  }

  close(): void {
    this.#closed = true;
    this.#asking.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.watch(), delayMs);
  }

  /** Many speech servers answer nothing while they speak (Chatterbox, older mlx-lm). */
  #isMerelyBusy(outcome: Outcome): boolean {
    const isSilent = 'reason' in outcome && outcome.timedOut;
    return isSilent && this.#state.kind === 'up' && this.#unanswered > 0;
  }

  async #counted<T>(answering: Promise<T>): Promise<T> {
    this.#unanswered++;
    try {
      return await answering;
    } finally {
      this.#unanswered--;
    }
  }

  /**
   * A second try distinguishes a short fault from an outage. There is none after a timeout: a
   * server that hangs must also leave the list within 15 s.
   */
  async #ask(): Promise<Outcome> {
    const first = await this.#describe();
    const isFinal = 'description' in first || first.timedOut || this.#closed;
    return isFinal ? first : this.#describe();
  }

  async #describe(): Promise<Outcome> {
    const asking = new AbortController();
    this.#asking = asking;
    const tooLong = new DOMException('no answer in time', 'TimeoutError');
    const timer = setTimeout(() => asking.abort(tooLong), this.#options.describeTimeoutMs);
    try {
      return { description: await this.backend.describe(asking.signal) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const timedOut = error instanceof LocalFailure && error.code === 'LOCAL_TIMEOUT';
      return { reason, timedOut };
    } finally {
      clearTimeout(timer);
    }
  }

  #apply(outcome: Outcome): void {
    const before = this.#state;
    if ('description' in outcome) {
      const since = before.kind === 'up' ? before.since : this.#options.now();
      this.#state = { kind: 'up', since, description: outcome.description };
    } else {
      const since = before.kind === 'down' ? before.since : this.#options.now();
      this.#state = { kind: 'down', since, reason: outcome.reason };
    }
    if (before.kind !== this.#state.kind) this.#log();
    this.#options.onAnswer();
  }

  #log(): void {
    const { logger } = this.#options;
    const about = { service: this.config.id, url: this.config.baseUrl };
    const state = this.#state;
    if (state.kind === 'down') logger?.warn({ ...about, reason: state.reason }, 'service down');
    if (state.kind !== 'up') return;
    logger?.info({ ...about, models: state.description.models.length }, 'service up');
  }
}

/** Its models in the form that can be proven; none while it is not up. */
export function subjectsOf({ config, backend, state }: WatchedServer): Subject[] {
  if (state.kind !== 'up') return [];
  return state.description.models.map((model) => ({ config, backend, model }));
}
