/** The store on SQLite: every operation is a call to the worker thread that owns the connection. */
import { KeyCache } from '../key-cache.js';
import type {
  Asset,
  NewApiKey,
  NewJoinToken,
  NewMember,
  NewProvider,
  Store,
  UsageRow,
} from '../port.js';
import { UsageBuffer } from '../usage-buffer.js';
import type { Operations } from './operations.js';
import { WorkerCalls } from './worker-calls.js';

interface SqliteStoreOptions {
  /** Told how many usage rows will never be written, and why. */
  readonly onUsageLost: (rows: number, reason: string) => void;
}

/** Needs a database whose tables are up to date, and the lock of its folder. */
export function createSqliteStore(databaseFile: string, options: SqliteStoreOptions): Store {
  const calls = new WorkerCalls(databaseFile);
  const keys = new KeyCache();
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) => calls.call('writeUsage', rows),
    onLost: options.onUsageLost,
  });
  return {
    createMember: (member: NewMember, now) => calls.call('createMember', member, now),
    findMember: (reference) => calls.call('findMember', reference),
    listMembers: () => calls.call('listMembers'),
    setMemberLimits: (...args: Parameters<Operations['setMemberLimits']>) =>
      keys.change(() => calls.call('setMemberLimits', ...args)),

    createKey: (key: NewApiKey, now) => calls.call('createKey', key, now),
    listKeys: (memberId) => calls.call('listKeys', memberId),
    findKeyHolder: (hash) => keys.find(hash, () => calls.call('findKeyHolder', hash)),
    setKeyState: (...args: Parameters<Operations['setKeyState']>) =>
      keys.change(() => calls.call('setKeyState', ...args)),
    touchKeys: (ids, now) => calls.call('touchKeys', ids, now),

    createJoinToken: (token: NewJoinToken, now) => calls.call('createJoinToken', token, now),
    enroll: (provider: NewProvider, now) => calls.call('enroll', provider, now),
    findProviderByToken: (hash) => calls.call('findProviderByToken', hash),
    listProviders: () => calls.call('listProviders'),
    setProviderDraining: (id, draining) => calls.call('setProviderDraining', id, draining),
    recordProviderSeen: (id, seen, now) => calls.call('recordProviderSeen', id, seen, now),

    createAsset: (asset: Asset, limits) => calls.call('createAsset', asset, limits),
    findAsset: (id) => calls.call('findAsset', id),
    listAssets: (query) => calls.call('listAssets', query),
    deleteAsset: (id, memberId) => calls.call('deleteAsset', id, memberId),
    assetSpace: (memberId) => calls.call('assetSpace', memberId),
    listExpiredAssets: (now, limit) => calls.call('listExpiredAssets', now, limit),
    takeExpiredAssets: (now, limit) => calls.call('takeExpiredAssets', now, limit),
    knownAssets: (ids) => calls.call('knownAssets', ids),

    recordUsage: (rows) => usage.add(rows),
    usageStats: async (query) => {
      // What was recorded before is counted, written yet or not.
      await usage.flush();
      return calls.call('usageStats', query);
    },

    isWritable: () =>
      calls.call('probeWrite').then(
        () => true,
        () => false,
      ),
    close: async () => {
      await usage.close();
      await calls.close();
    },
  };
}
