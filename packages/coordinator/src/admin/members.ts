import { assertNever } from '@inference-gateway/shared/assert';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { hashPassword, newPassword } from '../accounts/password.js';
import { NAME_PATTERN, NAME_RULE } from '../core/name.js';
import type { Created, Member, MemberChange, Network } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import type { AdminContext } from './admin-context.js';
import { emailAddress } from '../accounts/email-address.js';
import { keyState } from './key-state.js';
import { resolveMember } from './references.js';

/** Tries at a name made from the address: `anna`, `anna-2`, … */
const MAX_NAME_TRIES = 100;

const newUser = z.strictObject({
  email: emailAddress,
  /** Null: made from the address. */
  name: z.string().regex(NAME_PATTERN, NAME_RULE).nullable(),
  admin: z.boolean(),
  password: newPassword.nullable(),
});

export const createUser = adminCommand(newUser, async (context, args) => {
  const passwordHash = args.password === null ? null : await hashPassword(args.password);
  const created = await createNamed(context, { ...args, passwordHash });
  if (created.kind === 'created') {
    context.onMember();
    return present(created.value);
  }
  if (created.field === 'email') throw memberExists('email', args.email);
  throw memberExists('name', args.name ?? args.email, ' Give another with --name.');
});

export const listUsers = adminCommand(z.strictObject({}), async ({ store }) => {
  return (await store.listMembers()).map(present);
});

const oneMember = z.strictObject({ member: z.string() });

export const showUser = adminCommand(oneMember, async ({ store, now }, args) => {
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
    limits: member.limits,
    networks: networks.filter((one) => isIn(one, id)).map(({ name }) => name),
    providers: own.map(({ name }) => name),
    keys: keys.filter((key) => keyState(key, at) === 'active').length,
    sessions: (await store.listSessions(id, at)).length,
    blocks: blocks.filter(({ ownerId }) => ownerId === id).map(({ memberName }) => memberName),
    blocked_by: blocks.filter(({ memberId }) => memberId === id).map(({ ownerName }) => ownerName),
  };
});

export const renameUser = adminCommand(
  z.strictObject({ member: z.string(), name: z.string().regex(NAME_PATTERN, NAME_RULE) }),
  async (context, { member, name }) => {
    const changed = await change(context, member, { name });
    for (const provider of await providersOf(context, changed.id)) {
      context.sessions?.rename(provider);
    }
    return changed;
  },
);

export const setRole = adminCommand(
  z.strictObject({ member: z.string(), role: z.enum(['admin', 'member']) }),
  (context, { member, role }) => change(context, member, { role }),
);

/** From now on they see nothing, and nobody sees them; what is theirs stays. */
export const disableUser = adminCommand(oneMember, async (context, args) => {
  const changed = await change(context, args.member, { disabled: true });
  const providers = await providersOf(context, changed.id);
  // Only now: an agent that dials again is refused by what has just been written.
  const closed = providers.filter(({ id }) => context.sessions?.refuse(id, 'disabled') === true);
  return { ...changed, links_closed: closed.length };
});

export const enableUser = adminCommand(oneMember, (context, args) =>
  change(context, args.member, { disabled: false }),
);

/** Ends their sessions: whoever has the old one is out. */
export const setPassword = adminCommand(
  z.strictObject({ member: z.string(), password: newPassword }),
  async (context, args) =>
    change(context, args.member, { passwordHash: await hashPassword(args.password) }),
);

async function change({ store, now }: AdminContext, reference: string, to: MemberChange) {
  const { id, name } = await resolveMember(store, reference);
  const changed = await store.changeMember(id, to, now());
  switch (changed.kind) {
    case 'changed':
      return present(changed.value);
    case 'taken':
      throw memberExists(changed.field, to.name ?? name);
    case 'unknown':
      throw new CommandError(EXIT.notFound, `the member ${name} is not there any more.`);
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

/** A name that nobody chose gives way to one that exists; a chosen one does not. */
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

/** A name or an address that somebody has already. */
export function memberExists(field: 'email' | 'name', value: string, hint = ''): CommandError {
  const message = `a member with the ${field} '${value}' exists already.${hint}`;
  return new CommandError(EXIT.conflict, message);
}
