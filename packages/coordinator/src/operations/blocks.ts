import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { Member, Store } from '../store/port.js';
import { adminCommand } from './operation.js';
import { resolveMember } from './references.js';

const pair = z.strictObject({ member: z.string(), owner: z.string() });

/** Whatever the owner shares, with a network or by name, the member gets nothing of it. */
export const blockMember = adminCommand(pair, async ({ store, now }, args) => {
  const { member, owner } = await resolvePair(store, args);
  if (member.id === owner.id) {
    const message = `${owner.name} cannot be kept from what is their own.`;
    throw new CommandError(EXIT.conflict, message);
  }
  if (await store.blockMember(owner.id, member.id, now())) return present(owner, member);
  throw new CommandError(EXIT.conflict, `${owner.name} blocks ${member.name} already.`);
});

export const unblockMember = adminCommand(pair, async ({ store }, args) => {
  const { member, owner } = await resolvePair(store, args);
  if (await store.unblockMember(owner.id, member.id)) return present(owner, member);
  throw new CommandError(EXIT.conflict, `${owner.name} does not block ${member.name}.`);
});

async function resolvePair(store: Store, args: z.output<typeof pair>) {
  return {
    member: await resolveMember(store, args.member),
    owner: await resolveMember(store, args.owner),
  };
}

function present(owner: Member, member: Member) {
  return { owner: owner.name, member: member.name };
}
