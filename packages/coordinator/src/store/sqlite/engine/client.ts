/** The store on SQLite: every operation is a call to the engine that owns the connection. */
import { KeyCache } from './key-cache.js';
import type { JobKey, KeyHolder, Store, UsageRow } from '../../port.js';
import { UsageBuffer } from './usage-buffer.js';
import { SYSTEM } from './audit-trail.js';
import { StoreCalls } from './calls.js';
import type { StartRunner } from './calls.js';
import type { OfActor, Operations } from './operations.js';

interface SqliteStoreOptions {
  /** Called with the number of usage rows that are lost, and the reason. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
  /** Called when the database is closed, or closing has failed. */
  readonly onClosed?: () => void;
  /** Unix ms, for the audit log. */
  readonly now: () => number;
}

/** The parts of the store that all actors share. */
interface Parts {
  readonly calls: StoreCalls;
  readonly keys: KeyCache<KeyHolder>;
  readonly jobKeys: KeyCache<JobKey>;
  readonly usage: UsageBuffer;
  readonly onClosed: () => void;
  readonly now: () => number;
}

/** Requires migrated tables, and the lock of the folder. */
export function createSqliteStore(start: StartRunner, options: SqliteStoreOptions): Store {
  const { onUsageLost = () => {}, onClosed = () => {}, now } = options;
  const calls = new StoreCalls(start);
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) =>
      calls.call({ actor: SYSTEM, at: now() }, 'writeUsage', rows),
    onLost: onUsageLost,
  });
  const keys = new KeyCache<KeyHolder>();
  const jobKeys = new KeyCache<JobKey>();
  calls.watchKeys(() => {
    keys.forget();
    jobKeys.forget();
  });
  return storeOf({ calls, keys, jobKeys, usage, onClosed, now }, SYSTEM);
}

function storeOf(parts: Parts, actor: string): Store {
  const { calls, keys, jobKeys, usage, now } = parts;
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

    recordUsage: (rows) => usage.add(rows),
    usageStats: askOfUsage('usageStats'),
    usageSeries: askOfUsage('usageSeries'),
    recentUsage: askOfUsage('recentUsage'),
    quotaUse: askOfUsage('quotaUse'),
    shareUse: askOfUsage('shareUse'),
    memberActivity: askOfUsage('memberActivity'),

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
        await calls.close();
      } finally {
        parts.onClosed();
      }
    },
  };
  return forwarding(own, ask);
}

/** An operation that is forwarded to the engine unchanged. */
type Ask = <Name extends keyof Operations>(
  name: Name,
) => (...args: Parameters<Operations[Name]>) => Promise<ReturnType<Operations[Name]>>;

/** Operations of the client itself. */
type OwnCalls = Pick<
  Store,
  | Exclude<keyof Store, keyof Operations>
  | OfActor
  | 'findKeyHolder'
  | 'findJobKey'
  | 'usageStats'
  | 'usageSeries'
  | 'recentUsage'
  | 'quotaUse'
  | 'shareUse'
  | 'memberActivity'
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
      if (!known.has(name)) known.set(name, ask(name as keyof Operations));
      return known.get(name);
    },
  });
}
