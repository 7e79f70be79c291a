/**
 * What owners share, resolved: for each provider, who may use which of its models, and how much.
 * The store reads the facts in one query; everything that displays or routes applies the rule in
 * `core/access/access.ts` to the result.
 */
import { isOpenAt, parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import type { Quota } from '../usage/quota.js';
import type { Refusal } from '../usage/quotas.js';
import { nearest } from '@inference-gateway/shared/nearest';
import type { Alias } from './aliases.js';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';

/** The limits of a share; null means that the share sets none. */
export interface ShareCaps {
  /** At once, for all members who use the share together. */
  readonly slots: number | null;
  readonly hours: DayHours | null;
  /** For one answer. */
  readonly maxTokens: number | null;
  /** In a day and a month, for all others together; absent or null: no limit. */
  readonly quota?: Quota | null;
}

/** What a share covers: one service, one model, or everything if both are null. */
export interface ShareSubject {
  readonly serviceId: string | null;
  readonly model: string | null;
}

/** What is known of a provider apart from its link. */
export interface ProviderFacts {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly ownerName: string;
  readonly approved: boolean;
  /** It gets no new work. */
  readonly draining: boolean;
  /** It gets no work of other members; its owner's work continues. */
  readonly paused: boolean;
}

/** The rows that decide who sees what, as one query reads them. */
export interface SharingFacts {
  readonly providers: readonly ProviderFacts[];
  readonly disabledMembers: readonly string[];
  readonly memberships: readonly { readonly networkId: string; readonly memberId: string }[];
  readonly shares: readonly (ShareSubject & {
    readonly id: string;
    readonly providerId: string;
    /** Exactly one of the two is null. */
    readonly networkId: string | null;
    readonly memberId: string | null;
    readonly caps: ShareCaps;
  })[];
  readonly blocks: readonly { readonly ownerId: string; readonly memberId: string }[];
  readonly aliases: readonly Alias[];
}

/** The members that a share reaches: without blocked and disabled members and without the owner. */
export type Reach = Pick<ReadonlySet<string>, 'has'>;

export interface ResolvedShare extends ShareSubject {
  readonly id: string;
  readonly caps: ShareCaps;
  readonly members: Reach;
}

export interface ProviderSharing {
  readonly ownerId: string;
  /** It serves no member, not even its owner: it waits for approval, or its owner is disabled. */
  readonly closed: boolean;
  readonly shares: readonly ResolvedShare[];
}

/** The state before anything is shared. */
export function unshared(ownerId: string, closed: boolean): ProviderSharing {
  return { ownerId, closed, shares: [] };
}

/**
 * By provider. Each network's members are one set, and each share filters out the members that its
 * owner blocks: a set for each of 3,000 shares would stop every stream for 80 ms.
 */
export function resolveSharing(facts: SharingFacts): ReadonlyMap<string, ProviderSharing> {
  const disabled = new Set(facts.disabledMembers);
  const enabled = ({ memberId }: { readonly memberId: string }): boolean => !disabled.has(memberId);
  const membersOf = groupBy(facts.memberships.filter(enabled), 'networkId');
  const blockedBy = groupBy(facts.blocks, 'ownerId');
  const sharesOf = sharesByProvider(facts.shares);
  const resolved = new Map<string, ProviderSharing>();
  for (const { id, ownerId, approved } of facts.providers) {
    const blocked = blockedBy.get(ownerId) ?? NOBODY;
    const shares = (sharesOf.get(id) ?? []).map((share): ResolvedShare => {
      const { serviceId, model, caps, networkId, memberId } = share;
      const named =
        memberId === null
          ? (membersOf.get(networkId ?? '') ?? NOBODY)
          : new Set([memberId].filter((one) => !disabled.has(one)));
      const has = (one: string): boolean => named.has(one) && !blocked.has(one) && one !== ownerId;
      return { id: share.id, serviceId, model, caps, members: { has } };
    });
    const isOpen = approved && !disabled.has(ownerId);
    resolved.set(id, isOpen ? { ownerId, closed: false, shares } : unshared(ownerId, true));
  }
  return resolved;
}

const NOBODY: ReadonlySet<string> = new Set();

function sharesByProvider(shares: SharingFacts['shares']) {
  const groups = new Map<string, SharingFacts['shares'][number][]>();
  for (const share of shares) {
    const group = groups.get(share.providerId);
    if (group === undefined) groups.set(share.providerId, [share]);
    else group.push(share);
  }
  return groups;
}

/** A share in its current state. */
export interface ShareState extends ShareSubject {
  readonly id: string;
  readonly members: Reach;
  /** Within the share's hours. */
  readonly isOpen: boolean;
  /** Free slots of the share; null if the share has no slot limit. */
  readonly slotsLeft: number | null;
  readonly maxTokens: number | null;
  /** Nothing of its quota is left, for this type of work; absent: something is, or it has none. */
  readonly spent?: Refusal;
}

/** What is left of a share's quota for one more call. */
export interface ShareLeft {
  /** False for the moment in which its use is read: its slots count as taken. */
  readonly isCounted: boolean;
  /** Why nothing is left; null if something is. */
  readonly spent: Refusal | null;
}

export const ALL_LEFT: ShareLeft = { isCounted: true, spent: null };

/** The same share with what is left of its quota. */
export function withLeft(state: ShareState, { isCounted, spent }: ShareLeft): ShareState {
  if (!isCounted) return { ...state, slotsLeft: 0 };
  return spent === null ? state : { ...state, spent };
}

/** `busy` is the number of slots taken through the share; `now` is in Unix ms. */
export function shareState(share: ResolvedShare, busy: number, now: number): ShareState {
  const { id, serviceId, model, members, caps } = share;
  const isOpen = caps.hours === null || isOpenAt(caps.hours, now);
  const slotsLeft = caps.slots === null ? null : Math.max(0, caps.slots - busy);
  return { id, serviceId, model, members, isOpen, slotsLeft, maxTokens: caps.maxTokens };
}

function groupBy<Key extends string>(
  pairs: readonly Readonly<Record<Key | 'memberId', string>>[],
  key: Key,
): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const pair of pairs) {
    const members = groups.get(pair[key]);
    if (members === undefined) groups.set(pair[key], new Set([pair.memberId]));
    else members.add(pair.memberId);
  }
  return groups;
}

