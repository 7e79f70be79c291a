import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import { CONSOLE } from '../../../core/access/caller.js';
import type { ProviderScope } from '../../../core/access/caller.js';
import { changedRules, writtenRules } from '../../../core/usage/quota.js';
import type { KeyRules } from '../../../core/usage/quota.js';
import type { KeyHolder, ApiKey, AuditSubject } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import type { Operations } from '../engine/operations.js';
import { decodeLimits, MEMBER_COLUMNS } from './member-rows.js';
import type { MemberRow } from './member-rows.js';

type ApiKeyOperations = KeyChanges &
  Pick<Operations, 'createKey' | 'listKeys' | 'findKeyHolder' | 'findJobKey' | 'touchKeys'>;

export function apiKeyOperations(database: Database, trail: AuditTrail): ApiKeyOperations {
  // Each side of the OR has a unique index of its own, and SQLite uses both.
  const byHash = database.prepare<{ hash: string }, KeyRow>(
    `${SELECT_KEY} where k.hash = @hash or k.previous_hash = @hash`,
  );
  const list = database.prepare<{ memberId: string | null }, KeyRow>(
    `${SELECT_KEY} where @memberId is null or k.member_id = @memberId order by k.created_at, k.id`,
  );
  const touch = database.prepare(
    'update api_keys set last_used_at = max(coalesce(last_used_at, 0), @now) where id = @id',
  );
  return {
    createKey: creator(database, trail),
    listKeys: (memberId) => list.all({ memberId }).map(decodeKey),
    findKeyHolder: (hash) => {
      const row = byHash.get({ hash });
      return row === undefined ? null : toHolder(row, hash);
    },
    findJobKey: jobKeyFinder(database),
    touchKeys: (ids, now) => ids.forEach((id) => touch.run({ id, now })),
    ...keyChanges(database, trail),
  };
}

