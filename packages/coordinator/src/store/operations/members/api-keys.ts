import { ulid } from '@inference-gateway/shared/ids';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import { CONSOLE } from '../../../core/access/caller.js';
import type { ProviderScope } from '../../../core/access/caller.js';
import { changedRules, writtenRules } from '../../../core/usage/quota.js';
import type { KeyRules } from '../../../core/usage/quota.js';
import type { KeyHolder, ApiKey, AuditSubject } from '../../port.js';
import { record, recordChange } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { decodeLimits, memberById } from './member-rows.js';

type ApiKeyOperations = Pick<
  Operations,
  | 'createKey'
  | 'listKeys'
  | 'findKeyHolder'
  | 'findJobKey'
  | 'touchKeys'
  | 'renameKey'
  | 'rotateKey'
  | 'setKeyState'
  | 'setKeyRules'
>;

/** A key, and the fields of its member that are needed. */
interface KeyRow {
  id: string;
  member_id: string;
  member_email: string;
  member_name: string;
  member_disabled_at: number | null;
  rate_limit_requests: number | null;
  max_concurrent: number | null;
  /** Of the member. */
  quota: string | null;
  name: string;
  prefix: string;
  hash: string;
  previous_hash: string | null;
  previous_until: number | null;
  scope: ProviderScope;
  assets: AssetsAccess | null;
  /** JSON: `KeyRules` */
  rules: string | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  disabled_at: number | null;
  revoked_at: number | null;
}

const SELECT_KEY = `select k.id, k.member_id, k.name, k.prefix, k.hash, k.previous_hash,
    k.previous_until, k.scope, k.assets, k.rules, k.created_at, k.last_used_at, k.expires_at,
    k.disabled_at, k.revoked_at, m.email as member_email, m.name as member_name,
    m.disabled_at as member_disabled_at, m.rate_limit_requests, m.max_concurrent,
    m.quota
  from api_keys k join members m on m.id = k.member_id`;

const keyById = statement<{ id: string }, KeyRow>(`${SELECT_KEY} where k.id = @id`);
// Each side of the OR has a unique index of its own, and SQLite uses both.
const keyByHash = statement<{ hash: string }, KeyRow>(
  `${SELECT_KEY} where k.hash = @hash or k.previous_hash = @hash`,
);
const list = statement<{ memberId: string | null }, KeyRow>(
  `${SELECT_KEY} where k.member_id = @memberId or @memberId is null order by k.created_at, k.id`,
);
const insert = statement(
  `insert into api_keys (
     id, member_id, name, prefix, hash, scope, assets, rules, created_at, expires_at)
   values (
     @id, @memberId, @name, @prefix, @hash, @scope, @assets, @rules, @now, @expiresAt)
   on conflict (member_id, name) where revoked_at is null do nothing`,
);
const capOfLive = capOn('api_keys where member_id = @memberId and revoked_at is null');
const touch = statement<{ id: string; now: number }>(
  `update api_keys set last_used_at = case when last_used_at > @now then last_used_at else @now end
   where id = @id`,
);
const rename = statement<{ id: string; name: string; memberId: string }>(
  `update api_keys set name = @name where id = @id and not exists (
     select 1 from api_keys as other where other.member_id = @memberId and other.name = @name
       and other.revoked_at is null and other.id <> @id)`,
);
const rotate = statement(
  `update api_keys set
     prefix = @prefix, hash = @hash,
     previous_hash = @previousHash, previous_until = @previousUntil
   where id = @id`,
);
const setState = {
  disabled: statement(
    'update api_keys set disabled_at = coalesce(disabled_at, @now) where id = @id',
  ),
  enabled: statement('update api_keys set disabled_at = null where id = @id'),
  revoked: statement('update api_keys set revoked_at = @now where id = @id'),
};
const setRules = statement<{ id: string; rules: string | null }>(
  'update api_keys set rules = @rules where id = @id',
);

