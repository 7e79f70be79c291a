/**
 * All operations of a member in the dashboard: each one limits an administrative operation to the
 * member's own data, so that each is implemented once.
 */
import * as z from 'zod';
import { MAX_EXCERPT_AGE_MS } from '../../core/jobs/job.js';
import type { AdminContext } from '../operation.js';
import { renameUser, endSessions, listSessions } from '../members.js';
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
} from '../keys.js';
import { cancelJobs, chosenJobs, countJobs, jobFilter, retryJobs } from './bulk-jobs.js';
import { viewFailedAttempts } from '../jobs.js';
import { showGroups } from '../queue.js';
import { providerNames } from '../references.js';
import { approveDevice, denyDevice, findDevice } from '../devices.js';
import { createJoinToken, listJoinTokens, revokeJoinToken, tokenFields } from '../join-tokens.js';
import { MY_ALIASES } from './aliases.js';
import { MY_INVITATIONS, MY_NETWORKS, MY_SHARES } from './networks.js';
import type { MyCommand } from './command.js';
import { change, guarded, read } from './command.js';
import { MY_FEED } from './feed.js';
import { MY_GPU_DAY } from './gpu-day.js';
import { MY_HOME } from './home.js';
import { MY_MODELS } from './models.js';
import { MY_PROVIDERS } from './providers.js';
import { MY_LOG_IN_METHODS } from './log-in-methods.js';
import { MY_USAGE } from './usage.js';
import { ownSession, ownKey, notYours, ownProvider, ownToken, ownTokens } from './own.js';

const MY_ACCOUNT = {
  'user.rename': change(renameUser.args.omit({ member: true }), ({ context, member }, { name }) =>
    renameUser.run(context, { member: member.id, name }),
  ),
  /** Switched off, those of all jobs and files are erased at once. */
  'user.excerpts': change(
    z.strictObject({ on: z.boolean() }),
    async ({ context: { store, now }, member }, { on }) => {
      if (!(await store.setExcerpts(member.id, on))) throw notYours('account', member.id);
      if (!on) await eraseExcerpts(store, now());
      return { on };
    },
  ),
  'user.sessions': read(z.strictObject({}), async ({ context, member, sessionId }) => {
    const sessions = await listSessions.run(context, { member: member.id });
    return sessions.map((session) => ({ ...session, current: session.id === sessionId }));
  }),
  'user.logout': guarded(endSessions, ownSession),
};

/** Jobs and files in one operation of the store. */
const ERASED_AT_ONCE = 500;

async function eraseExcerpts(store: AdminContext['store'], now: number): Promise<void> {
  for (let erased = ERASED_AT_ONCE; erased === ERASED_AT_ONCE;) {
    erased = await store.eraseExcerpts(now - MAX_EXCERPT_AGE_MS, ERASED_AT_ONCE);
  }
}

const MY_KEYS = {
  'key.list': read(z.strictObject({}), ({ context, member }) =>
    listKeys.run(context, { user: member.id }),
  ),
  'key.create': change(createKey.args.omit({ user: true }), ({ context, member }, args) =>
    createKey.run(context, { ...args, user: member.id }),
  ),
  'key.show': guarded(showKey, ownKey),
  'key.limit': guarded(limitKey, ownKey),
  'key.rename': guarded(renameKey, ownKey),
  'key.rotate': guarded(rotateKey, ownKey),
  'key.disable': guarded(disableKey, ownKey),
  'key.enable': guarded(enableKey, ownKey),
  'key.revoke': guarded(revokeKey, ownKey),
};

/** Longer requests contain media, and are not shown as text. */
const MAX_SHOWN_BYTES = 256 * 1024;