function creator(database: Database, trail: AuditTrail): Operations['createKey'] {
  const insert = database.prepare<object>(
    `insert into api_keys (
       id, member_id, name, prefix, hash, scope, assets, rules, created_at, expires_at)
     values (
       @id, @memberId, @name, @prefix, @hash, @scope, @assets, @rules, @now, @expiresAt)
     on conflict (member_id, name) where revoked_at is null do nothing`,
  );
  const find = keyFinder(database);
  const refusalOf = capReader(
    database,
    'api_keys where member_id = @memberId and revoked_at is null',
  );
  return (key, now) => {
    const refusal = refusalOf(key.cap, { memberId: key.memberId });
    if (refusal !== null) return refusal;
    const id = ulid(now);
    const { assets = null } = key;
    const rules = writeRules(key.rules ?? null);
    const written = Object.entries(writtenRules(key.rules ?? null));
    const ruled = Object.fromEntries(written.filter(([, value]) => value !== null));
    if (insert.run({ ...key, assets, rules, id, now }).changes === 0)
      return { kind: 'taken', field: 'name' };
    const row = presentKey(find(id));
    const { prefix, scope, expiresAt } = key;
    const options = { ...(assets !== null && { assets }), ...ruled };
    const after = { prefix, scope, ...options, expiresAt };
    trail.record({ action: 'key.create', subject: keySubject(row), before: null, after });
    return { kind: 'created', value: decodeKey(row) };
  };
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

function jobKeyFinder(database: Database): Operations['findJobKey'] {
  const find = keyFinder(database);
  const findMember = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  return (keyId, memberId) => {
    if (keyId === CONSOLE) {
      const member = findMember.get(memberId);
      return member === undefined ? null : { key: null, limits: decodeLimits(member) };
    }
    const row = find(keyId);
    if (row === undefined || row.member_id !== memberId) return null;
    return { key: decodeKey(row), limits: decodeLimits(row) };
  };
}

type KeyChanges = Pick<Operations, 'renameKey' | 'rotateKey' | 'setKeyState' | 'setKeyRules'>;

/**
 * Changes of an existing key; a revoked key is never changed. Only this connection writes, and an
 * operation runs synchronously, so the key that is read is the one that is changed.
 */
function keyChanges(database: Database, trail: AuditTrail): KeyChanges {
  const find = keyFinder(database);
  const live = (id: string): KeyRow | null => {
    const row = find(id);
    return row === undefined || row.revoked_at !== null ? null : row;
  };
  return {
    renameKey: renamer(database, trail, live),
    rotateKey: rotator(database, trail, live),
    setKeyState: stateSetter(database, trail, live),
    setKeyRules: ruleSetter(database, trail, live),
  };
}

type FindLive = (id: string) => KeyRow | null;

function renamer(database: Database, trail: AuditTrail, find: FindLive): Operations['renameKey'] {
  const rename = database.prepare(
    `update api_keys set name = @name where id = @id and not exists (
       select 1 from api_keys as other where other.member_id = @memberId and other.name = @name
         and other.revoked_at is null and other.id <> @id)`,
  );
  return (id, name) => {
    const row = find(id);
    if (row === null) return { kind: 'unknown' };
    if (rename.run({ id, name, memberId: row.member_id }).changes === 0) {
      return { kind: 'taken', field: 'name' };
    }
    const [before, after] = [{ name: row.name }, { name }];
    trail.recordChange({ action: 'key.rename', subject: keySubject(row), before, after });
    return { kind: 'changed', value: decodeKey({ ...row, name }) };
  };
}

function rotator(database: Database, trail: AuditTrail, find: FindLive): Operations['rotateKey'] {
  const rotate = database.prepare<object>(
    `update api_keys set
       prefix = @prefix, hash = @hash,
       previous_hash = @previousHash, previous_until = @previousUntil
     where id = @id`,
  );
  const reread = keyFinder(database);
  return (id, rotation, now) => {
    const row = find(id);
    if (row === null) return null;
    const { prefix, hash } = rotation;
    const overlaps = rotation.previousUntil > now;
    const previousUntil = overlaps ? rotation.previousUntil : null;
    rotate.run({ id, prefix, hash, previousHash: overlaps ? row.hash : null, previousUntil });
    const [before, after] = [{ prefix: row.prefix }, { prefix, previousUntil }];
    trail.record({ action: 'key.rotate', subject: keySubject(row), before, after });
    return decodeKey(presentKey(reread(id)));
  };
}

const STATE_CHANGES = {
  disabled: { action: 'key.disable', field: 'disabled', is: true },
  enabled: { action: 'key.enable', field: 'disabled', is: false },
  revoked: { action: 'key.revoke', field: 'revoked', is: true },
} as const;

function stateSetter(
  database: Database,
  trail: AuditTrail,
  find: FindLive,
): Operations['setKeyState'] {
  const set = {
    disabled: database.prepare(
      'update api_keys set disabled_at = coalesce(disabled_at, @now) where id = @id',
    ),
    enabled: database.prepare('update api_keys set disabled_at = null where id = @id'),
    revoked: database.prepare('update api_keys set revoked_at = @now where id = @id'),
  };
  return (id, state, now) => {
    const row = find(id);
    if (row === null) return false;
    set[state].run(state === 'enabled' ? { id } : { id, now });
    const { action, field, is } = STATE_CHANGES[state];
    const was = field === 'disabled' && row.disabled_at !== null;
    const [before, after] = [{ [field]: was }, { [field]: is }];
    trail.recordChange({ action, subject: keySubject(row), before, after });
    return true;
  };
}

function ruleSetter(
  database: Database,
  trail: AuditTrail,
  find: FindLive,
): Operations['setKeyRules'] {
  const set = database.prepare<object>('update api_keys set rules = @rules where id = @id');
  return (id, change) => {
    const row = find(id);
    if (row === null) return null;
    const changed = changedRules(readRules(row), change);
    const rules = writeRules(changed);
    set.run({ id, rules });
    const [before, after] = [writtenRules(readRules(row)), writtenRules(changed)];
    trail.recordChange({ action: 'key.limit', subject: keySubject(row), before, after });
    return decodeKey({ ...row, rules });
  };
}

function readRules({ rules }: Pick<KeyRow, 'rules'>): KeyRules | null {
  return JSON.parse(rules ?? 'null') as KeyRules | null;
}

function writeRules(rules: KeyRules | null): string | null {
  return rules === null ? null : JSON.stringify(rules);
}

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

function keyFinder(database: Database): (id: string) => KeyRow | undefined {
  const byId = database.prepare<[string], KeyRow>(`${SELECT_KEY} where k.id = ?`);
  return (id) => byId.get(id);
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
