/** Candidates for the pure rules: by default online, idle and private. */
import type { Candidate, Choice } from '@inference-gateway/coordinator/core/routing/match';
import { UNMEASURED } from '@inference-gateway/coordinator/core/routing/pace';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';

export function advertisedModel(change: Partial<AdvertisedModel> = {}): AdvertisedModel {
  return {
    id: 'm',
    served_name: 'm',
    context_length: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    loaded: true,
    ...change,
  };
}

export function makeCandidate(change: Partial<Candidate> = {}): Candidate {
  const { freeSlots = change.freeJobSlots ?? 1 } = change;
  return {
    providerId: 'den',
    providerName: 'den',
    ownerId: 'anna',
    closed: false,
    shares: [],
    serviceId: 'llm-1',
    serviceType: 'llm',
    foreign: true,
    model: advertisedModel(),
    online: true,
    linkId: 'link',
    offlineSince: null,
    draining: false,
    accepts: 'all',
    freeSlots,
    freeJobSlots: freeSlots,
    slots: freeSlots,
    health: 'closed',
    openFor: null,
    nextProbeMs: 0,
    failureShare: 0,
    pace: UNMEASURED,
    paceAgeMs: 0,
    busySlots: 0,
    ...change,
  };
}

/** The candidate as its owner may use it. */
export function makeChoice(change: Partial<Candidate> = {}): Choice {
  const candidate = makeCandidate(change);
  const grant = { shareId: null, isOpen: true, slotsLeft: null, maxTokens: null };
  return { ...candidate, grant, callerId: candidate.ownerId };
}
