/** How many slots of each service type are taken and free, over all providers that are online. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import type { ProviderView, SessionView } from '../core/routing/links.js';

export interface SlotCount {
  readonly serviceType: ServiceType;
  readonly busy: number;
  readonly free: number;
}

export function countSlots(providers: readonly ProviderView[]): SlotCount[] {
  return SERVICE_TYPES.map((serviceType) => {
    const counts = providers.map((provider) => countOf(provider, serviceType));
    return {
      serviceType,
      busy: counts.reduce((sum, { busy }) => sum + busy, 0),
      free: counts.reduce((sum, { free }) => sum + free, 0),
    };
  });
}

interface Count {
  readonly busy: number;
  readonly free: number;
}

function countOf(provider: ProviderView, type: ServiceType): Count {
  const { session, draining, services } = provider;
  if (session === null) return { busy: 0, free: 0 };
  const closed = provider.closed || draining || session.accepts === 'none';
  let busy = 0;
  let free = 0;
  for (const unit of unitsOf(services)) {
    const own = unit.filter((service) => service.service_type === type);
    busy += busyOf(own, session);
    free += closed ? 0 : freeOf(unit, own, session);
  }
  return { busy, free };
}

/** The services that share a card; one without a group stands alone. */
function unitsOf(services: readonly AdvertisedService[]): AdvertisedService[][] {
  const units = new Map<string | AdvertisedService, AdvertisedService[]>();
  for (const service of services) {
    const key = service.slot_group ?? service;
    units.set(key, [...(units.get(key) ?? []), service]);
  }
  return [...units.values()];
}

/** A free slot of a card that several types share is free for each of them. */
function freeOf(
  unit: readonly AdvertisedService[],
  own: readonly AdvertisedService[],
  session: SessionView,
): number {
  const ofCard = Math.max(...unit.map(({ slots }) => slots)) - busyOf(unit, session);
  const ofType = own.reduce((sum, { slots }) => sum + slots, 0) - busyOf(own, session);
  return Math.max(0, Math.min(ofCard, ofType));
}

function busyOf(services: readonly AdvertisedService[], { busyByService }: SessionView): number {
  return services.reduce((sum, { service_id: id }) => sum + (busyByService.get(id) ?? 0), 0);
}