const MY_JOBS = {
  /** What the API does not return of a job: its provider, and its request. */
  'job.facts': read(z.strictObject({ job: z.string() }), async (mine, { job: id }) => {
    const { store } = mine.context;
    const detail = await store.findJob(id, mine.member.id);
    if (detail === null) throw notYours('job', id);
    const body = await store.findJobBody(id, mine.member.id);
    const { job } = detail;
    const providers = await providerNames(store);
    return {
      /** The provider that has it, or had it last. */
      provider: providers.get(job.providerId ?? '') ?? null,
      request_id: job.requestId,
      /** 1, incremented by every retry. */
      generation: job.generation,
      not_before: job.notBefore,
      failed_attempts: viewFailedAttempts(detail, providers),
      /** JSON; null once the job is PROCESSED, or if it is too long to be shown. */
      request: body === null || body.byteLength > MAX_SHOWN_BYTES ? null : textOf(body),
      request_bytes: body?.byteLength ?? null,
    };
  }),
  'jobs.count': read(z.strictObject({ where: jobFilter }), ({ context, member }, { where }) =>
    countJobs(context, member.id, where),
  ),
  'jobs.cancel': change(chosenJobs, ({ context, member }, chosen) =>
    cancelJobs(context, member.id, chosen),
  ),
  'jobs.retry': change(chosenJobs, ({ context, member }, chosen) =>
    retryJobs(context, member.id, chosen),
  ),
  'queue.groups': read(z.strictObject({}), ({ context, member }) => showGroups(context, member.id)),
};

/** Longer lifetimes are not offered: a forgotten token may be found by others. */
const MAX_TOKEN_S = 7 * 86_400;

const LIFE_RULE = 'a join token is good for at most 7 days';

const newToken = tokenFields.extend({
  expires_in_s: z.int().min(1).max(MAX_TOKEN_S, LIFE_RULE),
});

const oneCode = z.strictObject({ code: z.string() });

/** Adding a machine: by a join token, or by the code that it shows. */
const MY_MACHINES = {
  'token.list': read(z.strictObject({}), async (mine) => {
    const own = new Set((await ownTokens(mine)).map(({ id }) => id));
    return (await listJoinTokens.run(mine.context, {})).filter(({ id }) => own.has(id));
  }),
  'token.create': change(newToken, async (mine, args) => {
    const { context, member } = mine;
    if (args.replace !== null) await ownProvider(mine, { provider: args.replace });
    return createJoinToken.run(context, { ...args, owner: member.id });
  }),
  'token.revoke': guarded(revokeJoinToken, ownToken),

  // Also a change, because a wrong code is counted.
  'device.find': change(oneCode, ({ context, member }, { code }) =>
    findDevice.run(context, { code, owner: member.id }),
  ),
  'device.approve': change(oneCode, ({ context, member }, { code }) =>
    // Not an approval: if providers need one, this one still waits for an administrator.
    approveDevice.run(context, { code, owner: member.id, vouches: member.role === 'admin' }),
  ),
  'device.deny': change(oneCode, ({ context }, { code }) => denyDevice.run(context, { code })),
};

export const MY_COMMANDS = {
  ...MY_HOME,
  ...MY_JOBS,
  ...MY_KEYS,
  ...MY_MACHINES,
  ...MY_PROVIDERS,
  ...MY_MODELS,
  ...MY_GPU_DAY,
  ...MY_NETWORKS,
  ...MY_INVITATIONS,
  ...MY_SHARES,
  ...MY_ALIASES,
  ...MY_ACCOUNT,
  ...MY_FEED,
  ...MY_LOG_IN_METHODS,
  ...MY_USAGE,
};

type Commands = typeof MY_COMMANDS;

export type MyName = keyof Commands;

export type MyArgs<Name extends MyName> = z.input<Commands[Name]['args']>;

export type MyResult<Name extends MyName> = Awaited<ReturnType<Commands[Name]['run']>>;

/** Commands by GET; the others are by POST. */
export type MyRead = {
  [Name in MyName]: Commands[Name]['kind'] extends 'read' ? Name : never;
}[MyName];

export type MyChange = Exclude<MyName, MyRead>;

type AnyCommand = MyCommand<'read' | 'change', z.ZodType, object>;

/** Null if there is no command of this name. */
export function findMyCommand(name: string): AnyCommand | null {
  const commands: Readonly<Record<string, AnyCommand>> = MY_COMMANDS;
  return Object.hasOwn(commands, name) ? (commands[name] ?? null) : null;
}

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}
