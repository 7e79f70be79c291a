/** The store on SQLite: every operation is a call to the worker thread that owns the connection. */
import { KeyCache } from './key-cache.js';
import type { Store, UsageRow } from '../../port.js';
import { UsageBuffer } from './usage-buffer.js';
import { SYSTEM } from './audit-trail.js';
import { WorkerCalls } from './worker-calls.js';
import type { Operations } from './operations.js';

interface SqliteStoreOptions {
  /** Of the coordinator that uses the store. */
  readonly nodeId: string;
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
  const calls = new WorkerCalls({ databaseFile, nodeId: options.nodeId });
  const usage = new UsageBuffer({
    write: (rows: readonly UsageRow[]) => calls.call(SYSTEM, 'writeUsage', rows),
    onLost: options.onUsageLost,
  });
  const keys = new KeyCache();
  calls.watchKeys(() => keys.forget());
  return storeOf({ calls, keys, usage }, SYSTEM);
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
  return {
    by: (other) => storeOf(parts, other),
    ...forwardedCalls(ask),

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
      await usage.close();
      await calls.close();
    },
  };
}

/** An operation that the worker does as it is asked, with nothing before or after. */
type Ask = <Name extends keyof Operations>(
  name: Name,
) => (...args: Parameters<Operations[Name]>) => Promise<ReturnType<Operations[Name]>>;

type Forwarded = ReturnType<typeof memberCalls> &
  ReturnType<typeof providerCalls> &
  ReturnType<typeof deviceCalls> &
  ReturnType<typeof sharingCalls> &
  ReturnType<typeof assetCalls> &
  ReturnType<typeof jobCalls> &
  ReturnType<typeof dispatchCalls> &
  ReturnType<typeof webhookCalls>;

/** What the worker alone does for the store. The names are spelled out: a missing one shows. */
function forwardedCalls(ask: Ask): Forwarded {
  return {
    ...memberCalls(ask),
    ...providerCalls(ask),
    ...deviceCalls(ask),
    ...sharingCalls(ask),
    ...assetCalls(ask),
    ...jobCalls(ask),
    ...dispatchCalls(ask),
    ...webhookCalls(ask),
  };
}

function memberCalls(ask: Ask) {
  return {
    createMember: ask('createMember'),
    createFirstMember: ask('createFirstMember'),
    findMember: ask('findMember'),
    changeMember: ask('changeMember'),
    deleteMember: ask('deleteMember'),
    setMemberLimits: ask('setMemberLimits'),
    listMembers: ask('listMembers'),
    memberHoldings: ask('memberHoldings'),
    deleteMemberJobs: ask('deleteMemberJobs'),
    createInvite: ask('createInvite'),
    listInvites: ask('listInvites'),
    revokeInvite: ask('revokeInvite'),
    acceptInvite: ask('acceptInvite'),
    findPassword: ask('findPassword'),
    createSession: ask('createSession'),
    useSession: ask('useSession'),
    listSessions: ask('listSessions'),
    endSessions: ask('endSessions'),
    createKey: ask('createKey'),
    listKeys: ask('listKeys'),
    renameKey: ask('renameKey'),
    rotateKey: ask('rotateKey'),
    setKeyState: ask('setKeyState'),
    touchKeys: ask('touchKeys'),
    recordAudit: ask('recordAudit'),
    deleteOldAudit: ask('deleteOldAudit'),
    listAudit: ask('listAudit'),
  } satisfies Partial<Store>;
}

function providerCalls(ask: Ask) {
  return {
    createJoinToken: ask('createJoinToken'),
    listJoinTokens: ask('listJoinTokens'),
    revokeJoinToken: ask('revokeJoinToken'),
    enroll: ask('enroll'),
    findProviderByToken: ask('findProviderByToken'),
    listProviders: ask('listProviders'),
    countWaitingProviders: ask('countWaitingProviders'),
    setProviderDraining: ask('setProviderDraining'),
    setProviderPaused: ask('setProviderPaused'),
    providerActivity: ask('providerActivity'),
    approveProvider: ask('approveProvider'),
    renameProvider: ask('renameProvider'),
    removeProvider: ask('removeProvider'),
    startNode: ask('startNode'),
    beatNode: ask('beatNode'),
    recordServed: ask('recordServed'),
    endLink: ask('endLink'),
    servedModels: ask('servedModels'),
  } satisfies Partial<Store>;
}