/** A revoked key is never changed. */
export const apiKeyOperations: ApiKeyOperations = {
  *createKey(key, now) {
    const refusal = yield* capOfLive(key.cap, { memberId: key.memberId });
    if (refusal !== null) return refusal;
    const id = ulid(now);
    const { assets = null } = key;
    const rules = writeRules(key.rules ?? null);
    const written = Object.entries(writtenRules(key.rules ?? null));
    const ruled = Object.fromEntries(written.filter(([, value]) => value !== null));
    if ((yield* insert.run({ ...key, assets, rules, id, now })) === 0) {
      return { kind: 'taken', field: 'name' };
    }
    const row = presentKey(yield* keyById.get({ id }));
    const { prefix, scope, expiresAt } = key;
    const options = { ...(assets !== null && { assets }), ...ruled };
    const after = { prefix, scope, ...options, expiresAt };
    yield* record({ action: 'key.create', subject: keySubject(row), before: null, after });
    return { kind: 'created', value: decodeKey(row) };
  },

  *listKeys(memberId) {
    return (yield* list.all({ memberId })).map(decodeKey);
  },

  *findKeyHolder(hash) {
    const row = yield* keyByHash.get({ hash });
    return row === undefined ? null : toHolder(row, hash);
  },

  *findJobKey(keyId, memberId) {
    if (keyId === CONSOLE) {
      const member = yield* memberById.get({ id: memberId });
      return member === undefined ? null : { key: null, limits: decodeLimits(member) };
    }
    const row = yield* keyById.get({ id: keyId });
    if (row === undefined || row.member_id !== memberId) return null;
    return { key: decodeKey(row), limits: decodeLimits(row) };
  },

  *touchKeys(ids, now) {
    // In one order: transactions that lock the same rows in different orders block each other.
    yield* touch.each(ids.toSorted().map((id) => ({ id, now })));
  },

  *renameKey(id, name) {
    const row = yield* findLive(id);
    if (row === null) return { kind: 'unknown' };
    if ((yield* rename.run({ id, name, memberId: row.member_id })) === 0) {
      return { kind: 'taken', field: 'name' };
    }
    const [before, after] = [{ name: row.name }, { name }];
    yield* recordChange({ action: 'key.rename', subject: keySubject(row), before, after });
    return { kind: 'changed', value: decodeKey({ ...row, name }) };
  },

  *rotateKey(id, rotation, now) {
    const row = yield* findLive(id);
    if (row === null) return null;
    const { prefix, hash } = rotation;
    const overlaps = rotation.previousUntil > now;
    const previousUntil = overlaps ? rotation.previousUntil : null;
    const previousHash = overlaps ? row.hash : null;
    yield* rotate.run({ id, prefix, hash, previousHash, previousUntil });
    const [before, after] = [{ prefix: row.prefix }, { prefix, previousUntil }];
    yield* record({ action: 'key.rotate', subject: keySubject(row), before, after });
    return decodeKey(presentKey(yield* keyById.get({ id })));
  },

  *setKeyState(id, state, now) {
    const row = yield* findLive(id);
    if (row === null) return false;
    yield* setState[state].run({ id, now });
    const { action, field, is } = STATE_CHANGES[state];
    const was = field === 'disabled' && row.disabled_at !== null;
    const [before, after] = [{ [field]: was }, { [field]: is }];
    yield* recordChange({ action, subject: keySubject(row), before, after });
    return true;
  },

  *setKeyRules(id, change) {
    const row = yield* findLive(id);
    if (row === null) return null;
    const changed = changedRules(readRules(row), change);
    const rules = writeRules(changed);
    yield* setRules.run({ id, rules });
    const [before, after] = [writtenRules(readRules(row)), writtenRules(changed)];
    yield* recordChange({ action: 'key.limit', subject: keySubject(row), before, after });
    return decodeKey({ ...row, rules });
  },
};

const STATE_CHANGES = {
  disabled: { action: 'key.disable', field: 'disabled', is: true },
  enabled: { action: 'key.enable', field: 'disabled', is: false },
  revoked: { action: 'key.revoke', field: 'revoked', is: true },
} as const;

/** Null also if it is revoked. */
function* findLive(id: string): Operation<KeyRow | null> {
  const row = yield* keyById.get({ id });
  return row === undefined || row.revoked_at !== null ? null : row;
}

function toHolder(row: KeyRow, hash: string): KeyHolder {
  return {
    key: decodeKey(row),
    memberName: row.member_name,
    limits: decodeLimits(row),
    isMemberDisabled: row.member_disabled_at !== null,
    validUntil: row.hash === hash ? row.expires_at : sooner(row.previous_until, row.expires_at),
  };
}

/** The earlier time; null means never. */
function sooner(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function readRules({ rules }: Pick<KeyRow, 'rules'>): KeyRules | null {
  return JSON.parse(rules ?? 'null') as KeyRules | null;
}

function writeRules(rules: KeyRules | null): string | null {
  return rules === null ? null : JSON.stringify(rules);
}

/** Throws if the key does not exist. */
function presentKey(row: KeyRow | undefined): KeyRow {
  if (row === undefined) throw new Error('the key that was just written is not there');
  return row;
}

function keySubject({ id, member_email, name }: KeyRow): AuditSubject {
  return { kind: 'key', id, name: `${member_email}/${name}` };
}

function decodeKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    memberId: row.member_id,
    memberEmail: row.member_email,
    name: row.name,
    prefix: row.prefix,
    scope: row.scope,
    assets: row.assets,
    rules: readRules(row),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    previousUntil: row.previous_until,
    disabledAt: row.disabled_at,
    revokedAt: row.revoked_at,
  };
}