// Limits on the fields of a share, for every way to set one.
export const SHARE_LIMITS = {
  /** At once, for all members who use it together. */
  slots: 1_024,
  /** For one answer. */
  tokens: 1_000_000,
  /** Length of the id of a service or model. */
  subjectCharacters: 256,
} as const;

/** Names whether the hours or the time zone are invalid, because one of them may be right. */
export function hoursFault(hours: string, timeZone: string): string {
  return parseDayHours(hours, 'UTC') === null
    ? `hours are written 22:00-07:00, with an end that is not the beginning, not '${hours}'.`
    : `'${timeZone}' is no time zone. Write one like Europe/Berlin.`;
}

interface SharedProvider {
  /** As `OWNER/NAME`. */
  readonly name: string;
  readonly services: readonly AdvertisedService[];
}

/** Why no member gets anything from the share yet. The share stays valid: a model can be added. */
export function warningOf(provider: SharedProvider, subject: ShareSubject): string | null {
  const bound = provider.services.filter((service) => binds(subject, service));
  if (bound.length === 0) return unserved(provider, subject);
  if (bound.some(({ foreign }) => foreign !== false)) return null;
  const { name } = provider;
  return `${name} takes nobody else's work there: its agent's configuration has "foreign": false.`;
}

function binds({ serviceId, model }: ShareSubject, service: AdvertisedService): boolean {
  if (serviceId !== null) return service.service_id === serviceId;
  return model === null || service.models.some(({ id }) => id === model);
}

/** Null if everything is shared: then a provider without models needs no warning. */
function unserved(provider: SharedProvider, { serviceId, model }: ShareSubject): string | null {
  const wanted = model ?? serviceId;
  if (wanted === null) return null;
  const known = provider.services.flatMap(({ service_id, models }) =>
    model === null ? [service_id] : models.map(({ id }) => id),
  );
  const meant = nearest(wanted, [...new Set(known)]).join(', ');
  const hint = meant === '' ? '' : ` Did you mean ${meant}?`;
  const what = `${model === null ? 'service' : 'model'} '${wanted}'`;
  return `${provider.name} serves no ${what} as yet; the share holds once it does.${hint}`;
}
