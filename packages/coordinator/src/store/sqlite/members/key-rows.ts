import type { Database } from 'better-sqlite3';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import type { ProviderScope } from '../../../core/access/caller.js';
import type { ApiKey, AuditSubject } from '../../port.js';

/** A key with what is needed of its member. */
export interface KeyRow {
  id: string;
  member_id: string;
  member_email: string;
  member_name: string;
  member_disabled_at: number | null;
  rate_limit_requests: number | null;
  max_concurrent: number | null;
  name: string;
  prefix: string;
  hash: string;
  previous_hash: string | null;
  previous_until: number | null;
  scope: ProviderScope;
  assets: AssetsAccess | null;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  disabled_at: number | null;
  revoked_at: number | null;
}

export const SELECT_KEY = `select k.*, m.email as member_email, m.name as member_name,
    m.disabled_at as member_disabled_at, m.rate_limit_requests, m.max_concurrent
  from api_keys k join members m on m.id = k.member_id`;

export function keyFinder(database: Database): (id: string) => KeyRow | undefined {
  const byId = database.prepare<[string], KeyRow>(`${SELECT_KEY} where k.id = ?`);
  return (id) => byId.get(id);
}

/** For a key that must be there. */
export function presentKey(row: KeyRow | undefined): KeyRow {
  if (row === undefined) throw new Error('the key that was just written is not there');
  return row;
}

export function keySubject({ id, member_email, name }: KeyRow): AuditSubject {
  return { kind: 'key', id, name: `${member_email}/${name}` };
}

export function decodeKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    memberId: row.member_id,
    memberEmail: row.member_email,
    name: row.name,
    prefix: row.prefix,
    scope: row.scope,
    assets: row.assets,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    previousUntil: row.previous_until,
    disabledAt: row.disabled_at,
    revokedAt: row.revoked_at,
  };
}
