import { ulid } from '@inference-gateway/shared/ids';
import type { AuditSubject, Network, NetworkInvitation } from '../../port.js';
import { record, recordChange } from '../audit/audit-trail.js';
import { capOn } from '../cap.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

type NetworkOperations = Pick<
  Operations,
  | 'createNetwork'
  | 'renameNetwork'
  | 'deleteNetwork'
  | 'listNetworks'
  | 'joinNetwork'
  | 'leaveNetwork'
>;

interface Row {
  id: string;
  name: string;
  owner_id: string;
  owner_name: string;
  created_at: number;
}

const SELECT = `select n.id, n.name, n.owner_id, n.created_at, m.name as owner_name
  from networks n join members m on m.id = n.owner_id`;

interface Membership {
  readonly networkId: string;
  readonly memberId: string;
}

const list = statement<object, Row>(`${SELECT} order by n.created_at, n.id`);
const insert = statement(
  `insert into networks (id, name, owner_id, created_at) values (@id, @name, @ownerId, @now)
   on conflict (name) do nothing`,
);
const addOwner = statement(
  `insert into network_members (network_id, member_id, joined_at) values (@id, @ownerId, @now)`,
);
const capOfOwner = capOn('networks where owner_id = @ownerId');
const rename = statement<{ id: string; name: string }>(
  `update networks set name = @name where id = @id and not exists
     (select 1 from networks as other where other.name = @name and other.id <> @id)`,
);
const countShares = valueOf<{ id: string }, number>(
  'select count(*) from shares where network_id = @id',
);
const remove = statement<{ id: string }>('delete from networks where id = @id');
const join = statement<Membership & { now: number }>(
  `insert into network_members (network_id, member_id, joined_at)
   select n.id, m.id, @now from networks n, members m where n.id = @networkId and m.id = @memberId
   on conflict do nothing`,
);
const leave = statement<Membership>(
  `delete from network_members where network_id = @networkId and member_id = @memberId
     and member_id <> (select owner_id from networks where id = @networkId)`,
);

export const networkOperations: NetworkOperations = {
  *createNetwork({ name, ownerId, cap }, now) {
    const refusal = yield* capOfOwner(cap, { ownerId });
    if (refusal !== null) return refusal;
    const id = ulid(now);
    if ((yield* insert.run({ id, name, ownerId, now })) === 0) {
      return { kind: 'taken', field: 'name' };
    }
    yield* addOwner.run({ id, ownerId, now });
    const network = yield* findNetwork(id);
    if (network === null) throw new Error(`the network ${id} that was just made is not there`);
    const [subject, after] = [subjectOf(network), { name, owner: network.ownerName }];
    yield* record({ action: 'network.create', subject, before: null, after });
    return { kind: 'created', value: network };
  },

  *renameNetwork(id, name) {
    const network = yield* findNetwork(id);
    if (network === null) return { kind: 'unknown' };
    if ((yield* rename.run({ id, name })) === 0) return { kind: 'taken', field: 'name' };
    const [subject, before] = [subjectOf(network), { name: network.name }];
    yield* recordChange({ action: 'network.rename', subject, before, after: { name } });
    return { kind: 'changed', value: { ...network, name } };
  },

  *deleteNetwork(id) {
    const network = yield* findNetwork(id);
    if (network === null) return false;
    const { name, ownerName: owner, members } = network;
    const names = members.map((member) => member.name);
    const shares = (yield* countShares.get({ id })) ?? 0;
    const before = { name, owner, members: names, shares };
    yield* remove.run({ id });
    yield* record({ action: 'network.delete', subject: subjectOf(network), before, after: null });
    return true;
  },

  *listNetworks() {
    const networks: Network[] = [];
    for (const row of yield* list.all({})) {
      networks.push(decode(row, yield* membersOf.all({ id: row.id })));
    }
    return networks;
  },

  *joinNetwork(networkId, memberId, now) {
    if ((yield* join.run({ networkId, memberId, now })) === 0) return false;
    yield* endInvitation.run({ networkId, memberId });
    const { subject, member } = yield* namesOf({ networkId, memberId });
    yield* record({ action: 'network.add', subject, before: null, after: { member } });
    return true;
  },

  *leaveNetwork(networkId, memberId) {
    if ((yield* leave.run({ networkId, memberId })) === 0) return false;
    const { subject, member } = yield* namesOf({ networkId, memberId });
    yield* record({ action: 'network.remove', subject, before: { member }, after: null });
    return true;
  },
};

