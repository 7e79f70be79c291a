import { ulid } from '@inference-gateway/shared/ids';
import type { AuditSubject, EnrollRefusal, JoinToken } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import { recordEnrolment, registerProvider } from './register-provider.js';

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

const list = statement<object, Row>(`${SELECT} order by t.created_at desc, t.id desc`);
// A token must not replace another member's provider.
const insert = statement(
  `insert into join_tokens (id, hash, owner_id, name, replaces, created_at, expires_at)
   select @id, @hash, cast(@ownerId as text), @name, cast(@replaces as text), @now,
     @expiresAt
   where exists (select 1 from providers where id = @replaces and owner_id = @ownerId)
     or @replaces is null`,
);
const find = statement<{ id: string }, Row>(`${SELECT} where t.id = @id`);
const fullOf = capOn(
  `join_tokens where owner_id = @ownerId and used_at is null and revoked_at is null
     and expires_at > @now`,
);
const revoke = statement<{ id: string; now: number }>(
  `update join_tokens set revoked_at = @now
   where id = @id and used_at is null and revoked_at is null`,
);
const findByHash = statement<{ hash: string }, Row>(`${SELECT} where t.hash = @hash`);
const spend = statement<{ id: string; now: number; providerId: string }>(
  `update join_tokens set used_at = @now, provider_id = @providerId
   where id = @id and used_at is null`,
);
const giveToken = statement<{ id: string; tokenHash: string }>(
  'update providers set token_hash = @tokenHash where id = @id',
);

export const joinTokenOperations: JoinTokenOperations = {
  *createJoinToken(token, now) {
    const refusal = yield* fullOf(token.cap, { ownerId: token.ownerId, now });
    if (refusal !== null) return refusal;
    const id = ulid(now);
    yield* insert.run({ ...token, id, now });
    const row = yield* find.get({ id });
    if (row === undefined) throw new Error(`the provider ${token.replaces} is not the owner's`);
    const { name, replaces, expiresAt } = token;
    const after = { owner: row.owner_name, name, expiresAt, replaces };
    yield* record({ action: 'token.create', subject: subjectOf(row), before: null, after });
    return { kind: 'created', value: decode(row) };
  },

  *listJoinTokens() {
    return (yield* list.all({})).map(decode);
  },

  *revokeJoinToken(id, now) {
    const row = yield* find.get({ id });
    if (row === undefined || (yield* revoke.run({ id, now })) === 0) return false;
    const [subject, before] = [subjectOf(row), { owner: row.owner_name, name: row.name }];
    yield* record({ action: 'token.revoke', subject, before, after: null });
    return true;
  },

  *enroll({ joinTokenHash, tokenHash, name, approved }, now) {
    const token = yield* findByHash.get({ hash: joinTokenHash });
    const reason = refusalOf(token, now);
    if (token === undefined || reason !== null) {
      return { kind: 'refused', reason: reason ?? 'unknown' };
    }
    const { owner_id: ownerId, owner_name: ownerName, replaces } = token;
    if (replaces !== null) yield* giveToken.run({ id: replaces, tokenHash });
    const newcomer = { ownerId, ownerName, name: name ?? token.name, tokenHash, approved };
    const id = replaces ?? (yield* registerProvider(newcomer, now));
    if (id === null) return { kind: 'taken', field: 'name' };
    if ((yield* spend.run({ id: token.id, now, providerId: id })) !== 1) {
      throw new Error('the join token was spent while it was being used');
    }
    return { kind: 'created', value: yield* recordEnrolment(id, replaces !== null) };
  },
};

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
