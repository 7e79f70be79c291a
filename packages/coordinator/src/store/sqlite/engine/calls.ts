/** Calls of the store's operations: one group is under way, what comes meanwhile is the next. */
import { ApiError } from '@inference-gateway/shared/errors';
import { Worker } from 'node:worker_threads';
import type { SharingFacts } from '../../../core/access/sharing.js';
import type { Engine, EngineOptions } from './engine.js';
import type { Call, CallOutcome, Group, GroupOutcome, Operations } from './operations.js';

/** A store that is this far behind is broken: callers are told so instead of piling up. */
export const MAX_PENDING_CALLS = 10_000;
/**
 * Keeps a transaction to some milliseconds, so that the first of a group does not wait for the
 * last.
 */
const MAX_GROUP = 256;
const WORKER_FILE = new URL('./worker.js', import.meta.url);

interface Runner {
  /** One group at a time. */
  run(group: Group): void;
  /** Resolves once the database is closed. */
  close(): Promise<void>;
}

interface RunnerEvents {
  readonly onOutcome: (outcome: GroupOutcome) => void;
  /** No group is answered any more, that under way included. */
  readonly onEnd: (reason: string) => void;
}

export type StartRunner = (events: RunnerEvents) => Runner;

/** For a process that serves: what waits for the disk must not stop its event loop. */
export function runInThread(workerData: EngineOptions): StartRunner {
  return ({ onOutcome, onEnd }) => {
    const worker = new Worker(WORKER_FILE, { workerData });
    worker.on('message', onOutcome);
    worker.on('error', (error) => onEnd(`its thread failed: ${error.message}`));
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', (code) => {
        onEnd(`its thread ended (${code})`);
        resolve();
      });
    });
    const post = (message: Group | 'close'): void => {
      // A thread, not a window.
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      worker.postMessage(message);
    };
    return {
      run: post,
      close: () => {
        post('close');
        return exited;
      },
    };
  };
}

/** For a command: a thread of its own costs 90 ms of CPU time. Values are copied as to a thread. */
export function runHere(engine: Engine): StartRunner {
  return ({ onOutcome, onEnd }) => ({
    run: (group) => {
      setImmediate(() => {
        const outcome = attempt(engine, group);
        if (outcome instanceof Error) onEnd(`it failed: ${outcome.message}`);
        else onOutcome(outcome);
      });
    },
    close: async () => engine.close(),
  });
}

interface Pending {
  readonly call: Call;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

function attempt(engine: Engine, group: Group): GroupOutcome | Error {
  try {
    return structuredClone(engine.commit(structuredClone(group)));
  } catch (error) {
    return error as Error;
  }
}

export class StoreCalls {
  readonly #runner: Runner;
  #waiting: Pending[] = [];
  #underWay: Pending[] = [];
  /** Why no call is taken any more. */
  #ended: string | null = null;
  #onIdle = (): void => {};
  #onKeys = (): void => {};
  #onSharing: ((facts: SharingFacts) => void) | null = null;

  constructor(start: StartRunner) {
    this.#runner = start({
      onOutcome: (outcome) => this.#settle(outcome),
      onEnd: (reason) => this.#end(reason),
    });
  }

  /**
   * The actor is whose change it is. Throws `storage_unavailable` if the database cannot do it,
   * another error where it is our fault.
   */
  call<Name extends keyof Operations>(
    actor: string,
    name: Name,
    ...args: Parameters<Operations[Name]>
  ): Promise<ReturnType<Operations[Name]>> {
    return this.#enqueue({ actor, name, args }) as Promise<ReturnType<Operations[Name]>>;
  }

  /** Told that keys or their members have changed, before the calls that did it are answered. */
  watchKeys(listener: () => void): void {
    this.#onKeys = listener;
  }

  /** The one who is told what is shared now, before the calls that changed it are answered. */
  watchSharing(listener: (facts: SharingFacts) => void): void {
    this.#onSharing = listener;
  }

  /** Finishes what is pending, then closes the database. */
  async close(): Promise<void> {
    this.#ended ??= 'it has been closed';
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#runner.close();
  }

  get #pending(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  #enqueue(call: Call): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(unavailable(this.#ended));
    if (this.#pending >= MAX_PENDING_CALLS) {
      return Promise.reject(unavailable(`${MAX_PENDING_CALLS} operations wait for it already`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      // Not at once: whatever else this turn asks for shares the commit.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#send());
    });
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    this.#underWay = this.#waiting.splice(0, this.#groupSize());
    const calls = this.#underWay.map(({ call }) => call);
    this.#runner.run({ calls, watchesSharing: this.#onSharing !== null });
  }

  /** What is no part of a transaction is a group of its own. */
  #groupSize(): number {
    const alone = this.#waiting.findIndex(({ call }) => call.name === 'compact');
    if (alone === -1) return MAX_GROUP;
    return alone === 0 ? 1 : Math.min(alone, MAX_GROUP);
  }

  #settle({ outcomes, keysChanged, sharing }: GroupOutcome): void {
    const settled = this.#underWay;
    this.#underWay = [];
    this.#send();
    if (keysChanged) this.#onKeys();
    if (sharing !== null) this.#onSharing?.(sharing);
    settled.forEach((pending, i) => settle(pending, outcomes[i]));
    if (this.#pending === 0) this.#onIdle();
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    const lost = [...this.#underWay.splice(0), ...this.#waiting.splice(0)];
    for (const { reject } of lost) reject(unavailable(reason));
    this.#onIdle();
  }
}

function settle({ call, resolve, reject }: Pending, outcome: CallOutcome | undefined): void {
  if (outcome?.kind === 'done') resolve(outcome.value);
  else if (outcome?.storage === true) reject(unavailable(outcome.message));
  else reject(new Error(`${call.name} failed: ${outcome?.message ?? 'no answer'}`));
}

/** The cause is for the log; callers of the API learn no more than that it is not their fault. */
function unavailable(reason: string): ApiError {
  return new ApiError('storage_unavailable', 'The coordinator cannot use its database now.', {
    cause: new Error(`the database is unavailable: ${reason}`),
  });
}
