import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import type { ShareCaps } from '../../../core/access/sharing.js';
import type { Audience, AuditSubject, NewShare, Share } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { blockOperations } from './blocks.js';
import type { BlockOperations } from './blocks.js';
import type { Operations } from '../engine/operations.js';
import { toCaps, toColumns } from './share-caps.js';
import type { CapColumns } from './share-caps.js';
import { sharingFactsReader } from './sharing-facts.js';

type ShareOperations = BlockOperations &
  Pick<Operations, 'putShare' | 'deleteShare' | 'listShares' | 'sharingFacts'>;

interface Row extends CapColumns {
  id: string;
  provider_id: string;
  provider_name: string;
  owner_id: string;
  service_id: string | null;
  model: string | null;
  network_id: string | null;
  network_name: string | null;
  member_id: string | null;
  member_name: string | null;
  created_at: number;
}

const SELECT = `select s.*, p.owner_id, o.name || '/' || p.name as provider_name,
    n.name as network_name, m.name as member_name
  from shares s join providers p on p.id = s.provider_id join members o on o.id = p.owner_id
  left join networks n on n.id = s.network_id left join members m on m.id = s.member_id`;

/** Shares, the blocks that stand against them, and all that decides who may use what. */
export function shareOperations(database: Database, trail: AuditTrail): ShareOperations {
  const list = database.prepare<{ providerId: string | null }, Row>(
    `${SELECT} where @providerId is null or s.provider_id = @providerId
     order by s.created_at, s.rowid`,
  );
  return {
    putShare: putter(database, trail),
    deleteShare: deleter(database, trail),
    listShares: (providerId) => list.all({ providerId }).map(decode),
    ...blockOperations(database, trail),
    sharingFacts: sharingFactsReader(database),
  };
}

/** The expressions of the unique index: null is not equal to itself. */
const IS_SAME = `provider_id = @providerId
  and coalesce(service_id, '') = coalesce(@serviceId, '')
  and coalesce(model, '') = coalesce(@model, '')
  and coalesce(network_id, '') = coalesce(@networkId, '')
  and coalesce(member_id, '') = coalesce(@memberId, '')`;

function putter(database: Database, trail: AuditTrail): Operations['putShare'] {
  const same = database.prepare<object, CapColumns & { id: string }>(
    `select * from shares where ${IS_SAME}`,
  );
  const insert = database.prepare<object>(
    `insert into shares (id, provider_id, service_id, model, network_id, member_id,
       max_slots, max_tokens, hours_from, hours_until, hours_zone, created_at)
     values (@id, @providerId, @serviceId, @model, @networkId, @memberId,
       @max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone, @now)`,
  );
  const update = database.prepare<object>(
    `update shares set max_slots = @max_slots, max_tokens = @max_tokens,
       hours_from = @hours_from, hours_until = @hours_until, hours_zone = @hours_zone
     where id = @id and (max_slots, max_tokens, hours_from, hours_until, hours_zone)
       is not (@max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone)`,
  );
  const find = shareFinder(database);
  return (share, now) => {
    // Only this connection writes, and an operation runs without a pause.
    const old = same.get(keyOf(share));
    const id = old?.id ?? ulid(now);
    const caps = toColumns(share.caps);
    if (old === undefined) insert.run({ ...keyOf(share), ...caps, id, now });
    const isChanged = old === undefined || update.run({ ...caps, id }).changes === 1;
    const made = find(id);
    if (made === null) throw new Error(`the share ${id} that was just made is not there`);
    if (isChanged) {
      const before = old === undefined ? null : { caps: readable(toCaps(old)) };
      const [subject, after] = [subjectOf(made), describe(made)];
      trail.record({ action: 'provider.share', subject, before, after });
    }
    return made;
  };
}

function deleter(database: Database, trail: AuditTrail): Operations['deleteShare'] {
  const remove = database.prepare('delete from shares where id = ?');
  const find = shareFinder(database);
  return (id) => {
    const share = find(id);
    if (share === null) return false;
    remove.run(id);
    const [subject, before] = [subjectOf(share), describe(share)];
    trail.record({ action: 'provider.unshare', subject, before, after: null });
    return true;
  };
}

function shareFinder(database: Database): (id: string) => Share | null {
  const find = database.prepare<[string], Row>(`${SELECT} where s.id = ?`);
  return (id) => {
    const row = find.get(id);
    return row === undefined ? null : decode(row);
  };
}

function keyOf({ providerId, subject, audience }: NewShare): object {
  const networkId = audience.kind === 'network' ? audience.id : null;
  const memberId = audience.kind === 'member' ? audience.id : null;
  return { providerId, ...subject, networkId, memberId };
}

function subjectOf({ id, providerName }: Share): AuditSubject {
  return { kind: 'share', id, name: providerName };
}

/** As the audit log tells it to people. */
function describe({ subject, audience, audienceName, caps }: Share): Record<string, unknown> {
  const { serviceId, model } = subject;
  const all = model === null ? 'all' : `model ${model}`;
  return {
    subject: serviceId === null ? all : `service ${serviceId}`,
    audience: `${audience.kind} ${audienceName}`,
    caps: readable(caps),
  };
}

function readable({ hours, ...caps }: ShareCaps): Record<string, unknown> {
  return { ...caps, hours: hours === null ? null : formatDayHours(hours) };
}

function decode(row: Row): Share {
  return {
    id: row.id,
    providerId: row.provider_id,
    providerName: row.provider_name,
    ownerId: row.owner_id,
    subject: { serviceId: row.service_id, model: row.model },
    ...audienceOf(row),
    caps: toCaps(row),
    createdAt: row.created_at,
  };
}

/** The table's checks keep one of the two null. */
function audienceOf(row: Row): { readonly audience: Audience; readonly audienceName: string } {
  if (row.network_id !== null) {
    const audience = { kind: 'network', id: row.network_id } as const;
    return { audience, audienceName: row.network_name ?? '' };
  }
  const audience = { kind: 'member', id: row.member_id ?? '' } as const;
  return { audience, audienceName: row.member_name ?? '' };
}
