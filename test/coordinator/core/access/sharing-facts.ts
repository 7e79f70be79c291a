/** Facts about sharing, with defaults for fields that a test does not set. */
import { parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import type {
  ProviderFacts,
  SharingFacts,
} from '@inference-gateway/coordinator/core/access/sharing';

export type ShareFact = SharingFacts['shares'][number];

const NO_CAPS = { slots: null, hours: null, maxTokens: null };

/** By default Anna's den-pc and nothing else. */
export function facts(told: Partial<SharingFacts>): SharingFacts {
  return {
    providers: [providerFact()],
    disabledMembers: [],
    memberships: [],
    shares: [],
    blocks: [],
    aliases: [],
    ...told,
  };
}

export function providerFact(told: Partial<ProviderFacts> = {}): ProviderFacts {
  return {
    id: 'den-pc',
    name: 'den-pc',
    ownerId: 'anna',
    ownerName: 'Anna',
    approved: true,
    draining: false,
    paused: false,
    ...told,
  };
}

/** By default all of den-pc, shared with the friends. */
export function share(told: Partial<ShareFact> = {}): ShareFact {
  return {
    id: 'share',
    providerId: 'den-pc',
    serviceId: null,
    model: null,
    networkId: 'friends',
    memberId: null,
    caps: NO_CAPS,
    ...told,
  };
}

/** Hours in UTC. */
export function hoursOf(text: string): DayHours {
  const hours = parseDayHours(text, 'UTC');
  if (hours === null) throw new Error(`${text} are no hours`);
  return hours;
}
