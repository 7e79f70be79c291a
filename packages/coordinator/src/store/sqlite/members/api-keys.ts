import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { KeyHolder } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { keyChanges } from './key-changes.js';
import type { KeyChanges } from './key-changes.js';
import { SELECT_KEY, decodeKey, keyFinder, keySubject, presentKey } from './key-rows.js';
import type { KeyRow } from './key-rows.js';
import type { Operations } from '../engine/operations.js';

type ApiKeyOperations = KeyChanges &
  Pick<Operations, 'createKey' | 'listKeys' | 'findKeyHolder' | 'touchKeys'>;

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
    touchKeys: (ids, now) => ids.forEach((id) => touch.run({ id, now })),
    ...keyChanges(database, trail),
  };
}

function creator(database: Database, trail: AuditTrail): Operations['createKey'] {
  const insert = database.prepare<object>(
    `insert into api_keys (id, member_id, name, prefix, hash, scope, assets, created_at, expires_at)
     values (@id, @memberId, @name, @prefix, @hash, @scope, @assets, @now, @expiresAt)
     on conflict (member_id, name) where revoked_at is null do nothing`,
  );
  const find = keyFinder(database);
  return (key, now) => {
    const id = ulid(now);
    const { assets = null } = key;
    if (insert.run({ ...key, assets, id, now }).changes === 0)
      return { kind: 'taken', field: 'name' };
    const row = presentKey(find(id));
    const { prefix, scope, expiresAt } = key;
    const after = { prefix, scope, ...(assets !== null && { assets }), expiresAt };
    trail.record({ action: 'key.create', subject: keySubject(row), before: null, after });
    return { kind: 'created', value: decodeKey(row) };
  };
}

function toHolder(row: KeyRow, hash: string): KeyHolder {
  const limits = { requests: row.rate_limit_requests, concurrent: row.max_concurrent };
  return {
    key: decodeKey(row),
    memberName: row.member_name,
    limits,
    isMemberDisabled: row.member_disabled_at !== null,
    validUntil: row.hash === hash ? row.expires_at : sooner(row.previous_until, row.expires_at),
  };
}

/** Null is never. */
function sooner(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
