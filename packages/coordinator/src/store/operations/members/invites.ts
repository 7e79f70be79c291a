import { ulid } from '@inference-gateway/shared/ids';
import type { AuditSubject, CapReached, Invite, Inviter, InviteRefusal, Role } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { networkOperations } from '../sharing/networks.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { createMember, memberOfEmail } from './member-rows.js';

type InviteOperations = Pick<
  Operations,
  'createInvite' | 'listInvites' | 'findInvite' | 'revokeInvite' | 'acceptInvite'
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
  inviter_name: string | null;
  inviter_disabled_at: number | null;
}

const SELECT = `select i.id, i.email, i.role, i.network_id, i.created_at, i.expires_at, i.used_at,
    i.revoked_at, n.name as network_name, m.name as inviter_name,
    m.disabled_at as inviter_disabled_at
  from invites i left join networks n on n.id = i.network_id
  left join members m on m.id = i.invited_by`;

const list = statement<object, Row>(`${SELECT} order by i.created_at desc, i.rowid desc`);
const inviteById = statement<{ id: string }, Row>(`${SELECT} where i.id = @id`);
const inviteByHash = statement<{ hash: string }, Row>(`${SELECT} where i.hash = @hash`);
const openOnes = valueOf<{ email: string; now: number }, string>(
  `select id from invites
   where email = @email and used_at is null and revoked_at is null and expires_at > @now`,
);
const insert = statement(
  `insert into invites (id, hash, email, role, network_id, created_at, expires_at, invited_by)
   values (@id, @hash, @email, @role, @networkId, @now, @expiresAt,
     (select id from members where 'member:' || id = @actor))`,
);
const revoke = statement<{ id: string; now: number }>(
  `update invites set revoked_at = @now
   where id = @id and used_at is null and revoked_at is null`,
);
const spend = statement<{ id: string; now: number; memberId: string }>(
  'update invites set used_at = @now, member_id = @memberId where id = @id',
);

export const inviteOperations: InviteOperations = {
  *createInvite({ inviter = null, actor, ...invite }, now) {
    const { email, expiresAt } = invite;
    const refusal = inviter === null ? null : yield* limitOf(inviter, email, now);
    if (refusal !== null) return refusal;
    if ((yield* memberOfEmail.get({ email })) !== undefined) {
      return { kind: 'taken', field: 'email' };
    }
    // Only the latest invite of an address is valid.
    for (const earlier of yield* openOnes.all({ email, now })) {
      yield* inviteOperations.revokeInvite(earlier, now);
    }
    const id = ulid(now);
    yield* insert.run({ ...invite, id, now, actor });
    const row = yield* inviteById.get({ id });
    if (row === undefined) throw new Error(`the invite ${id} that was just made is not there`);
    const after = { role: row.role, network: row.network_name, expiresAt };
    yield* record({ action: 'invite.create', subject: subjectOf(row), before: null, after });
    return { kind: 'created', value: decode(row) };
  },

  *listInvites() {
    return (yield* list.all({})).map(decode);
  },

  *findInvite(hash, now) {
    const row = yield* inviteByHash.get({ hash });
    if (row === undefined || refusalOf(row, now) !== null) return null;
    const { inviter_name: inviterName, network_name: networkName, expires_at: expiresAt } = row;
    return { inviterName, networkName, expiresAt };
  },

  *revokeInvite(id, now) {
    const row = yield* inviteById.get({ id });
    if (row === undefined || (yield* revoke.run({ id, now })) === 0) return false;
    const before = { role: row.role, network: row.network_name };
    yield* record({ action: 'invite.revoke', subject: subjectOf(row), before, after: null });
    return true;
  },

  *acceptInvite({ hash, name, passwordHash }, now) {
    const invite = yield* inviteByHash.get({ hash });
    if (invite === undefined) return { kind: 'refused', reason: 'unknown' };
    const reason = refusalOf(invite, now);
    if (reason !== null) return { kind: 'refused', reason };
    const { id, email, role, network_id: networkId } = invite;
    const created = yield* createMember({ email, name, role, passwordHash }, now);
    if (created.kind === 'taken') return created;
    const memberId = created.value.id;
    if (networkId !== null) yield* networkOperations.joinNetwork(networkId, memberId, now);
    yield* spend.run({ id, now, memberId });
    const after = { member: created.value.name, network: invite.network_name };
    yield* record({ action: 'invite.accept', subject: subjectOf(invite), before: null, after });
    return created;
  },
};

const OPEN = 'used_at is null and revoked_at is null and expires_at > @now';
const OWN = `role = 'member' and coalesce(network_id, '') in
  (select id from networks where owner_id = @memberId)`;
const ofAnother = statement<{ memberId: string; email: string; now: number }>(
  `select 1 from invites where email = @email and ${OPEN} and not (${OWN})`,
);
const capOfOpen = capOn(`invites where ${OPEN} and ${OWN}`);

/** The reason why a member may not send one more invite; null if there is none. */
function* limitOf(
  { memberId, cap }: Inviter,
  email: string,
  now: number,
): Operation<CapReached | { readonly kind: 'invited' } | null> {
  const another = yield* ofAnother.get({ memberId, email, now });
  return another === undefined ? yield* capOfOpen(cap, { memberId, now }) : { kind: 'invited' };
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
