import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import { formatDayHours } from '@inference-gateway/shared/day-hours';
import { writtenRules } from '../../../core/usage/quota.js';
import type { Quota } from '../../../core/usage/quota.js';
import type { ShareCaps, ShareSubject, SharingFacts } from '../../../core/access/sharing.js';
import type { Audience, AuditSubject, NewShare, Share, Block } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import type { Operations } from '../engine/operations.js';

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

const SELECT = `select s.id, s.provider_id, s.service_id, s.model, s.network_id, s.member_id,
    s.max_slots, s.max_tokens, s.hours_from, s.hours_until, s.hours_zone, s.quota,
    s.created_at,
    p.owner_id, o.name || '/' || p.name as provider_name,
    n.name as network_name, m.name as member_name
  from shares s join providers p on p.id = s.provider_id join members o on o.id = p.owner_id
  left join networks n on n.id = s.network_id left join members m on m.id = s.member_id`;

/** Shares, blocks, and the facts that decide who may use what. */
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

/**
 * The expressions of the unique index, which maps null to '', because null is not equal to itself.
 */
const IS_SAME = `provider_id = @providerId
  and coalesce(service_id, '') = coalesce(@serviceId, '')
  and coalesce(model, '') = coalesce(@model, '')
  and coalesce(network_id, '') = coalesce(@networkId, '')
  and coalesce(member_id, '') = coalesce(@memberId, '')`;