function deviceCalls(ask: Ask) {
  return {
    createDevice: ask('createDevice'),
    listDevices: ask('listDevices'),
    findDevice: ask('findDevice'),
    approveDevice: ask('approveDevice'),
    denyDevice: ask('denyDevice'),
    collectDevice: ask('collectDevice'),
  } satisfies Partial<Store>;
}

function sharingCalls(ask: Ask) {
  return {
    createNetwork: ask('createNetwork'),
    renameNetwork: ask('renameNetwork'),
    deleteNetwork: ask('deleteNetwork'),
    listNetworks: ask('listNetworks'),
    joinNetwork: ask('joinNetwork'),
    leaveNetwork: ask('leaveNetwork'),
    inviteToNetwork: ask('inviteToNetwork'),
    listNetworkInvitations: ask('listNetworkInvitations'),
    answerNetworkInvitation: ask('answerNetworkInvitation'),
    withdrawNetworkInvitation: ask('withdrawNetworkInvitation'),
    putShare: ask('putShare'),
    deleteShare: ask('deleteShare'),
    listShares: ask('listShares'),
    blockMember: ask('blockMember'),
    unblockMember: ask('unblockMember'),
    listBlocks: ask('listBlocks'),
    sharingFacts: ask('sharingFacts'),
  } satisfies Partial<Store>;
}

function assetCalls(ask: Ask) {
  return {
    createAsset: ask('createAsset'),
    findAsset: ask('findAsset'),
    findLinkedAsset: ask('findLinkedAsset'),
    listAssets: ask('listAssets'),
    deleteAsset: ask('deleteAsset'),
    assetSpace: ask('assetSpace'),
    listExpiredAssets: ask('listExpiredAssets'),
    takeExpiredAssets: ask('takeExpiredAssets'),
    knownAssets: ask('knownAssets'),
  } satisfies Partial<Store>;
}

function jobCalls(ask: Ask) {
  return {
    createJob: ask('createJob'),
    createBatch: ask('createBatch'),
    findSubmittedJob: ask('findSubmittedJob'),
    findJob: ask('findJob'),
    findJobBody: ask('findJobBody'),
    listJobs: ask('listJobs'),
    queuePositions: ask('queuePositions'),
    cancelJob: ask('cancelJob'),
    retryJob: ask('retryJob'),
    findSubmittedBatch: ask('findSubmittedBatch'),
    findBatch: ask('findBatch'),
    listBatches: ask('listBatches'),
    cancelBatch: ask('cancelBatch'),
    deleteOldJobs: ask('deleteOldJobs'),
    deleteOldUsage: ask('deleteOldUsage'),
    countOld: ask('countOld'),
    releasePages: ask('releasePages'),
    compact: ask('compact'),
  } satisfies Partial<Store>;
}

function dispatchCalls(ask: Ask) {
  return {
    laneHeads: ask('laneHeads'),
    claimJobs: ask('claimJobs'),
    acceptJob: ask('acceptJob'),
    releaseJob: ask('releaseJob'),
    renewClaims: ask('renewClaims'),
    finishJob: ask('finishJob'),
    failJob: ask('failJob'),
    sweepLeases: ask('sweepLeases'),
    renewOwnClaims: ask('renewOwnClaims'),
    resumeClaims: ask('resumeClaims'),
    ripenJobs: ask('ripenJobs'),
    expireJobs: ask('expireJobs'),
    requeueStuck: ask('requeueStuck'),
    modelQueues: ask('modelQueues'),
    isQueuePaused: ask('isQueuePaused'),
    setQueuePaused: ask('setQueuePaused'),
  } satisfies Partial<Store>;
}

function webhookCalls(ask: Ask) {
  return {
    dueWebhooks: ask('dueWebhooks'),
    nextWebhookAt: ask('nextWebhookAt'),
    endWebhook: ask('endWebhook'),
    postponeWebhook: ask('postponeWebhook'),
  } satisfies Partial<Store>;
}
