import { admin, useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Badge } from '../../ui/figures/badge.js';
import type { Mood } from '../../ui/figures/mood.js';
import { Short } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import { InviteButton } from './new-invite.js';
import type { RowAction } from '../../ui/table/row-menu.js';

type Invite = AdminResult<'user.invites'>[number];

export function Invites() {
  return (
    <Listing
      caption="Invites"
      what="invite"
      list={useAdmin('user.invites', {}, LISTS)}
      columns={COLUMNS}
      nameOf={({ email }) => `the invite for ${email}`}
      wordsOf={({ email, network }) => [email, network]}
      facets={FACETS}
      actionsOf={actionsOf}
      action={<InviteButton />}
      emptyText="An invite link lets one person join, once."
    />
  );
}

const MOODS: Readonly<Record<Invite['state'], Mood>> = {
  open: 'accent',
  used: 'good',
  revoked: 'plain',
  expired: 'warn',
};

const COLUMNS: readonly Column<Invite>[] = [
  {
    head: 'For',
    isName: true,
    kind: 'grow',
    below: ({ role, network, expires_at: at }) => (
      <>
        {role}
        {network !== null && `, ${network}`}, expires <Ago at={at} />
      </>
    ),
    cell: ({ email }) => email,
  },
  { head: 'Role', ifWide: true, cell: ({ role }) => <Badge>{role}</Badge> },
  {
    head: 'Network',
    ifWide: true,
    cell: ({ network }) =>
      network === null ? <span class="soft">none</span> : <Short text={network} />,
  },
  {
    head: 'State',
    cell: ({ state }) => (
      <Badge dot mood={MOODS[state]}>
        {state}
      </Badge>
    ),
  },
  { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
  { head: 'Expires', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
];

const FACETS = [
  {
    name: 'state',
    label: 'State',
    options: [
      { value: 'open', label: 'Open' },
      { value: 'used', label: 'Used' },
      { value: 'revoked', label: 'Revoked' },
      { value: 'expired', label: 'Expired' },
    ],
    fits: ({ state }: Invite, value: string) => state === value,
  },
];

function actionsOf({ id, email, state }: Invite): readonly RowAction[] {
  if (state !== 'open') return [];
  return [
    {
      kind: 'ask',
      text: 'Revoke',
      title: `Revoke the invite for ${email}?`,
      explain: 'Its link stops working. You can create another.',
      async run() {
        await admin('user.uninvite', { invite: id });
        return `The invite for ${email} is revoked.`;
      },
    },
  ];
}
