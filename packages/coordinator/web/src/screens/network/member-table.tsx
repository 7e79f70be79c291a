import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { InvitedMenu } from './invited-menu.js';
import { MemberMenu } from './member-menu.js';
import { useBlocks } from './networks.js';
import type { Invited, Member, NetworkDetail } from './networks.js';

interface MemberTableProps {
  readonly network: NetworkDetail;
  readonly onChange: () => Promise<void>;
}

/** Whoever is invited stands below those who are in it. */
type Row = Member | Invited;

/** The rest is a press away. */
const ROWS = 10;

export function MemberTable({ network, onChange }: MemberTableProps) {
  const blocks = useBlocks();
  const [isWhole, setWhole] = useState(false);
  const blocked = new Set(blocks.data?.map(({ id }) => id));
  const rows: readonly Row[] = [...network.members, ...network.invited];
  const columns: readonly Column<Row>[] = [
    {
      head: 'Member',
      isName: true,
      kind: 'grow',
      cell: ({ id, name }) => <Name id={id} name={name} isBlocked={blocked.has(id)} />,
    },
    {
      head: 'Role',
      cell: (row) => <Role row={row} isOwner={row.id === network.owner_id} />,
    },
    {
      head: 'Joined',
      ifWide: true,
      cell: (row) =>
        isMember(row) ? <Ago at={row.joined_at} /> : <span class="soft">not yet</span>,
    },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (row) =>
        isMember(row) ? (
          <MemberMenu
            member={row}
            network={network}
            isBlocked={blocked.has(row.id)}
            onChange={onChange}
            onBlock={() => blocks.refresh()}
          />
        ) : (
          <InvitedMenu invited={row} network={network} onChange={onChange} />
        ),
    },
  ];
  return (
    <>
      <Table
        caption={`Members of ${network.name}`}
        columns={columns}
        rows={isWhole ? rows : rows.slice(0, ROWS)}
        rowKey={({ id }) => id}
      />
      {rows.length > ROWS && (
        <p class="list-foot">
          <Button small onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : `Show all ${rows.length}`}
          </Button>
        </p>
      )}
    </>
  );
}

function isMember(row: Row): row is Member {
  return 'joined_at' in row;
}

function Role({ row, isOwner }: { readonly row: Row; readonly isOwner: boolean }) {
  if (!isMember(row)) {
    return <Badge title="Has not answered yet">invited</Badge>;
  }
  return isOwner ? <>owner</> : <span class="soft">member</span>;
}

interface NameProps {
  readonly id: string;
  readonly name: string;
  readonly isBlocked: boolean;
}

function Name({ id, name, isBlocked }: NameProps) {
  return (
    <span class="row">
      {name}
      {id === currentSession().member.id && <Badge>you</Badge>}
      {isBlocked && (
        <Badge mood="bad" title="Gets nothing of what you share">
          blocked
        </Badge>
      )}
    </span>
  );
}
