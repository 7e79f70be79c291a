import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AuditSubject, Invite, Inviter, InviteRefusal, Role } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import { memberCreator } from './member-rows.js';
import { networkOperations } from '../sharing/networks.js';
import type { Operations } from '../engine/operations.js';

type InviteOperations = Pick<
  Operations,
  'createInvite' | 'listInvites' | 'revokeInvite' | 'acceptInvite'
>;

interface Row {
  id: string;
  email: string;
  role: Role;
  network_id: string | null;
  network_name: string | null;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  revoked_at: number | null;
  inviter_disabled_at: number | null;
}

const SELECT = `select i.id, i.email, i.role, i.network_id, i.created_at, i.expires_at, i.used_at,
    i.revoked_at, n.name as network_name, m.disabled_at as inviter_disabled_at
  from invites i left join networks n on n.id = i.network_id
  left join members m on m.id = i.invited_by`;

/**
 * Only this connection writes, and an operation runs synchronously, so what it reads still holds
 * when it writes.
 */
export function inviteOperations(database: Database, trail: AuditTrail): InviteOperations {
  const list = database.prepare<[], Row>(`${SELECT} order by i.created_at desc, i.rowid desc`);
  return {
    createInvite: creator(database, trail),
    listInvites: () => list.all().map(decode),
    revokeInvite: revoker(database, trail),
    acceptInvite: acceptor(database, trail),
  };
}

function creator(database: Database, trail: AuditTrail): Operations['createInvite'] {
  const emailTaken = database.prepare('select 1 from members where email = ?');
  const openOnes = database
    .prepare<{ email: string; now: number }, string>(
      `select id from invites
       where email = @email and used_at is null and revoked_at is null and expires_at > @now`,
    )
    .pluck();
  const insert = database.prepare<object>(
    `insert into invites (id, hash, email, role, network_id, created_at, expires_at, invited_by)
     values (@id, @hash, @email, @role, @networkId, @now, @expiresAt,
       (select id from members where 'member:' || id = @actor))`,
  );
  const find = inviteFinder(database);
  const revoke = revoker(database, trail);
  const refusalOf = inviterLimits(database);
  return ({ inviter = null, actor, ...invite }, now) => {
    const { email, expiresAt } = invite;
    const refusal = inviter === null ? null : refusalOf(inviter, email, now);
    if (refusal !== null) return refusal;
    if (emailTaken.get(email) !== undefined) return { kind: 'taken', field: 'email' };
    // Only the latest invite of an address is valid.
    for (const earlier of openOnes.all({ email, now })) revoke(earlier, now);
    const id = ulid(now);
    insert.run({ ...invite, id, now, actor });
    const row = find('id', id);
    if (row === undefined) throw new Error(`the invite ${id} that was just made is not there`);
    const after = { role: row.role, network: row.network_name, expiresAt };
    trail.record({ action: 'invite.create', subject: subjectOf(row), before: null, after });
    return { kind: 'created', value: decode(row) };
  };
}

/** The reason why a member may not send one more invite; null if there is none. */
function inviterLimits(database: Database) {
  const open = 'used_at is null and revoked_at is null and expires_at > @now';
  const own = `role = 'member' and coalesce(network_id, '') in
    (select id from networks where owner_id = @memberId)`;
  const ofAnother = database.prepare(
    `select 1 from invites where email = @email and ${open} and not (${own})`,
  );
  const refusalOf = capReader(database, `invites where ${open} and ${own}`);
  return ({ memberId, cap }: Inviter, email: string, now: number) =>
    ofAnother.get({ memberId, email, now }) === undefined
      ? refusalOf(cap, { memberId, now })
      : ({ kind: 'invited' } as const);
}

function revoker(database: Database, trail: AuditTrail): Operations['revokeInvite'] {
  const find = inviteFinder(database);
  const revoke = database.prepare(
    `update invites set revoked_at = @now
     where id = @id and used_at is null and revoked_at is null`,
  );
  return (id, now) => {
    const row = find('id', id);
    if (row === undefined || revoke.run({ id, now }).changes === 0) return false;
    const before = { role: row.role, network: row.network_name };
    trail.record({ action: 'invite.revoke', subject: subjectOf(row), before, after: null });
    return true;
  };
}

function acceptor(database: Database, trail: AuditTrail): Operations['acceptInvite'] {
  const find = inviteFinder(database);
  const createMember = memberCreator(database, trail);
  const { joinNetwork } = networkOperations(database, trail);
  const spend = database.prepare(
    'update invites set used_at = @now, member_id = @memberId where id = @id',
  );
  return ({ hash, name, passwordHash }, now) => {
    const invite = find('hash', hash);
    if (invite === undefined) return { kind: 'refused', reason: 'unknown' };
    const reason = refusalOf(invite, now);
    if (reason !== null) return { kind: 'refused', reason };
    const { id, email, role, network_id: networkId } = invite;
    const created = createMember({ email, name, role, passwordHash }, now);
    if (created.kind === 'taken') return created;
    if (networkId !== null) joinNetwork(networkId, created.value.id, now);
    spend.run({ id, now, memberId: created.value.id });
    const after = { member: created.value.name, network: invite.network_name };
    trail.record({ action: 'invite.accept', subject: subjectOf(invite), before: null, after });
    return created;
  };
}

function inviteFinder(database: Database): (by: 'id' | 'hash', value: string) => Row | undefined {
  const find = {
    id: database.prepare<[string], Row>(`${SELECT} where i.id = ?`),
    hash: database.prepare<[string], Row>(`${SELECT} where i.hash = ?`),
  };
  return (by, value) => find[by].get(value);
}

function refusalOf(invite: Row, now: number): InviteRefusal | null {
  if (invite.used_at !== null) return 'used';
  if (invite.revoked_at !== null) return 'revoked';
  if (invite.inviter_disabled_at !== null) return 'of a disabled member';
  return invite.expires_at <= now ? 'expired' : null;
}

function subjectOf({ id, email }: Row): AuditSubject {
  return { kind: 'invite', id, name: email };
}

function decode(row: Row): Invite {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    networkId: row.network_id,
    networkName: row.network_name,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
    revokedAt: row.revoked_at,
  };
}
