import * as z from 'zod';
import type { Member, MemberLimits } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { resolveMember } from './references.js';

/** The same ranges as the settings of these names. */
const MAX_REQUESTS = 1_000_000;
const MAX_CONCURRENT = 100_000;

const newLimits = z
  .strictObject({
    member: z.string(),
    /** Absent: unchanged; null: the configured default. */
    requests: limitUpTo(MAX_REQUESTS),
    concurrent: limitUpTo(MAX_CONCURRENT),
  })
  .refine(({ requests, concurrent }) => requests !== undefined || concurrent !== undefined, {
    path: ['limits'],
    message: 'name at least one: --requests or --concurrent',
  });

export const setLimits = adminChange(newLimits, (context, { member, requests, concurrent }) =>
  change(context, member, {
    ...(requests === undefined ? {} : { requests }),
    ...(concurrent === undefined ? {} : { concurrent }),
  }),
);

export const clearLimits = adminChange(z.strictObject({ member: z.string() }), (context, args) =>
  change(context, args.member, { requests: null, concurrent: null }),
);

export const showLimits = adminRead(
  z.strictObject({ member: z.string().nullable() }),
  async ({ store }, { member }) => {
    const members =
      member === null ? await store.listMembers() : [await resolveMember(store, member)];
    return members.map(present);
  },
);

async function change(
  { store }: AdminContext,
  reference: string,
  limits: Partial<MemberLimits>,
): Promise<ReturnType<typeof present>> {
  const member = await resolveMember(store, reference);
  await store.setMemberLimits(member.id, limits);
  return present({ ...member, limits: { ...member.limits, ...limits } });
}

function limitUpTo(most: number) {
  const rule = `a limit is a whole number from 1 to ${most}`;
  return z.int(rule).min(1, rule).max(most, rule).nullable().optional();
}

/** Null is the configured default. */
function present({ id, name, limits }: Member) {
  return { id, name, requests: limits.requests, concurrent: limits.concurrent };
}
