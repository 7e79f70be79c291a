import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { NAME_PATTERN, NAME_RULE } from '../core/name.js';
import type { Created, Member } from '../store/port.js';
import { adminCommand } from './admin-context.js';
import type { AdminContext } from './admin-context.js';
import { hashPassword } from './password.js';

const MIN_PASSWORD = 12;
const MAX_PASSWORD = 1_024;
/** Tries at a name made from the address: `anna`, `anna-2`, … */
const MAX_NAME_TRIES = 100;

const email = z
  .string()
  .max(254)
  .regex(/^[^\s@/\p{C}]+@[^\s@/\p{C}]+$/u, 'an e-mail address is written like anna@example.org');

const newUser = z.strictObject({
  email,
  /** Null: made from the address. */
  name: z.string().regex(NAME_PATTERN, NAME_RULE).nullable(),
  admin: z.boolean(),
  password: z
    .string()
    .min(MIN_PASSWORD, `a password has at least ${MIN_PASSWORD} characters`)
    .max(MAX_PASSWORD, `a password has at most ${MAX_PASSWORD} characters`)
    .nullable(),
});

export const createUser = adminCommand(newUser, async (context, args) => {
  const passwordHash = args.password === null ? null : await hashPassword(args.password);
  const created = await createNamed(context, { ...args, passwordHash });
  if (created.kind === 'created') return present(created.value);
  const value = created.field === 'email' ? args.email : (args.name ?? args.email);
  const hint = created.field === 'name' ? ' Give another with --name.' : '';
  throw new CommandError(
    EXIT.conflict,
    `a member with the ${created.field} '${value}' exists already.${hint}`,
  );
});

export const listUsers = adminCommand(z.strictObject({}), async ({ store }) => {
  return (await store.listMembers()).map(present);
});

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

function present({ id, email, name, role, createdAt }: Member) {
  return { id, email, name, role, created_at: createdAt };
}
