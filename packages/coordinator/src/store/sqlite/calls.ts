/** Calls of the store's operations in groups: while one group runs, the next one collects. */
import { Worker } from 'node:worker_threads';
import { STORE_WORKER } from '../../own-files.js';
import type { SharingFacts } from '../../core/access/sharing.js';
import { createStore, MAX_PENDING_CALLS, storageUnavailable } from '../client/client.js';
import type { StoreClientOptions, StoreEngine } from '../client/client.js';
import type { Store } from '../port.js';
import type { Act } from '../operations/audit/audit-trail.js';
import type {
  OperationArguments,
  OperationName,
  OperationResult,
} from '../operations/operations.js';
import type { Engine, EngineOptions } from './engine.js';
import type { Call, CallOutcome, Group, GroupOutcome } from './group.js';

/**
 * Limits a transaction to some milliseconds, so that the first call of a group does not wait for
 * the last.
 */
const MAX_GROUP = 256;

interface Runner {
  /** One group at a time. */
  run(group: Group): void;
  /** Resolves once the database is closed. */
  close(): Promise<void>;
}

interface RunnerEvents {
  readonly onOutcome: (outcome: GroupOutcome) => void;
  /** No further group is answered, including the current one. */
  readonly onEnd: (reason: string) => void;
}

export type StartRunner = (events: RunnerEvents) => Runner;

/** For a process that serves: waiting for the disk must not block its event loop. */
export function runInThread(workerData: EngineOptions): StartRunner {
  return ({ onOutcome, onEnd }) => {
    const worker = new Worker(STORE_WORKER, { workerData });
    worker.on('message', onOutcome);
    worker.on('error', (error) => onEnd(`its thread failed: ${error.message}`));
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', (code) => {
        onEnd(`its thread ended (${code})`);
        resolve();
      });
    });
    const post = (message: Group | 'close'): void => {
      // The rule is about windows; this is a thread.
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

/** For a command: a thread costs 90 ms of CPU time. Values are copied as for a thread. */
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

/** Requires migrated tables, and the lock of the folder. */
export function createSqliteStore(start: StartRunner, options: StoreClientOptions): Store {
  return createStore(new StoreCalls(start), options);
}

export class StoreCalls implements StoreEngine {
  readonly #runner: Runner;
  #waiting: Pending[] = [];
  #underWay: Pending[] = [];
  /** Why no further call is accepted. */
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

  call<Name extends OperationName>(
    { actor, at }: Act,
    name: Name,
    ...args: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    return this.#enqueue({ actor, at, name, args }) as Promise<OperationResult<Name>>;
  }

  watchKeys(listener: () => void): void {
    this.#onKeys = listener;
  }

  watchSharing(listener: (facts: SharingFacts) => void): void {
    this.#onSharing = listener;
  }

  /** Other processes change the database, but each operation here compares its epochs. */
  isCurrent(): boolean {
    return true;
  }

  /** There is no server. */
  clockWarning(): null {
    return null;
  }

  async close(): Promise<void> {
    this.#ended ??= 'it has been closed';
    if (this.#pending > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#runner.close();
  }

  get #pending(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  #enqueue(call: Call): Promise<unknown> {
    if (this.#ended !== null) return Promise.reject(storageUnavailable(this.#ended));
    if (this.#pending >= MAX_PENDING_CALLS) {
      return Promise.reject(
        storageUnavailable(`${MAX_PENDING_CALLS} operations wait for it already`),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      // Not at once, so that further calls of this turn share the commit.
      if (this.#waiting.length === 1) queueMicrotask(() => this.#send());
    });
  }

  #send(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return;
    this.#underWay = this.#waiting.splice(0, this.#groupSize());
    const calls = this.#underWay.map(({ call }) => call);
    this.#runner.run({ calls, watchesSharing: this.#onSharing !== null });
  }

  /** An operation outside of a transaction is a group of its own. */
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
    for (const { reject } of lost) reject(storageUnavailable(reason));
    this.#onIdle();
  }
}

function settle({ call, resolve, reject }: Pending, outcome: CallOutcome | undefined): void {
  if (outcome?.kind === 'done') resolve(outcome.value);
  else if (outcome?.storage === true) reject(storageUnavailable(outcome.message));
  else reject(new Error(`${call.name} failed: ${outcome?.message ?? 'no answer'}`));
}
