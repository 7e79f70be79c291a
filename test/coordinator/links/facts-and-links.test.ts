/** What a coordinator reads of providers, and what others tell of their links, in either order. */
import type { SharingFacts } from '@inference-gateway/coordinator/core/access/sharing';
import { Quotas } from '@inference-gateway/coordinator/core/usage/quotas';
import type { LinkEnd, ProviderLink } from '@inference-gateway/coordinator/links/provider-link';
import { Registry } from '@inference-gateway/coordinator/links/registry';
import type { Provider } from '@inference-gateway/coordinator/store/port';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, test } from 'vitest';
import { HOST, NOW, SERVICE } from '../../store/store-rows.js';

const PROVIDER: Provider = {
  id: 'den-pc',
  ownerId: 'anna',
  ownerName: 'Anna',
  isOwnerDisabled: false,
  name: 'den-pc',
  createdAt: NOW,
  approvedAt: NOW,
  lastSeenAt: null,
  draining: false,
  paused: false,
  services: [SERVICE],
  host: HOST,
};

function factsOf(providers: readonly Provider[]): SharingFacts {
  const nothing = { disabledMembers: [], memberships: [], shares: [], blocks: [], aliases: [] };
  return { ...nothing, providers: providers.map((one) => ({ ...one, approved: true })) };
}

/** A link that the coordinator `other` holds. */
function openMirror() {
  const registry = new Registry([], {
    store: { recordServed: async () => {}, endLink: async () => {} },
    logger: createLogger('silent'),
    breakerOpenMs: 30_000,
    now: () => NOW,
    quotas: new Quotas(
      () => Promise.reject(new Error('no quotas here')),
      () => NOW,
    ),
  });
  const ends: LinkEnd[] = [];
  const link: ProviderLink = {
    node: 'other',
    id: 'link',
    epoch: 1,
    connectedAt: NOW,
    agentVersion: '1.0.0',
    instanceId: 'i',
    host: HOST,
    cards: [],
    accepts: 'all',
    busy: 0,
    isOpen: true,
    isLeaving: false,
    answers: false,
    ask: () => false,
    open: () => null,
    isAlive: async () => true,
    end: (why) => ends.push(why),
  };
  registry.mirror(link, PROVIDER);
  return { registry, ends };
}

test('facts that are older than a provider end no link of it at another coordinator', () => {
  const { registry, ends } = openMirror();
  registry.follow(factsOf([]));
  expect(ends).toEqual([]);
  registry.follow(factsOf([PROVIDER]));
  expect(registry.providers()).toMatchObject([{ providerId: 'den-pc', link: { node: 'other' } }]);
});

test('one that they had, and have no more, was removed', () => {
  const { registry, ends } = openMirror();
  registry.follow(factsOf([PROVIDER]));
  registry.follow(factsOf([]));
  expect(ends).toEqual(['revoked']);
  expect(registry.providers()).toEqual([]);
});
