import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import * as z from 'zod';
import { grantOf, servedModels, subjectOf, visibleModels } from '../core/access/access.js';
import type { Asking, Serving } from '../core/access/access.js';
import type { ProviderView } from '../core/routing/links.js';
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import { resolveSharing, shareState, unshared } from '../core/access/sharing.js';
import type { ProviderSharing } from '../core/access/sharing.js';
import type { Provider } from '../store/port.js';
import { adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { servicesOf, viewsById } from './provider-view.js';
import { resolveMember } from './references.js';

/**
 * All models, or those that one member may use: with a running coordinator as in `GET /v1/models`
 * now, without one as if all providers were online.
 */
export const listModels = adminRead(
  z.strictObject({ user: z.string().nullable() }),
  async (context, { user }) => {
    const stocks = await readStocks(context);
    if (user === null) return ordered(stocks.flatMap(allOf));
    const { id: memberId } = await resolveMember(context.store, user);
    const asking = { memberId, scope: 'any' } as const;
    const isRunning = context.links !== null;
    return ordered(stocks.flatMap((stock) => (isRunning ? servedOf : knownOf)(stock, asking)));
  },
);

/** A provider with its services and shares. */
interface Stock {
  readonly provider: Provider;
  readonly serving: Serving;
  readonly sharing: ProviderSharing;
  /** The measured speed; null if it was not measured, or no coordinator runs. */
  readonly tokensPerSecond: (entry: Entry) => number | null;
  /** Calls in progress by service id. */
  readonly busy: ReadonlyMap<string, number>;
}

async function readStocks(context: AdminContext): Promise<readonly Stock[]> {
  const { store, now } = context;
  const views = viewsById(context);
  const resolved = resolveSharing(await store.sharingFacts());
  const at = now();
  const speeds = readSpeeds(context);
  return (await store.listProviders()).map((provider) => {
    // A provider that enrolled after the facts were read is not shared yet.
    const sharing = resolved.get(provider.id) ?? unshared(provider.ownerId, true);
    const view = views.get(provider.id);
    return {
      provider,
      sharing,
      serving: { ...linkOf(provider, view), ...stateOf(sharing, at) },
      busy: view?.link?.busyByService ?? IDLE,
      tokensPerSecond: (entry) => speeds(provider.id, entry),
    };
  });
}

const IDLE: ReadonlyMap<string, number> = new Map();

type Speeds = (providerId: string, entry: Entry) => number | null;

/** The speeds of a model are read once, because hundreds of providers may serve it. */
function readSpeeds({ links }: AdminContext): Speeds {
  const byModel = new Map<string, ReadonlyMap<string, number | null>>();
  const speedsOf = ({ service, model }: Entry): ReadonlyMap<string, number | null> => {
    const candidates = links?.candidates(service.service_type, model.id) ?? [];
    return new Map(
      candidates.map(({ providerId, serviceId, pace }) => [
        `${providerId} ${serviceId}`,
        pace.tokensPerSecond,
      ]),
    );
  };
  return (providerId, entry) => {
    const key = `${entry.service.service_type} ${entry.model.id}`;
    const speeds = byModel.get(key) ?? speedsOf(entry);
    byModel.set(key, speeds);
    return speeds.get(`${providerId} ${entry.service.service_id}`) ?? null;
  };
}

function linkOf(provider: Provider, view: ProviderView | undefined) {
  const { ownerId, draining } = provider;
  return {
    ownerId,
    draining,
    services: servicesOf(provider, view),
    link: view?.link ?? null,
  };
}

/** Taken slots affect which share serves a call, but not what a member may see. */
function stateOf({ closed, shares }: ProviderSharing, at: number) {
  return { closed, shares: shares.map((share) => shareState(share, 0, at)) };
}

interface Entry {
  readonly service: AdvertisedService;
  readonly model: AdvertisedModel;
}

/** For an administrator: all models, without regard to shares. */
function allOf(stock: Stock) {
  const { services } = stock.serving;
  return services.flatMap((service) =>
    service.models.map((model) => present(stock, { service, model }, null)),
  );
}

function servedOf(stock: Stock, asking: Asking) {
  return servedModels(stock.serving, asking).map((entry) => present(stock, entry, asking));
}

function knownOf(stock: Stock, asking: Asking) {
  return visibleModels(stock.serving, asking).map((entry) => present(stock, entry, asking));
}

function present(stock: Stock, entry: Entry, asking: Asking | null) {
  const { provider, serving, sharing } = stock;
  const { service, model } = entry;
  const grant = asking === null ? null : grantOf(asking, serving, subjectOf(service, model));
  const share = sharing.shares.find(({ id }) => id === grant?.shareId);
  const hours = share?.caps.hours ?? null;
  return {
    id: model.id,
    service_type: service.service_type,
    service_id: service.service_id,
    owner: provider.ownerName,
    provider: provider.name,
    provider_id: provider.id,
    online: serving.link !== null,
    slots: service.slots,
    busy: stock.busy.get(service.service_id) ?? 0,
    tokens_per_second: stock.tokensPerSecond(entry),
    own: asking === null ? null : provider.ownerId === asking.memberId,
    share_id: share?.id ?? null,
    max_tokens: share?.caps.maxTokens ?? null,
    hours: hours === null ? null : formatDayHours(hours),
  };
}

/** Ordered by id, so that providers of the same model are adjacent. */
function ordered(rows: readonly ModelRow[]): readonly ModelRow[] {
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
}

type ModelRow = ReturnType<typeof present>;
