/** The JSON of a provider: its row, and the state of its link if there is one. */
import { uptimeOf } from '../core/routing/uptime.js';
import { writtenRules } from '../core/usage/quota.js';
import type { ShownUse } from '../core/usage/quota.js';
import { shareUses } from '../core/usage/quotas.js';
import { SUBPROTOCOL } from '@inference-gateway/shared/protocol/version';
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import type { ProviderView, LinkView } from '../core/routing/links.js';
import type { Provider, ProviderActivity, Share } from '../store/port.js';
import type { AdminContext } from './operation.js';

/** By provider; empty if no coordinator runs. */
export function viewsById({ links }: AdminContext): ReadonlyMap<string, ProviderView> {
  return new Map(links?.providers().map((view) => [view.providerId, view]));
}

export function presentProvider(provider: Provider, view: ProviderView | undefined) {
  const link = view?.link ?? null;
  const services = servicesOf(provider, view);
  return {
    id: provider.id,
    name: provider.name,
    owner: provider.ownerName,
    online: link !== null,
    draining: provider.draining,
    /** It serves only its owner. */
    paused: provider.paused,
    /** False: it waits for approval. */
    approved: provider.approvedAt !== null,
    owner_disabled: provider.isOwnerDisabled,
    gpus: gpusOf(provider, link),
    models: [...new Set(services.flatMap(({ models }) => models.map(({ id }) => id)))],
    slots: services.reduce((sum, { slots }) => sum + slots, 0),
    busy: link?.busy ?? 0,
    created_at: provider.createdAt,
    connected_at: link?.connectedAt ?? null,
    last_seen_at: provider.lastSeenAt,
  };
}

/** All data of each, whether online or not. */
export async function describeProviders(context: AdminContext, providers: readonly Provider[]) {
  const views = viewsById(context);
  const ids = providers.map(({ id }) => id);
  const activities = await context.store.providerActivity(ids, context.now());
  const activityOf = new Map(activities.map((one) => [one.providerId, one]));
  return providers.map((provider) =>
    describe(provider, views.get(provider.id), activityOf.get(provider.id)),
  );
}

function describe(provider: Provider, view?: ProviderView, activity?: ProviderActivity) {
  const link = view?.link ?? null;
  const busy = link?.busyByService;
  const lastError = activity?.lastError ?? null;
  return {
    ...presentProvider(provider, view),
    session_id: link?.linkId ?? null,
    agent_version: link?.agentVersion ?? null,
    protocol: link === null ? null : SUBPROTOCOL,
    accepts: link?.accepts ?? null,
    offline_since: link === null ? (view?.offlineSince ?? provider.lastSeenAt) : null,
    host: link?.host ?? provider.host,
    services: servicesOf(provider, view).map((service) => ({
      ...service,
      busy: busy?.get(service.service_id) ?? 0,
    })),
    /** Requests of today, in UTC. */
    served_today: activity?.servedToday ?? 0,
    last_error: lastError && {
      at: lastError.at,
      code: lastError.code,
      model: lastError.model,
      request_id: lastError.requestId,
    },
  };
}

/** The cards are known while the machine is offline, their telemetry is not. */
function gpusOf(provider: Provider, link: LinkView | null) {
  const gpus = link?.host.gpus ?? provider.host?.gpus ?? [];
  return gpus.map(({ name, vram_mib }, index) => {
    const reading = link?.cards[index];
    return {
      name,
      memory_mib: vram_mib,
      memory_used_mib: reading?.memory_used_mib ?? null,
      use_percent: reading?.use_percent ?? null,
      temperature_c: reading?.temperature_c ?? null,
      power_watts: reading?.power_watts ?? null,
    };
  });
}

/** The link is more current than the row, which is written a moment later. */
export function servicesOf(
  provider: Provider,
  view: ProviderView | undefined,
): Provider['services'] {
  return view === undefined || view.link === null ? provider.services : view.services;
}

/** When it was online in the last 30 days, and why it went offline; for its owner and admins. */
export async function presentUptime({ store, now }: AdminContext, id: string, isOnline: boolean) {
  const history = await store.linkHistory(id);
  const at = now();
  const openUntil = isOnline ? at : (history.holderSeenAt ?? at);
  const { days, disconnections } = uptimeOf(history, { now: at, openUntil });
  return {
    /** Since when all of it is known; null: nothing is. */
    known_since: history.since,
    /** In UTC, in order; today is the last one. */
    days: days.map(({ day, onlineMs, knownMs }) => {
      return { day, online_ms: onlineMs, known_ms: knownMs };
    }),
    /** The newest first. */
    disconnections: disconnections.map(({ at: since, reason, backAt }) => {
      return { at: since, reason, back_at: backAt };
    }),
  };
}

/** As `OWNER/NAME`. */
export function nameOf({ ownerName, name }: Provider): string {
  return `${ownerName}/${name}`;
}

// The JSON of a share.

export function presentShare({ subject, audience, caps, ...share }: Share) {
  const name = share.audienceName;
  const written = writtenRules(caps.quota ?? null);
  return {
    id: share.id,
    provider: share.providerName,
    /** Everything that the provider serves, if service and model are null. */
    service_id: subject.serviceId,
    model: subject.model,
    /** Exactly one of the two is null. */
    network: audience.kind === 'network' ? name : null,
    member: audience.kind === 'member' ? name : null,
    slots: caps.slots,
    hours: caps.hours === null ? null : formatDayHours(caps.hours),
    max_tokens: caps.maxTokens,
    /** As they are typed: `requests=100,tokens=50000`; null: no limit. */
    day: written.day,
    month: written.month,
    created_at: share.createdAt,
  };
}

export type ShareView = ReturnType<typeof presentShare> & {
  /**
   * What others have used of a share with a quota; null: it has none. Only where its owner or an
   * administrator lists it.
   */
  readonly used?: ShownUse | null;
};

/** For their owner, and administrators. */
export async function presentOwnShares(
  { store, now }: Pick<AdminContext, 'store' | 'now'>,
  shares: readonly Share[],
) {
  const usedOf = await shareUses(shares, (ids, at) => store.shareUse(ids, at), now());
  return shares.map((share) => ({ ...presentShare(share), used: usedOf(share) }));
}
