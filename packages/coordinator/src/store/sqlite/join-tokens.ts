import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { EnrollRefusal, NewProvider } from '../port.js';
import type { Operations } from './operations.js';
import { findProvider, freeName } from './providers.js';

type JoinTokenOperations = Pick<Operations, 'createJoinToken' | 'enroll'>;

interface Row {
  owner_id: string;
  owner_name: string;
  name: string | null;
  expires_at: number;
  used_at: number | null;
}

export function joinTokenOperations(database: Database): JoinTokenOperations {
  const insert = database.prepare(
    `insert into join_tokens (hash, owner_id, name, created_at, expires_at)
     values (?, ?, ?, ?, ?)`,
  );
  const find = database.prepare<[string], Row>(
    `select t.*, m.name as owner_name from join_tokens t join members m on m.id = t.owner_id
     where t.hash = ?`,
  );
  const register = database.prepare<unknown[], { id: string }>(
    `insert into providers (id, owner_id, name, token_hash, created_at)
     values (?, ?, ?, ?, ?) on conflict (owner_id, name) do nothing returning id`,
  );
  const spend = database.prepare(
    'update join_tokens set used_at = ?, provider_id = ? where hash = ? and used_at is null',
  );
  return {
    createJoinToken: ({ hash, ownerId, name, expiresAt }, now) =>
      void insert.run(hash, ownerId, name, now, expiresAt),
    enroll: (provider, now) => {
      // Only this connection writes, and an operation runs without a pause: what is read here still
      // holds at the update, which checks it again.
      const token = find.get(provider.joinTokenHash);
      const reason = refusalOf(token, now);
      if (token === undefined || reason !== null) {
        return { kind: 'refused', reason: reason ?? 'unknown' };
      }
      return registerWith(token, provider, now);
    },
  };

  function registerWith(token: Row, { name, tokenHash, joinTokenHash }: NewProvider, now: number) {
    const wanted = name ?? token.name ?? freeName(database, token);
    const row = register.get(ulid(now), token.owner_id, wanted, tokenHash, now);
    if (row === undefined) return { kind: 'taken', field: 'name' } as const;
    if (spend.run(now, row.id, joinTokenHash).changes !== 1) {
      throw new Error('the join token was spent while it was being used');
    }
    return { kind: 'created', value: findProvider(database, row.id) } as const;
  }
}

function refusalOf(token: Row | undefined, now: number): EnrollRefusal['reason'] | null {
  if (token === undefined) return 'unknown';
  if (token.used_at !== null) return 'used';
  return token.expires_at <= now ? 'expired' : null;
}
