import * as z from 'zod';
import { QUOTA_UNITS } from '../core/usage/quota.js';
import type { Quota, QuotaLimits } from '../core/usage/quota.js';
import type { Member, MemberLimitChange } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { resolveMember } from './references.js';

/** The same ranges as the settings of these names. */
const MAX_REQUESTS = 1_000_000;
const MAX_CONCURRENT = 100_000;

/** Of a day or a month; a larger limit is a mistake. */
const MAX_QUOTA = 1_000_000_000_000;

const QUOTA_RULE = `a limit is a whole number from 0 to ${MAX_QUOTA}`;

const newLimits = z
  .strictObject({
    member: z.string(),
    /** Absent: unchanged; null: the configured default. */
    requests: limitUpTo(MAX_REQUESTS),
    concurrent: limitUpTo(MAX_CONCURRENT),
    ...quotaFields(),
  })
  .refine(({ member: _member, ...limits }) => Object.values(limits).some(isGiven), {
    path: ['limits'],
    message: 'name at least one: --requests, --concurrent, --day or --month',
  });

export const setLimits = adminChange(newLimits, (context, { member, ...limits }) =>
  change(context, member, withoutAbsent(limits)),
);

export const clearLimits = adminChange(z.strictObject({ member: z.string() }), (context, args) =>
  change(context, args.member, { requests: null, concurrent: null, day: {}, month: {} }),
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
  limits: MemberLimitChange,
): Promise<ReturnType<typeof present>> {
  const member = await resolveMember(store, reference);
  await store.setMemberLimits(member.id, limits);
  return present(await resolveMember(store, member.id));
}

function limitUpTo(most: number) {
  const rule = `a limit is a whole number from 1 to ${most}`;
  return z.int(rule).min(1, rule).max(most, rule).nullable().optional();
}

/** Null is the configured default. */
function present({ id, name, limits }: Member) {
  return { id, name, ...presentLimits({ limits }) };
}

export function presentLimits({ limits }: Pick<Member, 'limits'>) {
  const { requests, concurrent, quota = null } = limits;
  return { requests, concurrent, ...presentQuota(quota) };
}

// Quotas, of members and of keys: what may be used in a day and in a month, both in UTC.

/** Arguments: each replaces all limits of its period. A null or absent unit has no limit. */
export function quotaFields() {
  const most = z.int(QUOTA_RULE).min(0, QUOTA_RULE).max(MAX_QUOTA, QUOTA_RULE).nullish();
  const units = { requests: most, tokens: most, images: most, audio_s: most };
  const limits = z.strictObject(units).transform(limitsOf);
  return { day: limits.optional(), month: limits.optional() };
}

/** Every unit of both periods; null: no limit. */
export function presentQuota(quota: Quota | null) {
  return { day: presentPeriodLimits(quota?.day), month: presentPeriodLimits(quota?.month) };
}

function presentPeriodLimits(limits: QuotaLimits = {}): ShownLimits {
  const { requests = null, tokens = null, images = null, audio_s = null } = limits;
  return { requests, tokens, images, audio_s };
}

/** Null: no limit. */
export type ShownLimits = Readonly<Record<(typeof QUOTA_UNITS)[number], number | null>>;

type GivenLimits = { [Unit in (typeof QUOTA_UNITS)[number]]?: number | null | undefined };

function limitsOf(given: GivenLimits): QuotaLimits {
  const set = QUOTA_UNITS.flatMap((unit) => {
    const most = given[unit] ?? null;
    return most === null ? [] : [[unit, most]];
  });
  return Object.fromEntries(set) as QuotaLimits;
}

/** The fields that have a value: zod returns `undefined` for the others. */
export function withoutAbsent<T extends object>(fields: T): Present<T> {
  const given = Object.entries(fields).filter(([, value]) => isGiven(value));
  return Object.fromEntries(given) as Present<T>;
}

type Present<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

function isGiven(value: unknown): boolean {
  return value !== undefined;
}
