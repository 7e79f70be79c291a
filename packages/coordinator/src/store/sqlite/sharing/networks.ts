import { ulid } from '@inference-gateway/shared/ids';
import type { Database } from 'better-sqlite3';
import type { AuditSubject, Changed, Network, NetworkInvitation } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { capReader } from '../engine/cap.js';
import type { Operations } from '../engine/operations.js';

type NetworkChanges = Pick<Operations, 'createNetwork' | 'renameNetwork' | 'deleteNetwork'>;

type MembershipChanges = Pick<Operations, 'joinNetwork' | 'leaveNetwork'>;

type NetworkOperations = NetworkChanges & MembershipChanges & Pick<Operations, 'listNetworks'>;

interface Row {
  id: string;
  name: string;
  owner_id: string;
  owner_name: string;
  created_at: number;
}

const SELECT = `select n.id, n.name, n.owner_id, n.created_at, m.name as owner_name
  from networks n join members m on m.id = n.owner_id`;

export function networkOperations(database: Database, trail: AuditTrail): NetworkOperations {
  const list = database.prepare<[], Row>(`${SELECT} order by n.created_at, n.id`);
  const membersOf = memberLister(database);
  return {
    ...networkChanges(database, trail),
    ...membershipChanges(database, trail),
    listNetworks: () => list.all().map((row) => decode(row, membersOf(row.id))),
  };
}

function networkChanges(database: Database, trail: AuditTrail): NetworkChanges {
  const insert = database.prepare<object>(
    `insert into networks (id, name, owner_id, created_at) values (@id, @name, @ownerId, @now)
     on conflict (name) do nothing`,
  );
  const addOwner = database.prepare(
    `insert into network_members (network_id, member_id, joined_at) values (@id, @ownerId, @now)`,
  );
  const shares = database
    .prepare<[string], number>('select count(*) from shares where network_id = ?')
    .pluck();
  const remove = database.prepare('delete from networks where id = ?');
  const find = networkFinder(database);
  const refusalOf = capReader(database, 'networks where owner_id = @ownerId');
  return {
    createNetwork: ({ name, ownerId, cap }, now) => {
      const refusal = refusalOf(cap, { ownerId });
      if (refusal !== null) return refusal;
      const id = ulid(now);
      if (insert.run({ id, name, ownerId, now }).changes === 0) {
        return { kind: 'taken', field: 'name' };
      }
      addOwner.run({ id, ownerId, now });
      const network = find(id);
      if (network === null) throw new Error(`the network ${id} that was just made is not there`);
      const [subject, after] = [subjectOf(network), { name, owner: network.ownerName }];
      trail.record({ action: 'network.create', subject, before: null, after });
      return { kind: 'created', value: network };
    },
    renameNetwork: renamer(database, trail),
    deleteNetwork: (id) => {
      const network = find(id);
      if (network === null) return false;
      const { name, ownerName: owner, members } = network;
      const names = members.map((member) => member.name);
      const before = { name, owner, members: names, shares: shares.get(id) ?? 0 };
      remove.run(id);
      trail.record({ action: 'network.delete', subject: subjectOf(network), before, after: null });
      return true;
    },
  };
}

function renamer(database: Database, trail: AuditTrail): Operations['renameNetwork'] {
  const find = networkFinder(database);
  const rename = database.prepare(
    `update networks set name = @name where id = @id and not exists
       (select 1 from networks as other where other.name = @name and other.id <> @id)`,
  );
  return (id, name): Changed<Network> => {
    const network = find(id);
    if (network === null) return { kind: 'unknown' };
    if (rename.run({ id, name }).changes === 0) return { kind: 'taken', field: 'name' };
    const [subject, before] = [subjectOf(network), { name: network.name }];
    trail.recordChange({ action: 'network.rename', subject, before, after: { name } });
    return { kind: 'changed', value: { ...network, name } };
  };
}

