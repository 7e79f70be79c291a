import { isSecret } from '@inference-gateway/shared/ids';
import * as z from 'zod';
import type { MemberSession, Store } from '../store/port.js';
import { adminCommand } from './operation.js';
import { resolveMember, secretInArgument, unknown } from './references.js';

export const listSessions = adminCommand(
  z.strictObject({ member: z.string().nullable() }),
  async ({ store, now }, args) => {
    const member = args.member === null ? null : await resolveMember(store, args.member);
    return (await store.listSessions(member?.id ?? null, now())).map(present);
  },
);

/** One by its id, or all of a member: 0 where they have none. */
export const endSessions = adminCommand(
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

function present(session: MemberSession) {
  return {
    id: session.id,
    member: session.memberName,
    address: session.address,
    user_agent: session.userAgent,
    created_at: session.createdAt,
    last_used_at: session.lastUsedAt,
    expires_at: session.expiresAt,
  };
}
