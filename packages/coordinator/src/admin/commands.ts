/**
 * Every administrative operation, once. A running coordinator executes them for its socket, and the
 * command line by itself where none runs: there is no second way of doing a thing.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { LocalCall } from '@inference-gateway/shared/program/local-socket';
import * as z from 'zod';
import { adminCommand } from './admin-context.js';
import type { AdminCommand, AdminContext } from './admin-context.js';
import { listAssets, pruneAssets, verifyAssets } from './assets.js';
import { cancelBatch, listBatches, showBatch } from './batches.js';
import { cancelJob, listJobs, retryJob, showJob } from './jobs.js';
import { createJoinToken } from './join-tokens.js';
import { createKey, disableKey, enableKey, listKeys, revokeKey } from './keys.js';
import { clearLimits, setLimits, showLimits } from './limits.js';
import { createUser, listUsers } from './members.js';
import {
  drainProvider,
  kickProvider,
  listProviders,
  resumeProvider,
  showProvider,
} from './providers.js';
import { pauseQueue, requeueStuck, resumeQueue, summarizeQueue } from './queue.js';
import { showStats } from './stats.js';

export const ADMIN_COMMANDS = {
  'user.create': createUser,
  'user.list': listUsers,
  'key.create': createKey,
  'key.list': listKeys,
  'key.disable': disableKey,
  'key.enable': enableKey,
  'key.revoke': revokeKey,
  'token.create': createJoinToken,
  'provider.list': listProviders,
  'provider.show': showProvider,
  'provider.drain': drainProvider,
  'provider.resume': resumeProvider,
  'provider.kick': kickProvider,
  'limit.set': setLimits,
  'limit.show': showLimits,
  'limit.clear': clearLimits,
  'stats.show': showStats,
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
  /** Null where no coordinator runs. */
  'server.status': adminCommand(z.strictObject({}), async ({ server }) => server),
};

type Commands = typeof ADMIN_COMMANDS;
export type AdminName = keyof Commands;
export type AdminArgs<Name extends AdminName> = z.input<Commands[Name]['args']>;
export type AdminResult<Name extends AdminName> = Awaited<ReturnType<Commands[Name]['run']>>;

/** Executes one call. Throws a `CommandError`: `usage` where the arguments are wrong. */
export async function runAdmin(context: AdminContext, call: LocalCall): Promise<unknown> {
  const commands: Readonly<Record<string, AdminCommand<z.ZodType, unknown>>> = ADMIN_COMMANDS;
  const command = Object.hasOwn(commands, call.command) ? commands[call.command] : undefined;
  if (command === undefined) {
    const message = `this coordinator does not know '${call.command}': it is of another version.`;
    throw new CommandError(EXIT.usage, message);
  }
  const args = command.args.safeParse(call.args);
  if (args.success) return command.run(context, args.data);
  // The value is left out: it can be a password.
  const faults = args.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new CommandError(EXIT.usage, faults.join('; '));
}
