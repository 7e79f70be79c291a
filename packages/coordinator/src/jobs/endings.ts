/** Who waits for the end of a job. A signal is a hint: every waiter also looks by itself. */
import { isFinished } from '../core/jobs/job.js';
import type { JobStore } from '../store/port.js';

const LOOK_AGAIN_MS = 5_000;

export class Endings {
  readonly #store: Pick<JobStore, 'findJob'>;
  readonly #waiting = new Map<string, Set<() => void>>();
  #isClosed = false;

  constructor(store: Pick<JobStore, 'findJob'>) {
    this.#store = store;
  }

  /** Resolves once the job has ended, or is gone; after `waitMs`; or when the signal is aborted. */
  async wait(jobId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const giveUpAt = performance.now() + waitMs;
    for (;;) {
      const found = await this.#store.findJob(jobId, null);
      const leftMs = giveUpAt - performance.now();
      if (found === null || isFinished(found.job.status) || leftMs <= 0) return;
      if (signal.aborted || this.#isClosed) return;
      await this.#signalled(jobId, Math.min(leftMs, LOOK_AGAIN_MS), signal);
    }
  }

  ended(jobId: string): void {
    for (const wake of this.#waiting.get(jobId) ?? []) wake();
  }

  /** Nobody waits any longer. */
  close(): void {
    this.#isClosed = true;
    for (const wakers of this.#waiting.values()) for (const wake of wakers) wake();
  }

  #signalled(jobId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wakers = this.#waiting.get(jobId) ?? new Set();
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        wakers.delete(wake);
        if (wakers.size === 0) this.#waiting.delete(jobId);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      signal.addEventListener('abort', wake, { once: true });
      wakers.add(wake);
      this.#waiting.set(jobId, wakers);
    });
  }
}