function putter(database: Database, trail: AuditTrail): Operations['putShare'] {
  const same = database.prepare<object, CapColumns & { id: string }>(
    `select id, max_slots, max_tokens, hours_from, hours_until, hours_zone, quota
     from shares where ${IS_SAME}`,
  );
  const insert = database.prepare<object>(
    `insert into shares (id, provider_id, service_id, model, network_id, member_id,
       max_slots, max_tokens, hours_from, hours_until, hours_zone, quota, created_at)
     values (@id, @providerId, @serviceId, @model, @networkId, @memberId,
       @max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone, @quota, @now)`,
  );
  const update = database.prepare<object>(
    `update shares set max_slots = @max_slots, max_tokens = @max_tokens,
       hours_from = @hours_from, hours_until = @hours_until, hours_zone = @hours_zone,
       quota = @quota
     where id = @id and (max_slots, max_tokens, hours_from, hours_until, hours_zone, quota)
       is not (@max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone, @quota)`,
  );
  const find = shareFinder(database);
  const refusalOf = capReader(database, 'shares where provider_id = @providerId');
  return ({ cap, ...share }, now) => {
    const old = same.get(keyOf(share));
    const refusal = old === undefined ? refusalOf(cap, { providerId: share.providerId }) : null;
    if (refusal !== null) return refusal;
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
    return { kind: 'shared', value: made };
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

/** For the audit log, in a form for people. */
function describe({ subject, audience, audienceName, caps }: Share): Record<string, unknown> {
  const { serviceId, model } = subject;
  const all = model === null ? 'all' : `model ${model}`;
  return {
    subject: serviceId === null ? all : `service ${serviceId}`,
    audience: `${audience.kind} ${audienceName}`,
    caps: readable(caps),
  };
}

function readable({ hours, quota = null, ...caps }: ShareCaps): Record<string, unknown> {
  const { models: _models, ...periods } = writtenRules(quota);
  return { ...caps, ...(quota && periods), hours: hours === null ? null : formatDayHours(hours) };
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

/** A check of the table ensures that exactly one of the two is null. */
function audienceOf(row: Row): { readonly audience: Audience; readonly audienceName: string } {
  if (row.network_id !== null) {
    const audience = { kind: 'network', id: row.network_id } as const;
    return { audience, audienceName: row.network_name ?? '' };
  }
  const audience = { kind: 'member', id: row.member_id ?? '' } as const;
  return { audience, audienceName: row.member_name ?? '' };
}

type Fact<Kind extends keyof SharingFacts> = SharingFacts[Kind][number];

interface ShareRow extends ShareSubject, CapColumns {
  readonly id: string;
  readonly providerId: string;
  readonly networkId: string | null;
  readonly memberId: string | null;
}

/**
 * Reads all facts in one consistent state, because only this connection writes. Six narrow reads,
 * because a join would repeat each provider for every member of every network: 11 ms with 1,000
 * providers and 3,000 shares, including the transfer to the main thread.
 */
function sharingFactsReader(database: Database): () => SharingFacts {
  const providers = database.prepare<[], ProviderRow>(
    `select p.id, p.name, p.owner_id as ownerId, m.name as ownerName,
       p.approved_at is not null as approved, p.draining, p.paused
     from providers p join members m on m.id = p.owner_id`,
  );
  const disabled = database
    .prepare<[], string>('select id from members where disabled_at is not null')
    .pluck();
  const memberships = database.prepare<[], Fact<'memberships'>>(
    'select network_id as networkId, member_id as memberId from network_members',
  );
  const shares = database.prepare<[], ShareRow>(
    `select id, provider_id as providerId, service_id as serviceId, model,
       network_id as networkId, member_id as memberId,
       max_slots, max_tokens, hours_from, hours_until, hours_zone, quota
     from shares order by created_at, rowid`,
  );
  const blocks = database.prepare<[], Fact<'blocks'>>(
    'select owner_id as ownerId, member_id as memberId from blocks',
  );
  const aliases = database.prepare<[], AliasRow>(
    'select member_id as memberId, name, models from aliases',
  );
  return () => ({
    providers: providers.all().map(toProvider),
    disabledMembers: disabled.all(),
    memberships: memberships.all(),
    shares: shares.all().map(toShare),
    blocks: blocks.all(),
    aliases: aliases.all().map(toAlias),
  });
}

type AliasRow = Omit<Fact<'aliases'>, 'models'> & { readonly models: string };

function toAlias({ models, ...alias }: AliasRow): Fact<'aliases'> {
  return { ...alias, models: JSON.parse(models) as string[] };
}

type Switch = 'approved' | 'draining' | 'paused';

type ProviderRow = Omit<Fact<'providers'>, Switch> & Readonly<Record<Switch, 0 | 1>>;

function toProvider(row: ProviderRow): Fact<'providers'> {
  const { approved, draining, paused } = row;
  return { ...row, approved: approved === 1, draining: draining === 1, paused: paused === 1 };
}

function toShare(row: ShareRow): Fact<'shares'> {
  const { id, providerId, serviceId, model, networkId, memberId } = row;
  return { id, providerId, serviceId, model, networkId, memberId, caps: toCaps(row) };
}

/** The columns of a share's limits. */
interface CapColumns {
  max_slots: number | null;
  max_tokens: number | null;
  hours_from: number | null;
  hours_until: number | null;
  hours_zone: string | null;
  /** JSON: `Quota` */
  quota: string | null;
}

function toCaps(row: CapColumns): ShareCaps {
  const { max_slots: slots, max_tokens: maxTokens } = row;
  const { hours_from: from, hours_until: until, hours_zone: timeZone } = row;
  // A check of the table ensures that all three are null or none is.
  const isAlways = from === null || until === null || timeZone === null;
  const quota = row.quota === null ? null : (JSON.parse(row.quota) as Quota);
  const hours = isAlways ? null : { from, until, timeZone };
  return { slots, hours, maxTokens, ...(quota && { quota }) };
}

function toColumns({ slots, hours, maxTokens, quota }: ShareCaps): CapColumns {
  return {
    max_slots: slots,
    max_tokens: maxTokens,
    hours_from: hours?.from ?? null,
    hours_until: hours?.until ?? null,
    hours_zone: hours?.timeZone ?? null,
    quota: quota ? JSON.stringify(quota) : null,
  };
}

type BlockOperations = Pick<Operations, 'blockMember' | 'unblockMember' | 'listBlocks'>;

function blockOperations(database: Database, trail: AuditTrail): BlockOperations {
  // Owners cannot block themselves.
  const block = database.prepare(
    `insert into blocks (owner_id, member_id, created_at)
     select o.id, m.id, @now from members o, members m
     where o.id = @ownerId and m.id = @memberId and o.id <> m.id
     on conflict do nothing`,
  );
  const unblock = database.prepare(
    'delete from blocks where owner_id = @ownerId and member_id = @memberId',
  );
  const list = database.prepare<[], Block>(
    `select b.owner_id as ownerId, o.name as ownerName,
       b.member_id as memberId, m.name as memberName, b.created_at as createdAt
     from blocks b join members o on o.id = b.owner_id join members m on m.id = b.member_id
     order by b.created_at, b.owner_id, b.member_id`,
  );
  const people = database.prepare<object, { email: string; owner: string }>(
    `select m.email, o.name as owner from members m, members o
     where m.id = @memberId and o.id = @ownerId`,
  );
  const isBlocked = database.prepare(
    'select 1 from blocks where owner_id = @ownerId and member_id = @memberId',
  );
  const refusalOf = capReader(database, 'blocks where owner_id = @ownerId');
  return {
    blockMember: ({ ownerId, memberId, cap }, now) => {
      if (isBlocked.get({ ownerId, memberId }) !== undefined) return { kind: 'unchanged' };
      const refusal = refusalOf(cap, { ownerId });
      if (refusal !== null) return refusal;
      if (block.run({ ownerId, memberId, now }).changes === 0) return { kind: 'unchanged' };
      const { subject, owner } = about(ownerId, memberId);
      trail.record({ action: 'provider.block', subject, before: null, after: { owner } });
      return { kind: 'changed' };
    },
    unblockMember: (ownerId, memberId) => {
      if (unblock.run({ ownerId, memberId }).changes === 0) return false;
      const { subject, owner } = about(ownerId, memberId);
      trail.record({ action: 'provider.unblock', subject, before: { owner }, after: null });
      return true;
    },
    listBlocks: () => list.all(),
  };

  function about(ownerId: string, memberId: string): { subject: AuditSubject; owner: string } {
    const row = people.get({ ownerId, memberId });
    if (row === undefined) throw new Error(`${ownerId} or ${memberId} is not there`);
    return { subject: { kind: 'user', id: memberId, name: row.email }, owner: row.owner };
  }
}
