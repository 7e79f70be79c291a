import { formatDayHours } from '@inference-gateway/shared/day-hours';
import { ulid } from '@inference-gateway/shared/ids';
import type { ShareCaps, ShareSubject, SharingFacts } from '../../../core/access/sharing.js';
import { writtenRules } from '../../../core/usage/quota.js';
import type { Quota } from '../../../core/usage/quota.js';
import type { Audience, AuditSubject, Block, NewShare, Share } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

type ShareOperations = Pick<
  Operations,
  | 'putShare'
  | 'deleteShare'
  | 'listShares'
  | 'blockMember'
  | 'unblockMember'
  | 'listBlocks'
  | 'sharingFacts'
>;

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

/**
 * The expressions of the unique index, which maps null to '', because null is not equal to itself.
 */
const IS_SAME = `provider_id = @providerId
  and coalesce(service_id, '') = coalesce(@serviceId, '')
  and coalesce(model, '') = coalesce(@model, '')
  and coalesce(network_id, '') = coalesce(@networkId, '')
  and coalesce(member_id, '') = coalesce(@memberId, '')`;

const list = statement<{ providerId: string | null }, Row>(
  `${SELECT} where s.provider_id = @providerId or @providerId is null
   order by s.created_at, s.rowid`,
);
const shareById = statement<{ id: string }, Row>(`${SELECT} where s.id = @id`);
const same = statement<object, CapColumns & { id: string }>(
  `select id, max_slots, max_tokens, hours_from, hours_until, hours_zone, quota
   from shares where ${IS_SAME}`,
);
const insert = statement(
  `insert into shares (id, provider_id, service_id, model, network_id, member_id,
     max_slots, max_tokens, hours_from, hours_until, hours_zone, quota, created_at)
   values (@id, @providerId, @serviceId, @model, @networkId, @memberId,
     @max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone, @quota, @now)`,
);
const update = statement<CapColumns & { id: string }>(
  `update shares set max_slots = @max_slots, max_tokens = @max_tokens,
     hours_from = @hours_from, hours_until = @hours_until, hours_zone = @hours_zone,
     quota = @quota
   where id = @id and (max_slots, max_tokens, hours_from, hours_until, hours_zone, quota)
     is distinct from (@max_slots, @max_tokens, @hours_from, @hours_until, @hours_zone, @quota)`,
);
const capOfProvider = capOn('shares where provider_id = @providerId');
const remove = statement<{ id: string }>('delete from shares where id = @id');

/** Shares, blocks, and the facts that decide who may use what. */
export const shareOperations: ShareOperations = {
  *putShare({ cap, ...share }, now) {
    const { providerId } = share;
    const old = yield* same.get(keyOf(share));
    const refusal = old === undefined ? yield* capOfProvider(cap, { providerId }) : null;
    if (refusal !== null) return refusal;
    const id = old?.id ?? ulid(now);
    const caps = toColumns(share.caps);
    if (old === undefined) yield* insert.run({ ...keyOf(share), ...caps, id, now });
    const isChanged = old === undefined || (yield* update.run({ ...caps, id })) === 1;
    const made = yield* findShare(id);
    if (made === null) throw new Error(`the share ${id} that was just made is not there`);
    if (isChanged) {
      const before = old === undefined ? null : { caps: readable(toCaps(old)) };
      const [subject, after] = [subjectOf(made), describe(made)];
      yield* record({ action: 'provider.share', subject, before, after });
    }
    return { kind: 'shared', value: made };
  },

  *deleteShare(id) {
    const share = yield* findShare(id);
    if (share === null) return false;
    yield* remove.run({ id });
    const [subject, before] = [subjectOf(share), describe(share)];
    yield* record({ action: 'provider.unshare', subject, before, after: null });
    return true;
  },

  *listShares(providerId) {
    return (yield* list.all({ providerId })).map(decode);
  },

  *blockMember({ ownerId, memberId, cap }, now) {
    if ((yield* isBlocked.get({ ownerId, memberId })) !== undefined) return { kind: 'unchanged' };
    const refusal = yield* capOfOwner(cap, { ownerId });
    if (refusal !== null) return refusal;
    if ((yield* block.run({ ownerId, memberId, now })) === 0) return { kind: 'unchanged' };
    const { subject, owner } = yield* namesOf({ ownerId, memberId });
    yield* record({ action: 'provider.block', subject, before: null, after: { owner } });
    return { kind: 'changed' };
  },

  *unblockMember(ownerId, memberId) {
    if ((yield* unblock.run({ ownerId, memberId })) === 0) return false;
    const { subject, owner } = yield* namesOf({ ownerId, memberId });
    yield* record({ action: 'provider.unblock', subject, before: { owner }, after: null });
    return true;
  },

  *listBlocks() {
    return yield* blocks.all({});
  },

  sharingFacts,
};

