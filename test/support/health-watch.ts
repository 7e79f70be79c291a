/** Polls a coordinator's health from outside during a test. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Stage } from './process-stage.js';

const EVERY_MS = 20;

/** Polls the health check and records how long each answer took. */
export class HealthWatch {
  readonly #gateway: Stage;
  readonly #asking: Promise<void>;
  #longestMs = 0;
  #stopped = false;

  constructor(gateway: Stage) {
    this.#gateway = gateway;
    this.#asking = this.#ask();
  }

  async stop(): Promise<{ longestMs: number }> {
    this.#stopped = true;
    await this.#asking;
    return { longestMs: this.#longestMs };
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
