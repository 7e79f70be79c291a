/**
 * Stores which coordinator each provider is linked to, and which models it serves or has served.
 */
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { Database } from 'better-sqlite3';
import type { ProviderLink, ServedModel } from '../../../core/routing/presence.js';
import type { NewestLink, Served } from '../../port.js';
import type { Operations } from '../engine/operations.js';

type PresenceOperations = Pick<
  Operations,
  'startNode' | 'beatNode' | 'recordServed' | 'endLink' | 'servedModels'
>;

/** Per provider, models that it no longer serves. If there are more, the oldest are deleted. */
const MAX_LEFT_A_PROVIDER = LINK.maxModels;

export function presenceOperations(database: Database, nodeId: string): PresenceOperations {
  const start = database.prepare<object>(
    `insert into nodes (id, epoch, seen_at) values (@nodeId, 1, @now)
     on conflict (id) do update set epoch = epoch + 1, seen_at = @now`,
  );
  const endLeftOpen = database.prepare<object>(
    `update provider_links set ended_at =
       coalesce((select seen_at from nodes where id = @nodeId), linked_at)
     where node_id = @nodeId and ended_at is null`,
  );
  const beat = database.prepare<object>(
    `update nodes set seen_at = @now where id = @nodeId and exists
       (select 1 from provider_links where node_id = @nodeId and ended_at is null)`,
  );
  const end = database.prepare<object>(
    `update provider_links set ended_at = @now
     where provider_id = @providerId and link_id = @linkId and ended_at is null`,
  );
  const sawProvider = providerSeer(database);
  return {
    startNode: (now) => {
      endLeftOpen.run({ nodeId });
      start.run({ nodeId, now });
    },
    beatNode: (now) => void beat.run({ nodeId, now }),
    recordServed: servedRecorder(database),
    endLink: ({ providerId, linkId }, now) => {
      if (end.run({ providerId, linkId, now }).changes === 1) sawProvider(providerId, now);
    },
    servedModels: servedReader(database),
  };
}

/** Makes a link the newest of its provider. An unknown provider is ignored. */
export function linkOpener(
  database: Database,
  nodeId: string,
): (link: NewestLink, now: number) => void {
  const open = database.prepare<object>(
    `insert into provider_links (provider_id, epoch, node_id, link_id, linked_at, ended_at)
     select id, 1, @nodeId, @linkId, @now, null from providers where id = @providerId
     on conflict (provider_id) do update set
       epoch = epoch + 1, node_id = @nodeId, link_id = @linkId, linked_at = @now, ended_at = null`,
  );
  const see = database.prepare<object>(
    'update nodes set seen_at = max(seen_at, @now) where id = @nodeId',
  );
  return (link, now) => {
    open.run({ ...link, nodeId, now });
    // Without links `beatNode` writes nothing, so the last time may be old.
    see.run({ nodeId, now });
  };
}

function providerSeer(database: Database): (id: string, now: number) => void {
  const update = database.prepare<object>(
    'update providers set last_seen_at = max(coalesce(last_seen_at, 0), @now) where id = @id',
  );
  return (id, now) => void update.run({ id, now });
}

function servedRecorder(database: Database) {
  const isNewest = database
    .prepare<object, number>(
      `select 1 from provider_links
       where provider_id = @providerId and link_id = @linkId and ended_at is null`,
    )
    .pluck();
  const snapshotOf = database
    .prepare<[string], string>('select services from provider_snapshots where provider_id = ?')
    .pluck();
  const writeSnapshot = database.prepare<object>(
    `insert into provider_snapshots (provider_id, services, host)
     values (@providerId, @services, @host)
     on conflict (provider_id) do update set services = @services, host = @host`,
  );
  const writeModels = modelWriter(database);
  const sawProvider = providerSeer(database);
  return (link: NewestLink, { services, host }: Served, now: number): void => {
    if (isNewest.get(link) === undefined) return;
    const { providerId } = link;
    const listed = JSON.stringify(services);
    // After a restart every agent sends the same services again: no models are written then.
    const isChanged = snapshotOf.get(providerId) !== listed;
    writeSnapshot.run({ providerId, services: listed, host: JSON.stringify(host) });
    if (isChanged) writeModels(providerId, services, now);
    sawProvider(providerId, now);
  };
}

function modelWriter(database: Database) {
  const leave = database.prepare<object>(
    'update served_models set left_at = @now where provider_id = @providerId and left_at is null',
  );
  const serve = database.prepare<object>(
    `insert into served_models
       (provider_id, service_type, model, service_id, takes_foreign, advertised, left_at)
     values (@providerId, @serviceType, @model, @serviceId, @takesForeign, @advertised, null)
     on conflict (provider_id, service_type, model, service_id) do update set
       takes_foreign = @takesForeign, advertised = @advertised, left_at = null`,
  );
  const forget = database.prepare<object>(
    `delete from served_models where provider_id = @providerId and left_at is not null
       and (service_type, model, service_id) not in
         (select service_type, model, service_id from served_models
          where provider_id = @providerId and left_at is not null
          order by left_at desc, service_type, model, service_id limit @most)`,
  );
  return (providerId: string, services: Served['services'], now: number): void => {
    leave.run({ providerId, now });
    for (const { service_type: serviceType, service_id: serviceId, foreign, models } of services) {
      const takesForeign = foreign === false ? 0 : 1;
      for (const model of models) {
        const advertised = JSON.stringify(model);
        const of = { providerId, serviceType, serviceId, model: model.id };
        serve.run({ ...of, takesForeign, advertised });
      }
    }
    forget.run({ providerId, most: MAX_LEFT_A_PROVIDER });
  };
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

function servedReader(database: Database): Operations['servedModels'] {
  const select = database.prepare<[string, string], ServedRow>(
    `select m.provider_id, m.service_id, m.takes_foreign, m.advertised, m.left_at,
       l.epoch, l.node_id, l.link_id, l.linked_at, l.ended_at, n.seen_at
     from served_models m left join provider_links l on l.provider_id = m.provider_id
     left join nodes n on n.id = l.node_id
     where m.service_type = ? and m.model = ? order by m.provider_id, m.service_id`,
  );
  return (serviceType, model) => select.all(serviceType, model).map(decode);
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
