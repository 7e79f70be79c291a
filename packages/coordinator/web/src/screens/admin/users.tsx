import { useAdmin } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Badge } from '../../ui/figures/badge.js';
import { formatCount } from '../../ui/text/format.js';
import { quotaText } from '../../ui/form/quota-fields.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import { InviteButton } from './new-invite.js';
import { OwnedName } from './owned-name.js';
import type { User } from './user.js';
import { userActions } from './user-actions.js';

export function Users() {
  const list = useUsers();
  return (
    <Listing
      caption="Members"
      what="member"
      list={list}
      columns={COLUMNS}
      nameOf={({ name }) => name}
      wordsOf={({ name, email }) => [name, email]}
      facets={FACETS}
      actionsOf={userActions}
      action={<InviteButton />}
      emptyText="Invite somebody."
    />
  );
}

function useUsers() {
  const users = useAdmin('user.list', {}, LISTS);
  const limits = useAdmin('limit.show', { member: null }, LISTS);
  const sessions = useAdmin('user.sessions', { member: null }, LISTS);
  const refresh = async (): Promise<void> => {
    await Promise.all([users.refresh(), limits.refresh(), sessions.refresh()]);
  };
  const data = users.data?.map((user) => ({
    ...user,
    limits: limits.data?.find(({ id }) => id === user.id),
    sessions: sessions.data?.filter(({ member }) => member === user.name).length ?? 0,
  }));
  return { data, fault: users.fault, refresh };
}

const COLUMNS: readonly Column<User>[] = [
  {
    head: 'Name',
    isName: true,
    below: ({ role }) => role,
    kind: 'grow',
    cell: ({ id, name, email }) => (
      <OwnedName name={name} note={email}>
        {id === currentSession().member.id && <Badge>you</Badge>}
      </OwnedName>
    ),
  },
  {
    head: 'Role',
    ifWide: true,
    cell: ({ role }) => <Badge mood={role === 'admin' ? 'accent' : 'plain'}>{role}</Badge>,
  },
  {
    head: 'State',
    cell: ({ state }) => (
      <Badge dot mood={state === 'active' ? 'good' : 'warn'}>
        {state}
      </Badge>
    ),
  },
  { head: 'Limits', ifWide: true, cell: ({ limits }) => <Limits limits={limits} /> },
  {
    head: 'Browsers',
    ifRoom: true,
    kind: 'number',
    ifWide: true,
    cell: ({ sessions }) => formatCount(sessions),
  },
  { head: 'Joined', ifWide: true, ifRoom: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

const FACETS = [
  {
    name: 'role',
    label: 'Role',
    options: [
      { value: 'member', label: 'Member' },
      { value: 'admin', label: 'Admin' },
    ],
    fits: ({ role }: User, value: string) => role === value,
  },
  {
    name: 'state',
    label: 'State',
    options: [
      { value: 'active', label: 'Active' },
      { value: 'disabled', label: 'Disabled' },
    ],
    fits: ({ state }: User, value: string) => state === value,
  },
];

function Limits({ limits }: Pick<User, 'limits'>) {
  const { requests = null, concurrent = null } = limits ?? {};
  const quota = limits === undefined ? '' : quotaText(limits);
  const parts = [
    ...(requests === null ? [] : [`${formatCount(requests)} a window`]),
    ...(concurrent === null ? [] : [`${formatCount(concurrent)} at once`]),
    ...(quota === '' ? [] : [quota]),
  ];
  if (parts.length === 0) return <span class="soft">default</span>;
  return <>{parts.join(', ')}</>;
}
