/** The store on SQLite: every operation is a call to the worker thread that owns the connection. */
import { KeyCache } from '../../key-cache.js';
import type { Store, UsageRow } from '../../port.js';
import { UsageBuffer } from '../../usage-buffer.js';
import { SYSTEM } from './audit-trail.js';
import { forwardedCalls } from './forwarded-calls.js';
import type { Ask } from './forwarded-calls.js';
import { WorkerCalls } from './worker-calls.js';

interface SqliteStoreOptions {
  /** Told how many usage rows will never be written, and why. */
  readonly onUsageLost: (rows: number, reason: string) => void;
}

/** What the store is to every actor. */
interface Parts {
  readonly calls: WorkerCalls;
  readonly keys: KeyCache;
  readonly usage: UsageBuffer;
}

/** Needs a database whose tables are up to date, and the lock of its folder. */
export function createSqliteStore(databaseFile: string, options: SqliteStoreOptions): Store {
  const calls = new WorkerCalls(databaseFile);
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) => calls.call(SYSTEM, 'writeUsage', rows),
    onLost: options.onUsageLost,
  });
  return storeOf({ calls, keys: new KeyCache(), usage }, SYSTEM);
}

function storeOf(parts: Parts, actor: string): Store {
  const { calls, keys, usage } = parts;
  const ask: Ask =
    (name) =>
    (...args) =>
      calls.call(actor, name, ...args);
  const changeKeys: Ask = (name) => {
    const change = ask(name);
    return (...args) => keys.change(() => change(...args));
  };
  const findKeyHolder = ask('findKeyHolder');
  const probeWrite = ask('probeWrite');
  // What was recorded before is counted, written yet or not.
  const askOfUsage: Ask = (name) => {
    const read = ask(name);
    return (...args) => usage.flush().then(() => read(...args));
  };
  return {
    by: (other) => storeOf(parts, other),
    ...forwardedCalls(ask),

    findKeyHolder: (hash) => keys.find(hash, () => findKeyHolder(hash)),
    renameKey: changeKeys('renameKey'),
    rotateKey: changeKeys('rotateKey'),
    setKeyState: changeKeys('setKeyState'),
    changeMember: changeKeys('changeMember'),
    deleteMember: changeKeys('deleteMember'),
    setMemberLimits: changeKeys('setMemberLimits'),
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
      await usage.close();
      await calls.close();
    },
  };
}
