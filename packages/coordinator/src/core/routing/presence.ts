/**
 * When a model was last served, according to the store. Valid for all coordinators that use the
 * same store, whichever of them the provider is linked to.
 */
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import type { Shared } from '../access/access.js';
import { couldServe } from './match.js';
import type { MatchRequest } from './match.js';

/** How often a coordinator writes to the store that it is alive. */
export const NODE_BEAT_MS = 30_000;

/** A coordinator without such a write for this long is lost, and so are its links. */
export const NODE_LOST_MS = 90_000;

/** The newest link of a provider. Times are Unix ms. */
export interface ProviderLink {
  readonly nodeId: string;
  readonly linkId: string;
  /** Sequence number of the link among the provider's links. */
  readonly epoch: number;
  readonly linkedAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  /** When its coordinator was last known to be alive. */
  readonly nodeSeenAt: number;
}

/** A model that a provider serves, or has served. */
export interface ServedModel {
  readonly providerId: string;
  readonly serviceId: string;
  /** False if the service takes its owner's work alone. */
  readonly foreign: boolean;
  readonly model: AdvertisedModel;
  /** Unix ms at which the provider's list dropped it; null if it is in the newest list. */
  readonly leftAt: number | null;
  /** Null if the provider has never been linked. */
  readonly link: ProviderLink | null;
}

/** Unix ms; `now` if it is served now, null if never. */
export function lastServedAt(
  { leftAt, link }: Pick<ServedModel, 'leftAt' | 'link'>,
  now: number,
): number | null {
  if (leftAt !== null) return leftAt;
  if (link === null) return null;
  if (link.endedAt !== null) return link.endedAt;
  return now - link.nodeSeenAt < NODE_LOST_MS ? now : link.nodeSeenAt;
}

interface ReachRequest extends Pick<MatchRequest, 'caller' | 'needs'> {
  /** What is shared of the provider; null if it has been removed. */
  readonly sharedOf: (providerId: string) => Shared | null;
}

/**
 * Unix ms at which a provider that could serve such a call was last linked; `now` if one is linked,
 * even if busy or paused; null if there is none.
 */
export function lastReach(
  served: readonly ServedModel[],
  { sharedOf, ...request }: ReachRequest,
  now: number,
): number | null {
  let last: number | null = null;
  for (const one of served) {
    const shared = sharedOf(one.providerId);
    if (shared === null || !couldServe({ ...one, shared }, request)) continue;
    last = Math.max(last ?? 0, lastServedAt(one, now) ?? 0);
  }
  return last;
}
