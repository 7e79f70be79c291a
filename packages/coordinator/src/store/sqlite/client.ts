/** The store on SQLite: every operation is a call to the worker thread that owns the connection. */
import { KeyCache } from '../key-cache.js';
import type {
  AssetStore,
  DispatchStore,
  JobStore,
  Store,
  UsageRow,
  WebhookStore,
} from '../port.js';
import { UsageBuffer } from '../usage-buffer.js';
import type { Operations } from './operations.js';
import { WorkerCalls } from './worker-calls.js';

interface SqliteStoreOptions {
  /** Told how many usage rows will never be written, and why. */
  readonly onUsageLost: (rows: number, reason: string) => void;
}

/** An operation that the worker does as it is asked, with nothing before or after. */
type Ask = <Name extends keyof Operations>(
  name: Name,
) => (...args: Parameters<Operations[Name]>) => Promise<ReturnType<Operations[Name]>>;

/** Needs a database whose tables are up to date, and the lock of its folder. */
export function createSqliteStore(databaseFile: string, options: SqliteStoreOptions): Store {
  const calls = new WorkerCalls(databaseFile);
  const keys = new KeyCache();
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) => calls.call('writeUsage', rows),
    onLost: options.onUsageLost,
  });
  const ask: Ask =
    (name) =>
    (...args) =>
      calls.call(name, ...args);
  return {
    createMember: ask('createMember'),
    findMember: ask('findMember'),
    listMembers: ask('listMembers'),
    setMemberLimits: (...args) => keys.change(() => calls.call('setMemberLimits', ...args)),

    createKey: ask('createKey'),
    listKeys: ask('listKeys'),
    findKeyHolder: (hash) => keys.find(hash, () => calls.call('findKeyHolder', hash)),
    setKeyState: (...args) => keys.change(() => calls.call('setKeyState', ...args)),
    touchKeys: ask('touchKeys'),

    ...providerCalls(ask),
    ...assetCalls(ask),
    ...jobCalls(ask),
    ...dispatchCalls(ask),
    ...webhookCalls(ask),

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

type ProviderStore = Pick<
  Store,
  | 'createJoinToken'
  | 'enroll'
  | 'findProviderByToken'
  | 'listProviders'
  | 'setProviderDraining'
  | 'recordProviderSeen'
>;

function providerCalls(ask: Ask): ProviderStore {
  return {
    createJoinToken: ask('createJoinToken'),
    enroll: ask('enroll'),
    findProviderByToken: ask('findProviderByToken'),
    listProviders: ask('listProviders'),
    setProviderDraining: ask('setProviderDraining'),
    recordProviderSeen: ask('recordProviderSeen'),
  };
}

function assetCalls(ask: Ask): AssetStore {
  return {
    createAsset: ask('createAsset'),
    findAsset: ask('findAsset'),
    listAssets: ask('listAssets'),
    deleteAsset: ask('deleteAsset'),
    assetSpace: ask('assetSpace'),
    listExpiredAssets: ask('listExpiredAssets'),
    takeExpiredAssets: ask('takeExpiredAssets'),
    knownAssets: ask('knownAssets'),
  };
}

function jobCalls(ask: Ask): JobStore {
  return {
    createJob: ask('createJob'),
    createBatch: ask('createBatch'),
    findSubmittedJob: ask('findSubmittedJob'),
    findJob: ask('findJob'),
    listJobs: ask('listJobs'),
    queuePositions: ask('queuePositions'),
    cancelJob: ask('cancelJob'),
    retryJob: ask('retryJob'),
    findBatch: ask('findBatch'),
    listBatches: ask('listBatches'),
    cancelBatch: ask('cancelBatch'),
    deleteOldJobs: ask('deleteOldJobs'),
  };
}

function dispatchCalls(ask: Ask): DispatchStore {
  return {
    laneHeads: ask('laneHeads'),
    claimJobs: ask('claimJobs'),
    acceptJob: ask('acceptJob'),
    releaseJob: ask('releaseJob'),
    renewClaims: ask('renewClaims'),
    finishJob: ask('finishJob'),
    failJob: ask('failJob'),
    sweepLeases: ask('sweepLeases'),
    renewAllClaims: ask('renewAllClaims'),
    resumeClaims: ask('resumeClaims'),
    ripenJobs: ask('ripenJobs'),
    expireJobs: ask('expireJobs'),
    requeueStuck: ask('requeueStuck'),
    modelQueues: ask('modelQueues'),
    isQueuePaused: ask('isQueuePaused'),
    setQueuePaused: ask('setQueuePaused'),
  };
}

function webhookCalls(ask: Ask): WebhookStore {
  return {
    dueWebhooks: ask('dueWebhooks'),
    nextWebhookAt: ask('nextWebhookAt'),
    endWebhook: ask('endWebhook'),
    postponeWebhook: ask('postponeWebhook'),
  };
}
