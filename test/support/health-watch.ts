/** Polls a coordinator's health from outside during a test. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Stage } from './process-stage.js';

const EVERY_MS = 20;

/** Polls the health check and records how long each answer took. */
export class HealthWatch {
  readonly #gateway: Stage;
  readonly #asking: Promise<void>;
  readonly #own = monitorEventLoopDelay({ resolution: 1 });
  #longestMs = 0;
  #stopped = false;

  constructor(gateway: Stage) {
    this.#gateway = gateway;
    this.#own.enable();
    this.#asking = this.#ask();
    // Thrown by `stop`. A test that has failed before does not call it.
    this.#asking.catch(() => undefined);
    onTestFinished(() => this.#end());
  }

  /** `ownMs`: how long this process, which asks and hears, was late itself. */
  async stop(): Promise<{ longestMs: number; ownMs: number }> {
    this.#end();
    await this.#asking;
    return { longestMs: this.#longestMs, ownMs: this.#own.max / 1e6 };
  }

  #end(): void {
    this.#stopped = true;
    this.#own.disable();
  }

  async #ask(): Promise<void> {
    while (!this.#stopped) {
      const askedAt = performance.now();
      const response = await this.#gateway.fetch('/healthz');
      expect(await response.json()).toEqual({ status: 'ok' });
      this.#longestMs = Math.max(this.#longestMs, performance.now() - askedAt);
      await pause(EVERY_MS);
    }
  }
}
