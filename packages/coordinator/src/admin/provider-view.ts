/** What commands tell of a provider: its row, and its link where it has one. */
import type { ProviderView } from '../core/sessions.js';
import type { Provider } from '../store/port.js';
import type { AdminContext } from './admin-context.js';

/** By provider; none where no coordinator runs. */
export function viewsById({ sessions }: AdminContext): ReadonlyMap<string, ProviderView> {
  return new Map(sessions?.providers().map((view) => [view.providerId, view]));
}

export function presentProvider(provider: Provider, view: ProviderView | undefined) {
  const session = view?.session ?? null;
  const services = servicesOf(provider, view);
  return {
    id: provider.id,
    name: provider.name,
    owner: provider.ownerName,
    online: session !== null,
    draining: provider.draining,
    /** False: it waits for an administrator. */
    approved: provider.approvedAt !== null,
    owner_disabled: provider.isOwnerDisabled,
    models: [...new Set(services.flatMap(({ models }) => models.map(({ id }) => id)))],
    slots: services.reduce((sum, { slots }) => sum + slots, 0),
    busy: session?.busy ?? 0,
    created_at: provider.createdAt,
    connected_at: session?.connectedAt ?? null,
    last_seen_at: provider.lastSeenAt,
  };
}

/** The link knows better than the row, which is written a moment later. */
export function servicesOf(
  provider: Provider,
  view: ProviderView | undefined,
): Provider['services'] {
  return view === undefined || view.session === null ? provider.services : view.services;
}

/** As `OWNER/NAME`. */
export function nameOf({ ownerName, name }: Provider): string {
  return `${ownerName}/${name}`;
}
