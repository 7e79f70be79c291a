/**
 * Stores which coordinator each provider is linked to, and which models it serves or has served.
 */
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { ProviderLink, ServedModel } from '../../../core/routing/presence.js';
import type { LinkPeriod } from '../../../core/routing/uptime.js';
import { LINK_HISTORY_MS, MAX_LINKS_KEPT } from '../../port.js';
import type { EndedLink, NewestLink, Served } from '../../port.js';
import type { Operations } from '../operations.js';
import { context, statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

type PresenceOperations = Pick<
  Operations,
  | 'startNode'
  | 'beatNode'
  | 'recordServed'
  | 'endLink'
  | 'servedModels'
  | 'linkHistory'
  | 'deleteOldLinks'
>;

/** Per provider, models that it no longer serves. If there are more, the oldest are deleted. */
const MAX_LEFT_A_PROVIDER = LINK.maxModels;

const start = statement<{ nodeId: string; now: number }>(
  `insert into nodes (id, epoch, seen_at) values (@nodeId, 1, @now)
   on conflict (id) do update set epoch = nodes.epoch + 1, seen_at = excluded.seen_at`,
);
const endLeftOpen = statement<{ nodeId: string }>(
  `update provider_links set ended_at =
     coalesce((select seen_at from nodes where id = @nodeId), linked_at)
   where node_id = @nodeId and ended_at is null`,
);
const beat = statement<{ nodeId: string; now: number }>(
  `update nodes set seen_at = @now where id = @nodeId and exists
     (select 1 from provider_links where node_id = @nodeId and ended_at is null)`,
);
const end = statement<NewestLink & { now: number }>(
  `update provider_links set ended_at = @now
   where provider_id = @providerId and link_id = @linkId and ended_at is null`,
);
// Locked: a newer link is opened, and writes its own list, only after this list is written.
const newest = `select 1 from provider_links
  where provider_id = @providerId and link_id = @linkId and ended_at is null`;
const isNewest = valueOf<NewestLink, number>({
  sqlite: newest,
  postgres: `${newest} for update`,
});
const snapshotOf = valueOf<{ providerId: string }, string>(
  'select services from provider_snapshots where provider_id = @providerId',
);
const writeSnapshot = statement<{ providerId: string; services: string; host: string }>(
  `insert into provider_snapshots (provider_id, services, host)
   values (@providerId, @services, @host)
   on conflict (provider_id) do update set services = excluded.services, host = excluded.host`,
);
const servedOf = statement<{ serviceType: string; model: string }, ServedRow>(
  `select m.provider_id, m.service_id, m.takes_foreign, m.advertised, m.left_at,
     l.epoch, l.node_id, l.link_id, l.linked_at, l.ended_at, n.seen_at
   from served_models m left join provider_links l on l.provider_id = m.provider_id
   left join nodes n on n.id = l.node_id
   where m.service_type = @serviceType and m.model = @model
   order by m.provider_id, m.service_id`,
);

export const presenceOperations: PresenceOperations = {
  *startNode(now) {
    const { nodeId } = yield* context();
    yield* endLeftOpen.run({ nodeId });
    yield* closeLeft(nodeId);
    yield* start.run({ nodeId, now });
  },

  *beatNode(now) {
    const { nodeId } = yield* context();
    yield* beat.run({ nodeId, now });
  },

  *recordServed(link, { services, host }, now) {
    if ((yield* isNewest.get(link)) === undefined) return;
    const { providerId } = link;
    const listed = JSON.stringify(services);
    // After a restart every agent sends the same services again: no models are written then.
    const isChanged = (yield* snapshotOf.get({ providerId })) !== listed;
    yield* writeSnapshot.run({ providerId, services: listed, host: JSON.stringify(host) });
    if (isChanged) yield* writeModels(providerId, services, now);
    yield* seeProvider.run({ providerId, now });
  },

  *endLink({ reason, ...link }, now) {
    if ((yield* end.run({ ...link, now })) === 1) {
      yield* seeProvider.run({ providerId: link.providerId, now });
    }
    // A coordinator of an older version that holds the newest link has not closed it.
    yield* close.run({ ...link, reason, now });
  },

  *linkHistory(providerId) {
    const since = (yield* historySince.get({ providerId })) ?? null;
    const holderSeenAt = (yield* holderSeen.get({ providerId })) ?? null;
    return { since, periods: yield* periodsOf.all({ providerId }), holderSeenAt };
  },

  *deleteOldLinks(now, limit) {
    return yield* deleteOld.run({ before: now - LINK_HISTORY_MS, limit });
  },

  *servedModels(serviceType, model) {
    return (yield* servedOf.all({ serviceType, model })).map(decode);
  },
};

const seeProvider = statement<{ providerId: string; now: number }>(
  `update providers
   set last_seen_at = case when last_seen_at > @now then last_seen_at else @now end
   where id = @providerId`,
);

const open = valueOf<NewestLink & { nodeId: string; now: number }, number>(
  `insert into provider_links
     (provider_id, epoch, node_id, link_id, linked_at, ended_at, history_since)
   select id, 1, @nodeId, @linkId, @now, null, @now from providers where id = @providerId
   on conflict (provider_id) do update set
     epoch = provider_links.epoch + 1, node_id = excluded.node_id, link_id = excluded.link_id,
     linked_at = excluded.linked_at, ended_at = null,
     history_since = coalesce(provider_links.history_since, excluded.history_since)
   returning epoch`,
);
const seeNode = statement<{ nodeId: string; now: number }>(
  `update nodes set seen_at = case when seen_at > @now then seen_at else @now end
   where id = @nodeId`,
);

/** Makes a link the newest of its provider; its epoch. 0: the provider is unknown. */
export function* openLink(link: NewestLink, now: number): Operation<number> {
  const { nodeId } = yield* context();
  const epoch = yield* open.get({ ...link, nodeId, now });
  if (epoch !== undefined) yield* begin({ ...link, nodeId }, now);
  // Without links `beatNode` writes nothing, so the last time may be old.
  yield* seeNode.run({ nodeId, now });
  return epoch ?? 0;
}

// The history of links.

const replace = statement<{ providerId: string; now: number }>(
  `update link_history set ended_at = @now, reason = 'replaced'
   where provider_id = @providerId and ended_at is null`,
);
const add = statement<NewestLink & { nodeId: string; now: number }>(
  `insert into link_history (provider_id, link_id, node_id, linked_at, ended_at, reason)
   values (@providerId, @linkId, @nodeId, @now, null, null)
   on conflict (provider_id, linked_at, link_id) do nothing`,
);
const oldestKept = valueOf<{ providerId: string; kept: number }, number>(
  `select linked_at from link_history where provider_id = @providerId
   order by linked_at desc, link_id desc limit 1 offset @kept`,
);
const forgetLinks = statement<{ providerId: string; oldest: number }>(
  'delete from link_history where provider_id = @providerId and linked_at < @oldest',
);
const knowSince = statement<{ providerId: string; oldest: number }>(
  'update provider_links set history_since = @oldest where provider_id = @providerId',
);
const close = statement<EndedLink & { now: number }>(
  `update link_history set ended_at = @now, reason = @reason
   where provider_id = @providerId and link_id = @linkId and ended_at is null`,
);
const seenAtOf = valueOf<{ nodeId: string }, number>(
  'select seen_at from nodes where id = @nodeId',
);
const closeLeftOpen = statement<{ nodeId: string; seenAt: number }>(
  `update link_history set reason = 'coordinator_crashed',
     ended_at = case when linked_at > @seenAt then linked_at else @seenAt end
   where node_id = @nodeId and ended_at is null`,
);
// Its agents have linked to another coordinator before it started again.
const blame = statement<{ nodeId: string; seenAt: number }>(
  `update link_history set reason = 'coordinator_crashed'
   where node_id = @nodeId and reason = 'replaced' and ended_at > @seenAt
     and exists (select 1 from nodes where id = @nodeId and stopped_at is null)`,
);
const historySince = valueOf<{ providerId: string }, number>(
  'select history_since from provider_links where provider_id = @providerId',
);
const periodsOf = statement<{ providerId: string }, LinkPeriod>(
  `select linked_at as "linkedAt", ended_at as "endedAt", reason from link_history
   where provider_id = @providerId order by linked_at, link_id`,
);
const holderSeen = valueOf<{ providerId: string }, number>(
  `select n.seen_at from provider_links l join nodes n on n.id = l.node_id
   where l.provider_id = @providerId and l.ended_at is null`,
);
const deleteOld = statement<{ before: number; limit: number }>(
  `delete from link_history where (provider_id, link_id) in
     (select provider_id, link_id from link_history
      where ended_at < @before order by ended_at limit @limit)`,
);

/** The links that a coordinator has left open ended when it was last seen. */
export function* closeLeft(nodeId: string): Operation<void> {
  const seenAt = yield* seenAtOf.get({ nodeId });
  if (seenAt === undefined) return;
  yield* blame.run({ nodeId, seenAt });
  yield* closeLeftOpen.run({ nodeId, seenAt });
}

function* begin(link: NewestLink & { readonly nodeId: string }, now: number): Operation<void> {
  const { providerId } = link;
  yield* replace.run({ providerId, now });
  yield* add.run({ ...link, now });
  const oldest = yield* oldestKept.get({ providerId, kept: MAX_LINKS_KEPT - 1 });
  if (oldest === undefined || (yield* forgetLinks.run({ providerId, oldest })) === 0) return;
  yield* knowSince.run({ providerId, oldest });
}

const leave = statement<{ providerId: string; now: number }>(
  'update served_models set left_at = @now where provider_id = @providerId and left_at is null',
);
const serve = statement(
  `insert into served_models
     (provider_id, service_type, model, service_id, takes_foreign, advertised, left_at)
   values (@providerId, @serviceType, @model, @serviceId, @takesForeign, @advertised, null)
   on conflict (provider_id, service_type, model, service_id) do update set
     takes_foreign = excluded.takes_foreign, advertised = excluded.advertised, left_at = null`,
);
const forget = statement<{ providerId: string; most: number }>(
  `delete from served_models where provider_id = @providerId and left_at is not null
     and (service_type, model, service_id) not in
       (select service_type, model, service_id from served_models
        where provider_id = @providerId and left_at is not null
        order by left_at desc, service_type, model, service_id limit @most)`,
);

function* writeModels(
  providerId: string,
  services: Served['services'],
  now: number,
): Operation<void> {
  yield* leave.run({ providerId, now });
  yield* serve.each(services.flatMap((service) => rowsOf(providerId, service)));
  yield* forget.run({ providerId, most: MAX_LEFT_A_PROVIDER });
}

function rowsOf(providerId: string, service: AdvertisedService): object[] {
  const { service_type: serviceType, service_id: serviceId, foreign, models } = service;
  const of = { providerId, serviceType, serviceId, takesForeign: foreign === false ? 0 : 1 };
  return models.map((model) => ({ ...of, model: model.id, advertised: JSON.stringify(model) }));
}

interface ServedRow {
  provider_id: string;
  service_id: string;
  takes_foreign: 0 | 1;
  advertised: string;
  left_at: number | null;
  epoch: number | null;
  node_id: string | null;
  link_id: string | null;
  linked_at: number | null;
  ended_at: number | null;
  seen_at: number | null;
}

function decode(row: ServedRow): ServedModel {
  return {
    providerId: row.provider_id,
    serviceId: row.service_id,
    foreign: row.takes_foreign === 1,
    model: JSON.parse(row.advertised) as AdvertisedModel,
    leftAt: row.left_at,
    link: linkOf(row),
  };
}

function linkOf(row: ServedRow): ProviderLink | null {
  const { epoch, node_id: nodeId, link_id: linkId, linked_at: linkedAt } = row;
  if (epoch === null || nodeId === null || linkId === null || linkedAt === null) return null;
  return { epoch, nodeId, linkId, linkedAt, endedAt: row.ended_at, nodeSeenAt: row.seen_at ?? 0 };
}
