import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { ProviderScope } from '../../core/caller.js';
import type { ApiKey, KeyHolder, NewApiKey } from '../port.js';
import type { Operations } from './operations.js';

type ApiKeyOperations = Pick<
  Operations,
  'createKey' | 'listKeys' | 'findKeyHolder' | 'setKeyState' | 'touchKeys'
>;

interface Row {
  id: string;
  member_id: string;
  member_email: string;
  member_name: string;
  rate_limit_requests: number | null;
  max_concurrent: number | null;
  name: string;
  prefix: string;
  scope: ProviderScope;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  disabled_at: number | null;
  revoked_at: number | null;
}

const SELECT = `select k.*, m.email as member_email, m.name as member_name,
    m.rate_limit_requests, m.max_concurrent
  from api_keys k join members m on m.id = k.member_id`;

/** Each is one guarded statement: a revoked key stays revoked, whatever arrives after. */
const STATE_CHANGES = {
  disabled: 'disabled_at = coalesce(disabled_at, @now)',
  enabled: 'disabled_at = null',
  revoked: 'revoked_at = @now',
} as const;

export function apiKeyOperations(database: Database): ApiKeyOperations {
  const insert = database.prepare<unknown[], { id: string }>(
    `insert into api_keys (id, member_id, name, prefix, hash, scope, created_at, expires_at)
     values (?, ?, ?, ?, ?, ?, ?, ?)
     on conflict (member_id, name) where revoked_at is null do nothing returning id`,
  );
  const byId = database.prepare<[string], Row>(`${SELECT} where k.id = ?`);
  const byHash = database.prepare<[string], Row>(`${SELECT} where k.hash = ?`);
  const list = database.prepare<{ memberId: string | null }, Row>(
    `${SELECT} where @memberId is null or k.member_id = @memberId order by k.created_at, k.id`,
  );
  const touch = database.prepare(
    'update api_keys set last_used_at = max(coalesce(last_used_at, 0), @now) where id = @id',
  );
  const change = {
    disabled: prepareChange('disabled'),
    enabled: prepareChange('enabled'),
    revoked: prepareChange('revoked'),
  };
  return {
    createKey: (key, now) => {
      const row = insert.get(...columns(key, now));
      if (row === undefined) return { kind: 'taken', field: 'name' };
      return { kind: 'created', value: decode(present(byId.get(row.id))) };
    },
    listKeys: (memberId) => list.all({ memberId }).map(decode),
    findKeyHolder: (hash) => toHolder(byHash.get(hash)),
    setKeyState: (id, state, now) => change[state].run({ id, now }).changes === 1,
    touchKeys: (ids, now) => ids.forEach((id) => touch.run({ id, now })),
  };

  function prepareChange(state: keyof typeof STATE_CHANGES) {
    return database.prepare(
      `update api_keys set ${STATE_CHANGES[state]} where id = @id and revoked_at is null`,
    );
  }
}

function columns(key: NewApiKey, now: number): unknown[] {
  const { memberId, name, prefix, hash, scope, expiresAt } = key;
  return [ulid(now), memberId, name, prefix, hash, scope, now, expiresAt];
}

function present(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the key that was just written is not there');
  return row;
}

function toHolder(row: Row | undefined): KeyHolder | null {
  if (row === undefined) return null;
  const limits = { requests: row.rate_limit_requests, concurrent: row.max_concurrent };
  return { key: decode(row), memberName: row.member_name, limits };
}

function decode(row: Row): ApiKey {
  return {
    id: row.id,
    memberId: row.member_id,
    memberEmail: row.member_email,
    name: row.name,
    prefix: row.prefix,
    scope: row.scope,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    disabledAt: row.disabled_at,
    revokedAt: row.revoked_at,
  };
}
