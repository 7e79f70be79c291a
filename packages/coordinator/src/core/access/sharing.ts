/**
 * What owners share, and what comes of it: for each provider, who may use which of its models, and
 * how much of it. The store tells the facts in one query; everything that shows or routes asks the
 * rule in `core/access/access.ts` about what is resolved here.
 */
import { isOpenAt, parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { nearest } from '@inference-gateway/shared/nearest';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';

/** What a share gives at most; null is no limit of its own. */
export interface ShareCaps {
  /** At once, of all who use the share together. */
  readonly slots: number | null;
  readonly hours: DayHours | null;
  /** Of one answer. */
  readonly maxTokens: number | null;
}

/** What of a provider is shared: one service, one model, or all where both are null. */
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
  /** New work stays away. */
  readonly draining: boolean;
  /** Others' work stays away; its owner's goes on. */
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
    /** One of the two is null. */
    readonly networkId: string | null;
    readonly memberId: string | null;
    readonly caps: ShareCaps;
  })[];
  readonly blocks: readonly { readonly ownerId: string; readonly memberId: string }[];
}

/** Those whom a share reaches: no one blocked or disabled, and never the owner. */
export type Reach = Pick<ReadonlySet<string>, 'has'>;

export interface ResolvedShare extends ShareSubject {
  readonly id: string;
  readonly caps: ShareCaps;
  readonly members: Reach;
}

export interface ProviderSharing {
  readonly ownerId: string;
  /** It serves nobody, its owner neither: it waits for approval, or its owner is disabled. */
  readonly closed: boolean;
  readonly shares: readonly ResolvedShare[];
}

/** As it is before anybody shares anything. */
export function unshared(ownerId: string, closed: boolean): ProviderSharing {
  return { ownerId, closed, shares: [] };
}

/**
 * By provider. Each network's members are one set, of which each share looks away from those whom
 * its owner blocks: a set for each of 3,000 shares would stop every stream for 80 ms.
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

/** A share as it stands now. */
export interface ShareState extends ShareSubject {
  readonly id: string;
  readonly members: Reach;
  /** Within its hours. */
  readonly isOpen: boolean;
  /** Of its slots; null if it has no limit of its own. */
  readonly slotsLeft: number | null;
  readonly maxTokens: number | null;
}

/** `busy` are the slots taken through the share; `now` is in Unix ms. */
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

// What may be said of a share, whoever says it.
export const SHARE_LIMITS = {
  /** At once, of all who use it together. */
  slots: 1_024,
  /** Of one answer. */
  tokens: 1_000_000,
  /** Of the id of a service or model. */
  subjectCharacters: 256,
} as const;

/** Why they are none: the hours and the zone are told apart, for whoever has one of them right. */
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

/** Why nobody gets anything by the share as yet. It holds all the same: a model can come. */
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

/** Null if all is shared: that a provider serves nothing at all needs no telling. */
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