function membershipChanges(database: Database, trail: AuditTrail): MembershipChanges {
  const join = database.prepare(
    `insert into network_members (network_id, member_id, joined_at)
     select n.id, m.id, @now from networks n, members m where n.id = @networkId and m.id = @memberId
     on conflict do nothing`,
  );
  const answered = database.prepare(
    'delete from network_invitations where network_id = @networkId and member_id = @memberId',
  );
  const leave = database.prepare(
    `delete from network_members where network_id = @networkId and member_id = @memberId
       and member_id <> (select owner_id from networks where id = @networkId)`,
  );
  const about = membershipNamer(database);
  return {
    joinNetwork: (networkId, memberId, now) => {
      if (join.run({ networkId, memberId, now }).changes === 0) return false;
      answered.run({ networkId, memberId });
      const { subject, member } = about(networkId, memberId);
      trail.record({ action: 'network.add', subject, before: null, after: { member } });
      return true;
    },
    leaveNetwork: (networkId, memberId) => {
      if (leave.run({ networkId, memberId }).changes === 0) return false;
      const { subject, member } = about(networkId, memberId);
      trail.record({ action: 'network.remove', subject, before: { member }, after: null });
      return true;
    },
  };
}

/** The names of a network and a member for the audit log. */
function membershipNamer(
  database: Database,
): (networkId: string, memberId: string) => { subject: AuditSubject; member: string } {
  const names = database.prepare<object, { network: string; member: string }>(
    `select n.name as network, m.name as member
     from networks n, members m where n.id = @networkId and m.id = @memberId`,
  );
  return (networkId, memberId) => {
    const row = names.get({ networkId, memberId });
    if (row === undefined) throw new Error(`${networkId} or ${memberId} is not there`);
    return { subject: { kind: 'network', id: networkId, name: row.network }, member: row.member };
  };
}

function networkFinder(database: Database): (id: string) => Network | null {
  const find = database.prepare<[string], Row>(`${SELECT} where n.id = ?`);
  const membersOf = memberLister(database);
  return (id) => {
    const row = find.get(id);
    return row === undefined ? null : decode(row, membersOf(id));
  };
}

function memberLister(database: Database): (networkId: string) => Network['members'] {
  // The owner comes first even if another member has joined in the same millisecond.
  const list = database.prepare<[string], Network['members'][number]>(
    `select m.id, m.name, nm.joined_at as joinedAt
     from network_members nm
     join networks n on n.id = nm.network_id join members m on m.id = nm.member_id
     where nm.network_id = ? order by nm.joined_at, m.id <> n.owner_id, m.id`,
  );
  return (networkId) => list.all(networkId);
}

function subjectOf({ id, name }: Network): AuditSubject {
  return { kind: 'network', id, name };
}

function decode(row: Row, members: Network['members']): Network {
  const { id, name, owner_id: ownerId, owner_name: ownerName, created_at: createdAt } = row;
  return { id, name, ownerId, ownerName, createdAt, members };
}

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
    `insert into network_invitations (network_id, member_id, invited_by, created_at)
     select n.id, m.id, @invitedBy, @now from networks n, members m
     where n.id = @networkId and m.id = @memberId
       and not exists (select 1 from network_members where ${OF})
     on conflict do nothing`,
  );
  const remove = database.prepare<object>(`delete from network_invitations where ${OF}`);
  const about = membershipNamer(database);
  const { joinNetwork } = networkOperations(database, trail);
  const isOpen = database.prepare<object>(`select 1 from network_invitations where ${OF}`);
  const refusalOf = capReader(database, 'network_invitations where network_id = @networkId');
  return {
    inviteToNetwork: ({ cap, ...invitation }, now) => {
      const { networkId, memberId } = invitation;
      if (isOpen.get({ networkId, memberId }) !== undefined) return { kind: 'unchanged' };
      const refusal = refusalOf(cap, { networkId });
      if (refusal !== null) return refusal;
      if (insert.run({ ...invitation, now }).changes === 0) return { kind: 'unchanged' };
      const { subject, member } = about(networkId, memberId);
      trail.record({ action: 'network.invite', subject, before: null, after: { member } });
      return { kind: 'changed' };
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