function* findShare(id: string): Operation<Share | null> {
  const row = yield* shareById.get({ id });
  return row === undefined ? null : decode(row);
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

interface Blocked {
  readonly ownerId: string;
  readonly memberId: string;
}

// Owners cannot block themselves.
const block = statement<Blocked & { now: number }>(
  `insert into blocks (owner_id, member_id, created_at)
   select o.id, m.id, @now from members o, members m
   where o.id = @ownerId and m.id = @memberId and o.id <> m.id
   on conflict do nothing`,
);
const unblock = statement<Blocked>(
  'delete from blocks where owner_id = @ownerId and member_id = @memberId',
);
const blocks = statement<object, Block>(
  `select b.owner_id as "ownerId", o.name as "ownerName",
     b.member_id as "memberId", m.name as "memberName", b.created_at as "createdAt"
   from blocks b join members o on o.id = b.owner_id join members m on m.id = b.member_id
   order by b.created_at, b.owner_id, b.member_id`,
);
const isBlocked = statement<Blocked>(
  'select 1 from blocks where owner_id = @ownerId and member_id = @memberId',
);
const capOfOwner = capOn('blocks where owner_id = @ownerId');
const people = statement<Blocked, { email: string; owner: string }>(
  `select m.email, o.name as owner from members m, members o
   where m.id = @memberId and o.id = @ownerId`,
);

function* namesOf(of: Blocked): Operation<{ subject: AuditSubject; owner: string }> {
  const { ownerId, memberId } = of;
  const row = yield* people.get(of);
  if (row === undefined) throw new Error(`${ownerId} or ${memberId} is not there`);
  return { subject: { kind: 'user', id: memberId, name: row.email }, owner: row.owner };
}

type Fact<Kind extends keyof SharingFacts> = SharingFacts[Kind][number];

interface ShareRow extends ShareSubject, CapColumns {
  readonly id: string;
  readonly providerId: string;
  readonly networkId: string | null;
  readonly memberId: string | null;
}

const providerFacts = statement<object, ProviderRow>(
  `select p.id, p.name, p.owner_id as "ownerId", m.name as "ownerName",
     p.approved_at is not null as approved, p.draining, p.paused
   from providers p join members m on m.id = p.owner_id`,
);
const disabledMembers = valueOf<object, string>(
  'select id from members where disabled_at is not null',
);
const memberships = statement<object, Fact<'memberships'>>(
  'select network_id as "networkId", member_id as "memberId" from network_members',
);
const shareFacts = statement<object, ShareRow>(
  `select id, provider_id as "providerId", service_id as "serviceId", model,
     network_id as "networkId", member_id as "memberId",
     max_slots, max_tokens, hours_from, hours_until, hours_zone, quota
   from shares order by created_at, rowid`,
);
const blockFacts = statement<object, Fact<'blocks'>>(
  'select owner_id as "ownerId", member_id as "memberId" from blocks',
);
const aliasFacts = statement<object, AliasRow>(
  'select member_id as "memberId", name, models from aliases',
);

/**
 * Reads all facts in one consistent state, that of the transaction. Six narrow reads, because a
 * join would repeat each provider for every member of every network: 11 ms on SQLite with 1,000
 * providers and 3,000 shares, including the transfer to the main thread.
 */
function* sharingFacts(): Operation<SharingFacts> {
  return {
    providers: (yield* providerFacts.all({})).map(toProvider),
    disabledMembers: yield* disabledMembers.all({}),
    memberships: yield* memberships.all({}),
    shares: (yield* shareFacts.all({})).map(toShare),
    blocks: yield* blockFacts.all({}),
    aliases: (yield* aliasFacts.all({})).map(toAlias),
  };
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
