/** The store as its users see it: every operation is a call to the engine of a database. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { SharingFacts } from '../../core/access/sharing.js';
import { KeyCache } from './key-cache.js';
import { SYSTEM } from '../operations/audit/audit-trail.js';
import type { Act } from '../operations/audit/audit-trail.js';
import type {
  OfActor,
  OperationArguments,
  OperationName,
  OperationResult,
} from '../operations/operations.js';
import type { AskedOn, JobKey, KeyHolder, Store, UsageRow } from '../port.js';
import { UsageBuffer } from './usage-buffer.js';
import { WantedBuffer } from './wanted-buffer.js';

/** A database with this many waiting calls is broken: further calls are refused. */
export const MAX_PENDING_CALLS = 10_000;

/** Carries out operations on a database. */
export interface StoreEngine {
  /**
   * Throws `storage_unavailable` if the database cannot carry it out, another error if it is a bug.
   */
  call<Name extends OperationName>(
    act: Act,
    name: Name,
    ...args: OperationArguments<Name>
  ): Promise<OperationResult<Name>>;
  /** Called after changes of keys or members, before the calls that made them are answered. */
  watchKeys(listener: () => void): void;
  /** Called with the sharing facts after a change, before the calls that made it are answered. */
  watchSharing(listener: (facts: SharingFacts) => void): void;
  /** As `Store.isCurrent`. */
  isCurrent(): boolean;
  /** As `Store.clockWarning`. */
  clockWarning(): string | null;
  /** Finishes what is pending, then closes the database. */
  close(): Promise<void>;
}

export interface StoreClientOptions {
  /** Called with the number of usage rows that are lost, and the reason. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
  /** Called when the database is closed, or closing has failed. */
  readonly onClosed?: () => void;
  /** Unix ms, for the audit log. */
  readonly now: () => number;
}

/** The parts of the store that all actors share. */
interface Parts {
  readonly calls: StoreEngine;
  readonly keys: KeyCache<KeyHolder>;
  readonly jobKeys: KeyCache<JobKey>;
  readonly usage: UsageBuffer;
  readonly wanted: WantedBuffer;
  readonly onClosed: () => void;
  readonly now: () => number;
}

/** Requires migrated tables. */
export function createStore(calls: StoreEngine, options: StoreClientOptions): Store {
  const { onUsageLost = () => {}, onClosed = () => {}, now } = options;
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) =>
      calls.call({ actor: SYSTEM, at: now() }, 'writeUsage', rows),
    onLost: onUsageLost,
  });
  const wanted = new WantedBuffer({
    write: (asked: readonly AskedOn[]) =>
      calls.call({ actor: SYSTEM, at: now() }, 'writeWanted', asked),
    now,
  });
  const isCurrent = (): boolean => calls.isCurrent();
  const keys = new KeyCache<KeyHolder>(isCurrent);
  const jobKeys = new KeyCache<JobKey>(isCurrent);
  calls.watchKeys(() => {
    keys.forget();
    jobKeys.forget();
  });
  return storeOf({ calls, keys, jobKeys, usage, wanted, onClosed, now }, SYSTEM);
}

function storeOf(parts: Parts, actor: string): Store {
  const { calls, keys, jobKeys, usage, wanted, now } = parts;
  const ask: Ask =
    (name) =>
    (...args) =>
      calls.call({ actor, at: now() }, name, ...args);
  const findKeyHolder = ask('findKeyHolder');
  const findJobKey = ask('findJobKey');
  const probeWrite = ask('probeWrite');
  // Rows recorded before are counted, whether they are written yet or not.
  const askOfUsage: Ask = (name) => {
    const read = ask(name);
    return (...args) => usage.flush().then(() => read(...args));
  };
  const own: OwnCalls = {
    by: (other) => storeOf(parts, other),

    findKeyHolder: (hash) => keys.find(hash, () => findKeyHolder(hash)),
    findJobKey: (keyId, memberId) =>
      jobKeys.find(`${memberId} ${keyId}`, () => findJobKey(keyId, memberId)),
    watchSharing: (listener) => calls.watchSharing(listener),
    isCurrent: () => calls.isCurrent(),
    clockWarning: () => calls.clockWarning(),

    recordUsage: (rows) => usage.add(rows),
    usageStats: askOfUsage('usageStats'),
    usageSeries: askOfUsage('usageSeries'),
    usagePeriods: askOfUsage('usagePeriods'),
    recentUsage: askOfUsage('recentUsage'),
    quotaUse: askOfUsage('quotaUse'),
    leaseBudgets: askOfUsage('leaseBudgets'),
    shareUse: askOfUsage('shareUse'),
    findUsage: askOfUsage('findUsage'),
    countRequests: askOfUsage('countRequests'),
    memberActivity: askOfUsage('memberActivity'),

    noteWanted: (asked) => wanted.add(asked),
    wantedModels: (memberId, at) => wanted.flush().then(() => ask('wantedModels')(memberId, at)),

    createInvite: (invite, at) => ask('createInvite')({ ...invite, actor }, at),
    findDevice: (typed, at) => ask('findDevice')({ ...typed, actor }, at),
    approveDevice: (approval, at) => ask('approveDevice')({ ...approval, actor }, at),
    denyDevice: (typed, at) => ask('denyDevice')({ ...typed, actor }, at),

    isWritable: () =>
      probeWrite().then(
        () => true,
        () => false,
      ),
    close: async () => {
      try {
        await usage.close();
        await wanted.close();
        await calls.close();
      } finally {
        parts.onClosed();
      }
    },
  };
  return forwarding(own, ask);
}

/** An operation that is forwarded to the engine unchanged. */
type Ask = <Name extends OperationName>(
  name: Name,
) => (...args: OperationArguments<Name>) => Promise<OperationResult<Name>>;

/** Operations of the client itself. */
type OwnCalls = Pick<
  Store,
  | Exclude<keyof Store, OperationName>
  | OfActor
  | 'findKeyHolder'
  | 'findJobKey'
  | 'usageStats'
  | 'usageSeries'
  | 'usagePeriods'
  | 'recentUsage'
  | 'quotaUse'
  | 'leaseBudgets'
  | 'shareUse'
  | 'findUsage'
  | 'countRequests'
  | 'memberActivity'
  | 'wantedModels'
>;

/**
 * Every other operation is the engine's of the same name; the compiler checks both against the
 * port. A spread of the store has only the client's own: `Object.create(store)` has all.
 */
function forwarding(own: OwnCalls, ask: Ask): Store {
  const known = new Map<string | symbol, unknown>(Object.entries(own));
  return new Proxy(own as Store, {
    get: (_, name) => {
      // `await store` reads `then`, to find out whether it is a promise.
      if (name === 'then' || typeof name === 'symbol') return undefined;
      if (!known.has(name)) known.set(name, ask(name as OperationName));
      return known.get(name);
    },
  });
}

/** The reason is for the log; callers of the API only learn that it is not their fault. */
export function storageUnavailable(reason: string): ApiError {
  return new ApiError('storage_unavailable', 'The coordinator cannot use its database now.', {
    cause: new Error(`the database is unavailable: ${reason}`),
  });
}
