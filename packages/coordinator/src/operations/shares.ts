import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { hoursFault, SHARE_LIMITS, warningOf } from '../core/access/sharing.js';
import type { Audience, Provider, Share, Store, Member } from '../store/port.js';
import { changedQuota } from '../core/usage/quota.js';
import { quotaFields, withoutAbsent } from './limits.js';
import { adminChange, capOf, capReached } from './operation.js';
import { nameOf, servicesOf, viewsById, presentShare } from './provider-view.js';
import { resolveMember, resolveNetwork, resolveProvider } from './references.js';

const { slots: MAX_SLOTS, tokens: MAX_TOKENS, subjectCharacters: MAX_SUBJECT } = SHARE_LIMITS;

const subjectId = z
  .string()
  .min(1, 'an id of a service or model has at least one character')
  .max(MAX_SUBJECT, `an id of a service or model has at most ${MAX_SUBJECT} characters`)
  .nullable();

/** The subject and audience of a share; null: not given. */
const selectors = z.strictObject({
  provider: z.string(),
  service: subjectId,
  model: subjectId,
  network: z.string().nullable(),
  user: z.string().nullable(),
});

type Selectors = z.output<typeof selectors>;

const ONE_SUBJECT = {
  path: ['share'],
  message: 'it binds one service or one model: name --service or --model, not both',
};

const newShare = selectors
  .extend({
    slots: capUpTo(MAX_SLOTS, '--slots'),
    /** `22:00-07:00` */
    hours: z.string().nullable(),
    /** An IANA name, for the hours. */
    time_zone: z.string().nullable(),
    max_tokens: capUpTo(MAX_TOKENS, '--max-tokens'),
    ...quotaFields(),
  })
  .refine(namesOneSubject, ONE_SUBJECT)
  .refine(({ hours, time_zone: zone }) => (hours === null) === (zone === null), {
    path: ['share'],
    message: 'a time zone is that of hours: name --hours with --time-zone',
  })
  .refine(({ network, user }) => (network === null) !== (user === null), {
    path: ['share'],
    message: 'say with whom: --network or --user, one of the two',
  });

export const shareProvider = adminChange(newShare, async (context, args) => {
  const { store, now } = context;
  const provider = await resolveProvider(store, args.provider);
  const audience = await resolveAudience(store, args);
  if (audience.id === provider.ownerId) throw ownAlready(provider);
  const services = servicesOf(provider, viewsById(context).get(provider.id));
  const subject = { serviceId: args.service, model: args.model };
  const { slots, max_tokens: maxTokens, day, month } = args;
  const quota = changedQuota(null, withoutAbsent({ day, month }));
  const caps = { slots, maxTokens, hours: readHours(args), ...(quota && { quota }) };
  const cap = capOf(context, 'shares of a provider');
  const row = { providerId: provider.id, subject, audience, caps, cap };
  const shared = await store.putShare(row, now());
  if (shared.kind === 'full') throw capReached('shares of a provider', shared);
  return {
    ...presentShare(shared.value),
    warning: warningOf({ name: nameOf(provider), services }, subject),
  };
});

const namedShares = selectors.extend({ share: z.string().nullable(), all: z.boolean() });

type EndedShares = z.output<typeof namedShares>;

const endedShares = namedShares
  .refine(namesOneSubject, ONE_SUBJECT)
  .refine(({ network, user }) => network === null || user === null, {
    path: ['unshare'],
    message: 'name --network or --user, not both',
  })
  .refine((args) => namedWays(args) === 1, {
    path: ['unshare'],
    message: 'say what to end: --service, --model, --network and --user, or --share, or --all',
  });

/**
 * Ends every share that matches all given selectors: an omitted one matches anything, so that no
 * share remains because of a forgotten selector.
 */
export const unshareProvider = adminChange(endedShares, async ({ store }, args) => {
  const provider = await resolveProvider(store, args.provider);
  const isForAll = args.network === null && args.user === null;
  const audience = isForAll ? null : await resolveAudience(store, args);
  const shares = await store.listShares(provider.id);
  const ended = shares.filter((share) => fits(share, args, audience));
  if (ended.length === 0) throw nothingEnded(provider, shares);
  for (const { id } of ended) await store.deleteShare(id);
  const left = shares.filter((share) => !ended.includes(share));
  return { ended: ended.map(presentShare), left: left.map(presentShare) };
});

function namesOneSubject({ service, model }: Selectors): boolean {
  return service === null || model === null;
}

/** How many of the three ways to select shares are used. */
function namedWays({ service, model, network, user, share, all }: EndedShares): number {
  const named = [service, model, network, user].some((one) => one !== null);
  return [named, share !== null, all].filter(Boolean).length;
}

/** Exactly one of the two is given. */
async function resolveAudience(store: Store, { network, user }: Selectors): Promise<Audience> {
  if (network !== null) return { kind: 'network', id: (await resolveNetwork(store, network)).id };
  return { kind: 'member', id: (await resolveMember(store, user ?? '')).id };
}

function fits(share: Share, args: EndedShares, audience: Audience | null): boolean {
  const { subject } = share;
  return (
    (args.share === null || share.id === args.share) &&
    (args.service === null || subject.serviceId === args.service) &&
    (args.model === null || subject.model === args.model) &&
    (audience === null || share.audience.id === audience.id)
  );
}

function readHours({ hours, time_zone: timeZone }: z.output<typeof newShare>): DayHours | null {
  if (hours === null || timeZone === null) return null;
  const read = parseDayHours(hours, timeZone);
  if (read !== null) return read;
  throw new CommandError(EXIT.usage, hoursFault(hours, timeZone));
}

function ownAlready(provider: Provider): CommandError {
  const { ownerName } = provider;
  const message = `${nameOf(provider)} is ${ownerName}'s own: it needs no share with ${ownerName}.`;
  return new CommandError(EXIT.conflict, message);
}

function nothingEnded(provider: Provider, shares: readonly Share[]): CommandError {
  const name = nameOf(provider);
  const hint =
    shares.length === 0
      ? 'Nothing of it is shared.'
      : `"provider show ${name}" shows its shares (${shares.length}) with their ids.`;
  return new CommandError(EXIT.notFound, `no share of ${name} fits that. ${hint}`);
}

function capUpTo(most: number, option: string) {
  const rule = `${option} is a whole number from 1 to ${most}`;
  return z.int(rule).min(1, rule).max(most, rule).nullable();
}

const pair = z.strictObject({ member: z.string(), owner: z.string() });

/** Excludes the member from all shares of the owner, with a network or by name. */
export const blockMember = adminChange(pair, async (context, args) => {
  const { store, now } = context;
  const { member, owner } = await resolvePair(store, args);
  if (member.id === owner.id) {
    const message = `${owner.name} cannot be kept from what is their own.`;
    throw new CommandError(EXIT.conflict, message);
  }
  const cap = capOf(context, 'blocked members');
  const blocked = await store.blockMember({ ownerId: owner.id, memberId: member.id, cap }, now());
  if (blocked.kind === 'full') throw capReached('blocked members', blocked);
  if (blocked.kind === 'changed') return present(owner, member);
  throw new CommandError(EXIT.conflict, `${owner.name} blocks ${member.name} already.`);
});

export const unblockMember = adminChange(pair, async ({ store }, args) => {
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
