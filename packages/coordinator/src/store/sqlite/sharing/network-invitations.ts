import type { Database } from 'better-sqlite3';
import type { NetworkInvitation } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { membershipNamer, networkOperations } from './networks.js';
import type { Operations } from '../engine/operations.js';

type InvitationOperations = Pick<
  Operations,
  | 'inviteToNetwork'
  | 'listNetworkInvitations'
  | 'answerNetworkInvitation'
  | 'withdrawNetworkInvitation'
>;

const OF = 'network_id = @networkId and member_id = @memberId';
const LIST = `select i.network_id as networkId, n.name as networkName,
    i.member_id as memberId, m.name as memberName,
    i.invited_by as invitedBy, b.name as inviterName, i.created_at as createdAt
  from network_invitations i join networks n on n.id = i.network_id
    join members m on m.id = i.member_id join members b on b.id = i.invited_by`;
const ORDER = 'order by i.created_at, i.network_id, i.member_id';

export function networkInvitationOperations(
  database: Database,
  trail: AuditTrail,
): InvitationOperations {
  const byMember = database.prepare<[string], NetworkInvitation>(
    `${LIST} where i.member_id = ? ${ORDER}`,
  );
  const byNetwork = database.prepare<[string], NetworkInvitation>(
    `${LIST} where i.network_id = ? ${ORDER}`,
  );
  return {
    ...invitationChanges(database, trail),
    listNetworkInvitations: (of) =>
      'memberId' in of ? byMember.all(of.memberId) : byNetwork.all(of.networkId),
  };
}

function invitationChanges(
  database: Database,
  trail: AuditTrail,
): Omit<InvitationOperations, 'listNetworkInvitations'> {
  const insert = database.prepare<object>(
    `insert into network_invitations
     select n.id, m.id, @invitedBy, @now from networks n, members m
     where n.id = @networkId and m.id = @memberId
       and not exists (select 1 from network_members where ${OF})
     on conflict do nothing`,
  );
  const remove = database.prepare<object>(`delete from network_invitations where ${OF}`);
  const about = membershipNamer(database);
  const { joinNetwork } = networkOperations(database, trail);
  return {
    inviteToNetwork: (invitation, now) => {
      if (insert.run({ ...invitation, now }).changes === 0) return false;
      const { subject, member } = about(invitation.networkId, invitation.memberId);
      trail.record({ action: 'network.invite', subject, before: null, after: { member } });
      return true;
    },
    answerNetworkInvitation: ({ networkId, memberId, accepted }, now) => {
      if (remove.run({ networkId, memberId }).changes === 0) return false;
      const { subject, member } = about(networkId, memberId);
      if (accepted) joinNetwork(networkId, memberId, now);
      const action = accepted ? 'network.accept' : 'network.decline';
      trail.record({ action, subject, before: { member }, after: null });
      return true;
    },
    withdrawNetworkInvitation: (networkId, memberId) => {
      if (remove.run({ networkId, memberId }).changes === 0) return false;
      const { subject, member } = about(networkId, memberId);
      trail.record({ action: 'network.uninvite', subject, before: { member }, after: null });
      return true;
    },
  };
}
