import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AuditSubject, Created, EnrollRefusal, JoinToken, Provider } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import type { Operations } from '../engine/operations.js';
import { enrolmentRecorder, providerRegistrar } from './register-provider.js';

type JoinTokenOperations = Pick<
  Operations,
  'createJoinToken' | 'listJoinTokens' | 'revokeJoinToken' | 'enroll'
>;

interface Row {
  id: string;
  owner_id: string;
  owner_name: string;
  owner_disabled_at: number | null;
  name: string | null;
  replaces: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
  provider_id: string | null;
}

const SELECT = `select t.id, t.owner_id, t.name, t.replaces, t.created_at, t.expires_at, t.used_at,
    t.revoked_at, t.provider_id, m.name as owner_name, m.disabled_at as owner_disabled_at
  from join_tokens t join members m on m.id = t.owner_id`;

export function joinTokenOperations(database: Database, trail: AuditTrail): JoinTokenOperations {
  const list = database.prepare<[], Row>(`${SELECT} order by t.created_at desc, t.id desc`);
  return {
    createJoinToken: creator(database, trail),
    listJoinTokens: () => list.all().map(decode),
    revokeJoinToken: revoker(database, trail),
    enroll: enroller(database, trail),
  };
}

function creator(database: Database, trail: AuditTrail): Operations['createJoinToken'] {
  // A token must not replace another member's provider.
  const insert = database.prepare<object>(
    `insert into join_tokens (id, hash, owner_id, name, replaces, created_at, expires_at)
     select @id, @hash, @ownerId, @name, @replaces, @now, @expiresAt
     where @replaces is null
       or exists (select 1 from providers where id = @replaces and owner_id = @ownerId)`,
  );
  const find = database.prepare<[string], Row>(`${SELECT} where t.id = ?`);
  const refusalOf = capReader(
    database,
    `join_tokens where owner_id = @ownerId and used_at is null and revoked_at is null
       and expires_at > @now`,
  );
  return (token, now) => {
    const refusal = refusalOf(token.cap, { ownerId: token.ownerId, now });
    if (refusal !== null) return refusal;
    const id = ulid(now);
    insert.run({ ...token, id, now });
    const row = find.get(id);
    if (row === undefined) throw new Error(`the provider ${token.replaces} is not the owner's`);
    const { name, replaces, expiresAt } = token;
    const after = { owner: row.owner_name, name, expiresAt, replaces };
    trail.record({ action: 'token.create', subject: subjectOf(row), before: null, after });
    return { kind: 'created', value: decode(row) };
  };
}

function revoker(database: Database, trail: AuditTrail): Operations['revokeJoinToken'] {
  const find = database.prepare<[string], Row>(`${SELECT} where t.id = ?`);
  const revoke = database.prepare(
    `update join_tokens set revoked_at = @now
     where id = @id and used_at is null and revoked_at is null`,
  );
  return (id, now) => {
    const row = find.get(id);
    if (row === undefined || revoke.run({ id, now }).changes === 0) return false;
    const [subject, before] = [subjectOf(row), { owner: row.owner_name, name: row.name }];
    trail.record({ action: 'token.revoke', subject, before, after: null });
    return true;
  };
}

function enroller(database: Database, trail: AuditTrail): Operations['enroll'] {
  const find = database.prepare<[string], Row>(`${SELECT} where t.hash = ?`);
  const spend = database.prepare(
    'update join_tokens set used_at = ?, provider_id = ? where id = ? and used_at is null',
  );
  const register = providerRegistrar(database);
  const recordEnrolment = enrolmentRecorder(database, trail);
  const giveToken = database.prepare('update providers set token_hash = ? where id = ?');
  return ({ joinTokenHash, tokenHash, name, approved }, now): Created<Provider> | EnrollRefusal => {
    // Only this connection writes, and an operation runs synchronously, so what is read here still
    // holds at the update, which checks it again.
    const token = find.get(joinTokenHash);
    const reason = refusalOf(token, now);
    if (token === undefined || reason !== null) {
      return { kind: 'refused', reason: reason ?? 'unknown' };
    }
    const { owner_id: ownerId, owner_name: ownerName, replaces } = token;
    if (replaces !== null) giveToken.run(tokenHash, replaces);
    const newcomer = { ownerId, ownerName, name: name ?? token.name, tokenHash, approved };
    const id = replaces ?? register(newcomer, now);
    if (id === null) return { kind: 'taken', field: 'name' };
    if (spend.run(now, id, token.id).changes !== 1) {
      throw new Error('the join token was spent while it was being used');
    }
    return { kind: 'created', value: recordEnrolment(id, replaces !== null) };
  };
}

function refusalOf(token: Row | undefined, now: number): EnrollRefusal['reason'] | null {
  if (token === undefined) return 'unknown';
  if (token.used_at !== null) return 'used';
  if (token.revoked_at !== null) return 'revoked';
  if (token.expires_at <= now) return 'expired';
  return token.owner_disabled_at === null ? null : 'of a disabled member';
}

/** `OWNER/NAME`; only the owner if the provider's name is not decided yet. */
function subjectOf({ id, owner_name, name }: Row): AuditSubject {
  return { kind: 'token', id, name: name === null ? owner_name : `${owner_name}/${name}` };
}

function decode(row: Row): JoinToken {
  return {
    id: row.id,
    ownerId: row.owner_id,
    ownerName: row.owner_name,
    name: row.name,
    replaces: row.replaces,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    revokedAt: row.revoked_at,
    providerId: row.provider_id,
  };
}
