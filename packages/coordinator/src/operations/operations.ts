/**
 * All administrative operations. A running coordinator executes them for its admin socket and the
 * dashboard, and the command line itself if none runs.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { LocalCall } from '@inference-gateway/shared/program/local-socket';
import * as z from 'zod';
import { adminRead } from './operation.js';
import type { AdminCommand, AdminParts, CommandKind } from './operation.js';
import { listAliases, removeAlias, setAlias } from './aliases.js';
import { readArgs } from './arguments.js';
import { listAssets, pruneAssets, verifyAssets } from './assets.js';
import { listAudit } from './audit.js';
import { recordBackup, showSystem } from './system.js';
import { cancelBatch, listBatches, showBatch } from './batches.js';
import { blockMember, unblockMember, shareProvider, unshareProvider } from './shares.js';
import { cancelJob, listJobs, retryJob, showJob } from './jobs.js';
import { approveDevice, denyDevice, findDevice, listDevices } from './devices.js';
import { createInvite, listInvites, revokeInvite } from './invites.js';
import { createJoinToken, listJoinTokens, revokeJoinToken } from './join-tokens.js';
import {
  createKey,
  disableKey,
  enableKey,
  limitKey,
  listKeys,
  renameKey,
  revokeKey,
  rotateKey,
  showKey,
} from './keys.js';
import { clearLimits, setLimits, showLimits } from './limits.js';
import {
  createResetLink,
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  listUsers,
  renameUser,
  setPassword,
  setRole,
  showUser,
  endSessions,
  listSessions,
} from './members.js';
import { listModels } from './models.js';
import {
  addToNetwork,
  createNetwork,
  deleteNetwork,
  listNetworks,
  removeFromNetwork,
  renameNetwork,
  showNetwork,
} from './networks.js';
import { drainNode, listNodes, removeNode, resumeNode, rotateNodeKey } from './nodes.js';
import {
  approveProvider,
  drainProvider,
  kickProvider,
  listProviders,
  pauseProvider,
  removeProvider,
  renameProvider,
  resumeProvider,
  showProvider,
  unpauseProvider,
} from './providers.js';
import { pauseQueue, requeueStuck, resumeQueue, summarizeQueue } from './queue.js';
import { listRecentUsage, showActivity, showSeries, showStats } from './stats.js';

export const ADMIN_COMMANDS = {
  'user.create': createUser,
  'user.list': listUsers,
  'user.show': showUser,
  'user.rename': renameUser,
  'user.role': setRole,
  'user.disable': disableUser,
  'user.enable': enableUser,
  'user.delete': deleteUser,
  'user.password': setPassword,
  'user.reset-link': createResetLink,
  'user.invite': createInvite,
  'user.invites': listInvites,
  'user.uninvite': revokeInvite,
  'user.sessions': listSessions,
  'user.logout': endSessions,
  'key.create': createKey,
  'key.list': listKeys,
  'key.show': showKey,
  'key.limit': limitKey,
  'key.rename': renameKey,
  'key.rotate': rotateKey,
  'key.disable': disableKey,
  'key.enable': enableKey,
  'key.revoke': revokeKey,
  'token.create': createJoinToken,
  'token.list': listJoinTokens,
  'token.revoke': revokeJoinToken,
  'device.list': listDevices,
  'device.find': findDevice,
  'device.approve': approveDevice,
  'device.deny': denyDevice,
  'network.create': createNetwork,
  'network.list': listNetworks,
  'network.show': showNetwork,
  'network.add': addToNetwork,
  'network.remove': removeFromNetwork,
  'network.rename': renameNetwork,
  'network.delete': deleteNetwork,
  'provider.list': listProviders,
  'provider.show': showProvider,
  'provider.drain': drainProvider,
  'provider.resume': resumeProvider,
  'provider.pause': pauseProvider,
  'provider.unpause': unpauseProvider,
  'provider.kick': kickProvider,
  'provider.approve': approveProvider,
  'provider.rename': renameProvider,
  'provider.remove': removeProvider,
  'provider.share': shareProvider,
  'provider.unshare': unshareProvider,
  'provider.block': blockMember,
  'provider.unblock': unblockMember,
  'node.list': listNodes,
  'node.drain': drainNode,
  'node.resume': resumeNode,
  'node.remove': removeNode,
  'node.rotate-key': rotateNodeKey,
  'model.list': listModels,
  'alias.set': setAlias,
  'alias.list': listAliases,
  'alias.remove': removeAlias,
  'limit.set': setLimits,
  'limit.show': showLimits,
  'limit.clear': clearLimits,
  'audit.list': listAudit,
  'stats.show': showStats,
  'stats.live': showActivity,
  'usage.series': showSeries,
  'usage.recent': listRecentUsage,
  'system.show': showSystem,
  'backup.record': recordBackup,
  'asset.list': listAssets,
  'asset.verify': verifyAssets,
  'asset.prune': pruneAssets,
  'job.list': listJobs,
  'job.show': showJob,
  'job.cancel': cancelJob,
  'job.retry': retryJob,
  'batch.list': listBatches,
  'batch.show': showBatch,
  'batch.cancel': cancelBatch,
  'queue.summary': summarizeQueue,
  'queue.pause': pauseQueue,
  'queue.resume': resumeQueue,
  'queue.requeue-stuck': requeueStuck,
  /** Null if no coordinator runs. */
  'server.status': adminRead(z.strictObject({}), async ({ server, retention }) => {
    const { retentionMs, usageRetentionMs, auditRetentionMs } = retention;
    return server && { ...server, retention: { retentionMs, usageRetentionMs, auditRetentionMs } };
  }),
};

type Commands = typeof ADMIN_COMMANDS;
export type AdminName = keyof Commands;
export type AdminArgs<Name extends AdminName> = z.input<Commands[Name]['args']>;
export type AdminResult<Name extends AdminName> = Awaited<ReturnType<Commands[Name]['run']>>;

type AnyCommand = AdminCommand<CommandKind, z.ZodType, object | null>;

/** Null if there is no operation of this name. */
export function findAdminCommand(name: string): AnyCommand | null {
  const commands: Readonly<Record<string, AnyCommand>> = ADMIN_COMMANDS;
  return Object.hasOwn(commands, name) ? (commands[name] ?? null) : null;
}

/** The actor of a call without one. */
const SOMEBODY = 'cli';

/** Executes one call. Throws a `CommandError`: `usage` if the arguments are wrong. */
export async function runAdmin(parts: AdminParts, call: LocalCall): Promise<unknown> {
  const command = findAdminCommand(call.command);
  if (command === null) {
    const message = `this coordinator does not know '${call.command}': it is of another version.`;
    throw new CommandError(EXIT.usage, message);
  }
  const args = readArgs(command.args, call.args);
  const by = call.by ?? SOMEBODY;
  const context = { ...parts, by, boundTo: null, address: null, store: parts.store.by(by) };
  return command.run(context, args);
}
