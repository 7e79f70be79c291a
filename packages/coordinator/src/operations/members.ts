import { assertNever } from '@inference-gateway/shared/assert';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { bytesText } from '@inference-gateway/shared/program/print';
import * as z from 'zod';
import { isSecret, newSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { deviceName } from '../accounts/device-name.js';
import { hashPassword, newPassword } from '../accounts/password.js';
import { NAME_PATTERN, NAME_RULE } from '../core/access/name.js';
import type {
  Created,
  Job,
  Member,
  MemberChange,
  MemberHoldings,
  Network,
  MemberSession,
  Store,
} from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { emailAddress } from '../accounts/email-address.js';
import { keyState } from './keys.js';
import { presentUse } from '../core/usage/quota.js';
import { presentLimits } from './limits.js';
import { resolveMember, secretInArgument, unknown } from './references.js';

/** Attempts at a name derived from the address: `anna`, `anna-2`, … */
const MAX_NAME_TRIES = 100;

const newUser = z.strictObject({
  email: emailAddress,
  /** Null: derived from the address. */
  name: z.string().regex(NAME_PATTERN, NAME_RULE).nullable(),
  admin: z.boolean(),
  password: newPassword.nullable(),
});

export const createUser = adminChange(newUser, async (context, args) => {
  const passwordHash = args.password === null ? null : await hashPassword(args.password);
  const created = await createNamed(context, { ...args, passwordHash });
  if (created.kind === 'created') {
    context.onMember();
    return present(created.value);
  }
  if (created.field === 'email') throw memberExists('email', args.email);
  throw memberExists('name', args.name ?? args.email, ' Give another with --name.');
});

export const listUsers = adminRead(z.strictObject({}), async ({ store }) => {
  return (await store.listMembers()).map(present);
});

const oneMember = z.strictObject({ member: z.string() });

export const showUser = adminRead(oneMember, async ({ store, now }, args) => {
  const member = await resolveMember(store, args.member);
  const { id } = member;
  const at = now();
  const [networks, blocks] = [await store.listNetworks(), await store.listBlocks()];
  const own = (await store.listProviders()).filter(({ ownerId }) => ownerId === id);
  const keys = await store.listKeys(id);
  return {
    ...present(member),
    disabled_at: member.disabledAt,
    has_password: member.hasPassword,
    limits: presentLimits(member),
    used: presentUse(await store.quotaUse({ memberId: id, keyId: null }, at), at),
    networks: networks.filter((one) => isIn(one, id)).map(({ name }) => name),
    providers: own.map(({ name }) => name),
    keys: keys.filter((key) => keyState(key, at) === 'active').length,
    sessions: (await store.listSessions(id, at)).length,
    blocks: blocks.filter(({ ownerId }) => ownerId === id).map(({ memberName }) => memberName),
    blocked_by: blocks.filter(({ memberId }) => memberId === id).map(({ ownerName }) => ownerName),
  };
});

export const renameUser = adminChange(
  z.strictObject({ member: z.string(), name: z.string().regex(NAME_PATTERN, NAME_RULE) }),
  (context, { member, name }) => change(context, member, { name }),
);

export const setRole = adminChange(
  z.strictObject({ member: z.string(), role: z.enum(['admin', 'member']) }),
  (context, { member, role }) => change(context, member, { role }),
);

/** The member loses all access and their providers stop serving; their data is kept. */
export const disableUser = adminChange(oneMember, async (context, args) => {
  const changed = await change(context, args.member, { disabled: true });
  const providers = await providersOf(context, changed.id);
  // After the write, which refuses agents that reconnect.
  const closed = providers.filter(({ id }) => context.links?.refuse(id, 'disabled') === true);
  return { ...changed, links_closed: closed.length };
});

/** Ended jobs deleted in one operation of the store: more would block its only writer. */
const JOBS_AT_ONCE = 200;

/** With `dry_run`, only reports the consequences of the deletion. */
export const deleteUser = adminChange(
  z.strictObject({ member: z.string(), dry_run: z.boolean() }),
  async (context, { member, dry_run }) => {
    const { store, assets, now } = context;
    const { id, name } = await resolveMember(store, member);
    const holdings = await store.memberHoldings(id);
    if (holdings === null) throw memberGone(name);
    if (dry_run) return { name, deleted: false, ...presentHoldings(holdings) };
    await requireAnotherAdmin(context, id);
    // First, so that nothing new begins; after a failure half-way, the command is repeated.
    await store.changeMember(id, { disabled: true }, now());
    await endJobs(context, id);
    while ((await store.deleteMemberJobs(id, JOBS_AT_ONCE)) === JOBS_AT_ONCE);
    const deleted = await store.deleteMember(id, now());
    if (deleted.kind === 'last_admin') {
      // Two admins who delete each other at once are both disabled by now, which is undone.
      await store.changeMember(id, { disabled: false }, now());
      throw lastAdmin(name);
    }
    if (deleted.kind === 'unknown') throw memberGone(name);
    // A remaining file is an orphan, which the sweep removes.
    await assets.removeFiles(deleted.assetIds);
    return { name, deleted: true, ...presentHoldings(holdings) };
  },
);

function presentHoldings(of: MemberHoldings) {
  return {
    keys: of.keys,
    sessions: of.sessions,
    passkeys: of.passkeys,
    identities: of.identities,
    invites: of.invites,
    device_logins: of.deviceLogins,
    join_tokens: of.joinTokens,
    jobs_queued: of.jobsQueued,
    jobs_running: of.jobsRunning,
    jobs_ended: of.jobsEnded,
    batches: of.batches,
    assets: of.assets,
    asset_bytes: of.assetBytes,
    providers: of.providers,
    networks: of.networks,
    memberships: of.memberships,
    shares_given: of.sharesGiven,
    shares_received: of.sharesReceived,
    blocks: of.blocks,
    aliases: of.aliases,
    webhooks: of.webhooks,
    usage_rows: of.usageRows,
    consequences: consequences(of),
  };
}

/** The consequences of the deletion, for people; zero counts are left out. */
function consequences(of: MemberHoldings): string[] {
  const lines: readonly (readonly [count: number, line: string])[] = [
    [
      of.keys + of.sessions,
      `${counted(of.keys, 'API key')} and ${counted(of.sessions, 'session')} end`,
    ],
    [
      of.passkeys + of.identities,
      `passkeys and connected accounts deleted: ${of.passkeys + of.identities}`,
    ],
    [of.jobsRunning, `${counted(of.jobsRunning, 'running job')} stopped on the GPU`],
    [of.jobsQueued, `${counted(of.jobsQueued, 'queued job')} canceled`],
    [of.jobsEnded, `${counted(of.jobsEnded, 'finished job')} deleted, results included`],
    [of.batches, `${counted(of.batches, 'batch', 'batches')} deleted`],
    [of.webhooks, `${counted(of.webhooks, 'webhook message')} not sent`],
    [of.assets, `${counted(of.assets, 'file')} of ${bytesText(of.assetBytes)} deleted`],
    [of.providers.length, `their machines' links end for good: ${of.providers.join(', ')}`],
    [of.networks.length, `networks that they own end: ${of.networks.join(', ')}`],
    [of.memberships, `they leave ${counted(of.memberships, 'network')}`],
    [of.sharesGiven, `${counted(of.sharesGiven, 'share')} of their machines end`],
    [of.sharesReceived, `${counted(of.sharesReceived, 'share')} with them end`],
    [of.invites + of.joinTokens, 'their open invites and join tokens stop working'],
    [1, 'their usage stays in the totals, under an id only; the audit log no longer names them'],
  ];
  return lines.flatMap(([count, line]) => (count > 0 ? line : []));
}

function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

async function requireAnotherAdmin({ store }: AdminContext, id: string): Promise<void> {
  const members = await store.listMembers();
  const member = members.find((one) => one.id === id);
  if (member?.role !== 'admin' || members.some((one) => one.id !== id && isActiveAdmin(one)))
    return;
  throw lastAdmin(member.name);
}

function isActiveAdmin({ role, disabledAt }: Member): boolean {
  return role === 'admin' && disabledAt === null;
}

/** Cancels waiting and running jobs, also on the GPU. */
async function endJobs({ store, jobActions }: AdminContext, memberId: string): Promise<void> {
  const question = { endpoints: null, model: null, limit: JOBS_AT_ONCE, order: 'desc' } as const;
  for (let after: string | null = null; ;) {
    const jobs: readonly Job[] = await store.listJobs({
      memberId,
      statuses: ['QUEUED', 'PROCESSING'],
      after,
      ...question,
    });
    for (const { id } of jobs) await jobActions.cancel(id, memberId);
    if (jobs.length < JOBS_AT_ONCE) return;
    after = jobs.at(-1)?.id ?? null;
  }
}

function lastAdmin(name: string): CommandError {
  const message = `${name} is the last admin: make another one with "user role" first.`;
  return new CommandError(EXIT.conflict, message);
}

function memberGone(name: string): CommandError {
  return new CommandError(EXIT.notFound, `the member ${name} is not there any more.`);
}

export const enableUser = adminChange(oneMember, (context, args) =>
  change(context, args.member, { disabled: false }),
);

/** Ends all sessions that used the old password. */
export const setPassword = adminChange(
  z.strictObject({ member: z.string(), password: newPassword }),
  async (context, args) =>
    change(context, args.member, { passwordHash: await hashPassword(args.password) }),
);

const RESET_LINK_MS = 60 * 60_000;

/** The only time that the secret itself is shown. It replaces an earlier link of the member. */
export const createResetLink = adminChange(oneMember, async ({ store, server, now }, args) => {
  const { id, name, email } = await resolveMember(store, args.member);
  const secret = newSecret('gwr');
  const at = now();
  const expiresAt = at + RESET_LINK_MS;
  const reset = { hash: hashSecret(secret), memberId: id, expiresAt };
  if (!(await store.createPasswordReset(reset, at))) {
    throw new CommandError(EXIT.conflict, `${name} is disabled: enable them first.`);
  }
  const origin = server === null ? null : (server.publicUrl ?? server.address);
  return { member: name, email, expires_at: expiresAt, secret, origin };
});

async function change({ store, now }: AdminContext, reference: string, to: MemberChange) {
  const { id, name } = await resolveMember(store, reference);
  const changed = await store.changeMember(id, to, now());
  switch (changed.kind) {
    case 'changed':
      return present(changed.value);
    case 'taken':
      throw memberExists(changed.field, to.name ?? name);
    case 'unknown':
      throw memberGone(name);
    default:
      return assertNever(changed);
  }
}

async function providersOf({ store }: AdminContext, ownerId: string) {
  return (await store.listProviders()).filter((provider) => provider.ownerId === ownerId);
}

function isIn({ members }: Network, memberId: string): boolean {
  return members.some(({ id }) => id === memberId);
}

type Args = z.output<typeof newUser> & { readonly passwordHash: string | null };

/** A derived name is changed if it is taken; a given one is refused. */
async function createNamed({ store, now }: AdminContext, args: Args): Promise<Created<Member>> {
  const { email, passwordHash } = args;
  const role = args.admin ? 'admin' : 'member';
  const create = (name: string): Promise<Created<Member>> =>
    store.createMember({ email, name, role, passwordHash }, now());
  if (args.name !== null) return create(args.name);
  const stem = email.slice(0, email.indexOf('@')).slice(0, MAX_STEM);
  let created = await create(stem);
  for (let n = 2; n <= MAX_NAME_TRIES && isNameTaken(created); n++) {
    created = await create(`${stem}-${n}`);
  }
  return created;
}

/** Leaves room for `-100` in a name of 64. */
const MAX_STEM = 60;

function isNameTaken(created: Created<Member>): boolean {
  return created.kind === 'taken' && created.field === 'name';
}

function present({ id, email, name, role, createdAt, disabledAt }: Member) {
  const state = disabledAt === null ? 'active' : 'disabled';
  return { id, email, name, role, state, created_at: createdAt } as const;
}

/** The error for a name or an address that is taken. */
export function memberExists(field: 'email' | 'name', value: string, hint = ''): CommandError {
  const message = `a member with the ${field} '${value}' exists already.${hint}`;
  return new CommandError(EXIT.conflict, message);
}

export const listSessions = adminRead(
  z.strictObject({ member: z.string().nullable() }),
  async ({ store, now }, args) => {
    const member = args.member === null ? null : await resolveMember(store, args.member);
    return (await store.listSessions(member?.id ?? null, now())).map(presentSession);
  },
);

/** Ends one by its id, or all of a member: 0 if they have none. */
export const endSessions = adminChange(
  z.strictObject({ session: z.string() }),
  async ({ store, now }, { session: reference }) => {
    if (isSecret('gws', reference)) throw secretInArgument('a session itself', 'its id');
    const session = (await store.listSessions(null, now())).find(({ id }) => id === reference);
    if (session !== undefined) {
      const ended = await store.endSessions({ id: session.id }, now());
      return { name: session.memberName, ended };
    }
    const member = await store.findMember(reference);
    if (member === null) throw await nobody(store, reference);
    return { name: member.name, ended: await store.endSessions({ memberId: member.id }, now()) };
  },
);

async function nobody(store: Store, reference: string): Promise<Error> {
  const known = (await store.listMembers()).flatMap(({ email, name }) => [email, name]);
  return unknown('member or session', { reference, known, list: 'user sessions' });
}

function presentSession(session: MemberSession) {
  return {
    id: session.id,
    member: session.memberName,
    address: session.address,
    user_agent: session.userAgent,
    device: deviceName(session.userAgent),
    method: session.method,
    created_at: session.createdAt,
    last_used_at: session.lastUsedAt,
    expires_at: session.expiresAt,
  };
}
