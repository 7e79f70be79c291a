/** What could run now for a caller, over all models: a slot that several share is counted once. */
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { servedModels } from '../../core/access/access.js';
import type { Caller } from '../../core/access/caller.js';
import type { ProviderView } from '../../core/routing/links.js';

export interface Capacity {
  readonly slots: number;
  /** Of these, where nothing of anybody's is under way. */
  readonly free_slots: number;
  readonly providers_online: number;
}

export function capacityFor(providers: readonly ProviderView[], caller: Caller): Capacity {
  const found = providers.map((provider) => unitsOf(provider, caller));
  const units = found.flat();
  return {
    slots: units.reduce((total, { slots }) => total + slots, 0),
    free_slots: units.reduce((total, { slots, busy }) => total + Math.max(0, slots - busy), 0),
    providers_online: found.filter(({ length }) => length > 0).length,
  };
}

/** A service, or those that share the slots of a card. */
interface Unit {
  readonly slots: number;
  readonly busy: number;
}

function unitsOf(provider: ProviderView, caller: Caller): readonly Unit[] {
  const open = new Set(servedModels(provider, caller).map(({ service }) => service));
  const units = new Map<string | AdvertisedService, AdvertisedService[]>();
  for (const service of provider.services) {
    const key = service.slot_group ?? service;
    units.set(key, [...(units.get(key) ?? []), service]);
  }
  return [...units.values()]
    .filter((services) => services.some((service) => open.has(service)))
    .map((services) => unitOf(services, provider));
}

function unitOf(services: readonly AdvertisedService[], { session }: ProviderView): Unit {
  const busy = services.map(({ service_id: id }) => session?.busyByService.get(id) ?? 0);
  return {
    slots: Math.max(...services.map(({ slots }) => slots)),
    busy: busy.reduce((total, one) => total + one, 0),
  };
}
