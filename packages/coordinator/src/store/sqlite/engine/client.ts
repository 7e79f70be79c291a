/** The store on SQLite: every operation is a call to the engine that owns the connection. */
import { KeyCache } from './key-cache.js';
import type { Store, UsageRow } from '../../port.js';
import { UsageBuffer } from './usage-buffer.js';
import { SYSTEM } from './audit-trail.js';
import { StoreCalls } from './calls.js';
import type { StartRunner } from './calls.js';
import type { Operations } from './operations.js';

interface SqliteStoreOptions {
  /** Told how many usage rows will never be written, and why. */
  readonly onUsageLost?: (rows: number, reason: string) => void;
  /** Told when the database is closed, or cannot be. */
  readonly onClosed?: () => void;
}

/** What the store is to every actor. */
interface Parts {
  readonly calls: StoreCalls;
  readonly keys: KeyCache;
  readonly usage: UsageBuffer;
  readonly onClosed: () => void;
}

/** Needs a database whose tables are up to date, and the lock of its folder. */
export function createSqliteStore(start: StartRunner, options: SqliteStoreOptions = {}): Store {
  const { onUsageLost = () => {}, onClosed = () => {} } = options;
  const calls = new StoreCalls(start);
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) => calls.call(SYSTEM, 'writeUsage', rows),
    onLost: onUsageLost,
  });
  const keys = new KeyCache();
  calls.watchKeys(() => keys.forget());
  return storeOf({ calls, keys, usage, onClosed }, SYSTEM);
}

function storeOf(parts: Parts, actor: string): Store {
  const { calls, keys, usage } = parts;
  const ask: Ask =
    (name) =>
    (...args) =>
      calls.call(actor, name, ...args);
  const findKeyHolder = ask('findKeyHolder');
  const probeWrite = ask('probeWrite');
  // What was recorded before is counted, written yet or not.
  const askOfUsage: Ask = (name) => {
    const read = ask(name);
    return (...args) => usage.flush().then(() => read(...args));
  };
  const own: OwnCalls = {
    by: (other) => storeOf(parts, other),

    findKeyHolder: (hash) => keys.find(hash, () => findKeyHolder(hash)),
    watchSharing: (listener) => calls.watchSharing(listener),

    recordUsage: (rows) => usage.add(rows),
    usageStats: askOfUsage('usageStats'),
    usageSeries: askOfUsage('usageSeries'),
    recentUsage: askOfUsage('recentUsage'),
    memberActivity: askOfUsage('memberActivity'),

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

/** An operation that the engine does as it is asked, with nothing before or after. */
type Ask = <Name extends keyof Operations>(
  name: Name,
) => (...args: Parameters<Operations[Name]>) => Promise<ReturnType<Operations[Name]>>;

/** What the client adds to the engine's operations. */
type OwnCalls = Pick<
  Store,
  | Exclude<keyof Store, keyof Operations>
  | 'findKeyHolder'
  | 'usageStats'
  | 'usageSeries'
  | 'recentUsage'
  | 'memberActivity'
>;

/**
 * Every other operation is the engine's of the same name: the compiler holds both to the port. A
 * spread of the store has only its own: `Object.create(store)` has all.
 */
function forwarding(own: OwnCalls, ask: Ask): Store {
  const known = new Map<string | symbol, unknown>(Object.entries(own));
  return new Proxy(own as Store, {
    get: (_, name) => {
      // Whoever awaits a store asks first whether it is a promise.
      if (name === 'then' || typeof name === 'symbol') return undefined;
      if (!known.has(name)) known.set(name, ask(name as keyof Operations));
      return known.get(name);
    },
  });
}
