/**
 * What owners share, and what comes of it: for each provider, who may use which of its models, and
 * how much of it. The store tells the facts in one query; everything that shows or routes asks the
 * rule in `core/access/access.ts` about what is resolved here.
 */
import { isOpenAt } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';

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

/** The rows that decide who sees what, as one query reads them. */
export interface SharingFacts {
  readonly providers: readonly {
    readonly id: string;
    readonly ownerId: string;
    readonly approved: boolean;
  }[];
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
  /** It serves nobody, its owner neither: it waits for approval, or its owner is disabled. */
  readonly closed: boolean;
  readonly shares: readonly ResolvedShare[];
}

/** As it is before anybody shares anything. */
export const PRIVATE: ProviderSharing = { closed: false, shares: [] };
export const CLOSED: ProviderSharing = { closed: true, shares: [] };

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
    resolved.set(id, approved && !disabled.has(ownerId) ? { closed: false, shares } : CLOSED);
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
  /** Of its slots; null where it has no limit of its own. */
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
