import type { ProviderView } from '@inference-gateway/coordinator/core/routing/links';
import { countSlots } from '@inference-gateway/coordinator/metrics/metrics';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { expect, it } from 'vitest';

const llm = service({ service_id: 'llm', service_type: 'llm', slots: 4 });
const image = service({ service_id: 'image', service_type: 'image', slots: 1 });

it('adds up what is taken and free by service type, over every provider that is online', () => {
  const first = provider({ services: [llm, image], busy: { llm: 1, image: 1 } });
  const second = provider({ services: [llm], busy: { llm: 2 } });
  expect(count([first, second])).toEqual({ llm: [3, 5], image: [1, 0] });
});

it('counts several services of one type together', () => {
  const more = service({ service_id: 'llm-2', service_type: 'llm', slots: 2 });
  expect(count([provider({ services: [llm, more], busy: { 'llm-2': 2 } })])).toEqual({
    llm: [2, 4],
  });
});

it('a card that types share is taken for both by the work of one', () => {
  const shared = [llm, image].map((one) => ({ ...one, slot_group: 'gpu0' }));
  const idle = provider({ services: shared, busy: {} });
  expect(count([idle])).toEqual({ llm: [0, 4], image: [0, 1] });
  const drawing = provider({ services: shared, busy: { image: 1 } });
  expect(count([drawing])).toEqual({ llm: [0, 3], image: [1, 0] });
  const talking = provider({ services: shared, busy: { llm: 4 } });
  expect(count([talking])).toEqual({ llm: [4, 0] });
});

it('a draining or paused provider has no free slot, and what it still does is counted', () => {
  const busy = { llm: 1 };
  expect(count([provider({ services: [llm], busy, draining: true })])).toEqual({ llm: [1, 0] });
  expect(count([provider({ services: [llm], busy, accepts: 'none' })])).toEqual({ llm: [1, 0] });
  expect(count([provider({ services: [llm], busy, accepts: 'own' })])).toEqual({ llm: [1, 3] });
});

it('a provider that is offline has none', () => {
  const offline = { ...provider({ services: [llm], busy: {} }), link: null };
  expect(count([offline])).toEqual({});
});

it('a service that shrank while it worked has no free slot, and never less than none', () => {
  expect(count([provider({ services: [image], busy: { image: 3 } })])).toEqual({ image: [3, 0] });
});

/** `[busy, free]` by service type, without the types that have neither. */
function count(providers: readonly ProviderView[]): Record<string, [number, number]> {
  const counts = countSlots(providers).filter(({ busy, free }) => busy + free > 0);
  return Object.fromEntries(
    counts.map(({ serviceType, busy, free }) => [serviceType, [busy, free]]),
  );
}

function service(fields: Omit<AdvertisedService, 'models'>): AdvertisedService {
  return { ...fields, models: [] };
}

interface ProviderFacts {
  readonly services: readonly AdvertisedService[];
  readonly busy: Readonly<Record<string, number>>;
  readonly draining?: boolean;
  readonly accepts?: 'all' | 'own' | 'none';
}

function provider({ services, busy, draining = false, accepts = 'all' }: ProviderFacts) {
  const busyByService = new Map(Object.entries(busy));
  const host = { os: 'linux', arch: 'x64', gpus: [] };
  const link = {
    linkId: 's',
    node: null,
    connectedAt: 0,
    agentVersion: '0',
    host,
    accepts,
    busy: [...busyByService.values()].reduce((sum, one) => sum + one, 0),
    cards: [],
    busyByService,
  };
  const names = { providerId: 'p', ownerId: 'm', ownerName: 'Anna', name: 'den-pc' };
  return {
    ...names,
    createdAt: 0,
    closed: false,
    shares: [],
    offlineSince: null,
    draining,
    paused: false,
    services,
    link,
  };
}