const names = statement<Membership, { network: string; member: string }>(
  `select n.name as network, m.name as member
   from networks n, members m where n.id = @networkId and m.id = @memberId`,
);

/** The names of a network and a member for the audit log. */
function* namesOf(of: Membership): Operation<{ subject: AuditSubject; member: string }> {
  const { networkId, memberId } = of;
  const row = yield* names.get(of);
  if (row === undefined) throw new Error(`${networkId} or ${memberId} is not there`);
  return { subject: { kind: 'network', id: networkId, name: row.network }, member: row.member };
}

const networkById = statement<{ id: string }, Row>(`${SELECT} where n.id = @id`);
// The owner comes first even if another member has joined in the same millisecond.
const membersOf = statement<{ id: string }, Network['members'][number]>(
  `select m.id, m.name, nm.joined_at as "joinedAt"
   from network_members nm
   join networks n on n.id = nm.network_id join members m on m.id = nm.member_id
   where nm.network_id = @id order by nm.joined_at, m.id <> n.owner_id, m.id`,
);

function* findNetwork(id: string): Operation<Network | null> {
  const row = yield* networkById.get({ id });
  return row === undefined ? null : decode(row, yield* membersOf.all({ id }));
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

const LIST = `select i.network_id as "networkId", n.name as "networkName",
    i.member_id as "memberId", m.name as "memberName",
    i.invited_by as "invitedBy", b.name as "inviterName", i.created_at as "createdAt"
  from network_invitations i join networks n on n.id = i.network_id
    join members m on m.id = i.member_id join members b on b.id = i.invited_by`;

const ORDER = 'order by i.created_at, i.network_id, i.member_id';

const byMember = statement<{ memberId: string }, NetworkInvitation>(
  `${LIST} where i.member_id = @memberId ${ORDER}`,
);
const byNetwork = statement<{ networkId: string }, NetworkInvitation>(
  `${LIST} where i.network_id = @networkId ${ORDER}`,
);
const isOpen = statement<Membership>(`select 1 from network_invitations where ${OF}`);
const capOfNetwork = capOn('network_invitations where network_id = @networkId');
const insertInvitation = statement(
  `insert into network_invitations (network_id, member_id, invited_by, created_at)
   select n.id, m.id, @invitedBy, @now from networks n, members m
   where n.id = @networkId and m.id = @memberId
     and not exists (select 1 from network_members where ${OF})
   on conflict do nothing`,
);
const endInvitation = statement<Membership>(`delete from network_invitations where ${OF}`);

export const networkInvitationOperations: InvitationOperations = {
  *inviteToNetwork({ cap, ...invitation }, now) {
    const { networkId, memberId } = invitation;
    if ((yield* isOpen.get({ networkId, memberId })) !== undefined) return { kind: 'unchanged' };
    const refusal = yield* capOfNetwork(cap, { networkId });
    if (refusal !== null) return refusal;
    if ((yield* insertInvitation.run({ ...invitation, now })) === 0) return { kind: 'unchanged' };
    const { subject, member } = yield* namesOf({ networkId, memberId });
    yield* record({ action: 'network.invite', subject, before: null, after: { member } });
    return { kind: 'changed' };
  },

  *listNetworkInvitations(of) {
    return yield* 'memberId' in of ? byMember.all(of) : byNetwork.all(of);
  },

  *answerNetworkInvitation({ networkId, memberId, accepted }, now) {
    if ((yield* endInvitation.run({ networkId, memberId })) === 0) return false;
    const { subject, member } = yield* namesOf({ networkId, memberId });
    if (accepted) yield* networkOperations.joinNetwork(networkId, memberId, now);
    const action = accepted ? 'network.accept' : 'network.decline';
    yield* record({ action, subject, before: { member }, after: null });
    return true;
  },

  *withdrawNetworkInvitation(networkId, memberId) {
    if ((yield* endInvitation.run({ networkId, memberId })) === 0) return false;
    const { subject, member } = yield* namesOf({ networkId, memberId });
    yield* record({ action: 'network.uninvite', subject, before: { member }, after: null });
    return true;
  },
};
