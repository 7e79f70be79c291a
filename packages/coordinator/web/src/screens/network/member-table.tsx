import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { toast } from '../../ui/dialog/toasts.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Menu } from '../../ui/button/menu.js';
import { useBlocks } from './networks.js';
import type { Invited, Member, NetworkDetail } from './networks.js';

interface MemberTableProps {
  readonly network: NetworkDetail;
  readonly onChange: () => Promise<void>;
}

/** Invited members are shown below the members. */
type Row = Member | Invited;

/** Rows shown at first; a button shows the rest. */
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
        saveAs="network-members"
        allRows={rows}
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

interface InvitedMenuProps {
  readonly invited: Invited;
  readonly network: NetworkDetail;
  readonly onChange: () => Promise<void>;
}

/** Actions on an invitation without an answer. */
function InvitedMenu({ invited, network, onChange }: InvitedMenuProps) {
  const { id, name } = invited;
  const withdraw = useToastedAct(async () => {
    await my('network.uninvite', { network: network.id, member: id });
    toast(`${name} is no longer invited to ${network.name}.`);
    await onChange();
  });
  return (
    <Button
      small
      busy={withdraw.isBusy}
      aria-label={`Withdraw the invitation of ${name} to ${network.name}`}
      onClick={() => void withdraw.run()}
    >
      Withdraw
    </Button>
  );
}

interface MemberMenuProps {
  readonly member: Member;
  readonly network: NetworkDetail;
  readonly isBlocked: boolean;
  readonly onChange: () => Promise<void>;
  readonly onBlock: () => Promise<void>;
}

type Open = 'block' | 'remove' | null;

/** Actions on another member. */
function MemberMenu({ member, network, isBlocked, onChange, onBlock }: MemberMenuProps) {
  const { id, name } = member;
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const block = async (): Promise<void> => {
    await my('provider.block', { member: id });
    toast(`${name} is blocked.`);
    await onBlock();
  };
  const unblock = useToastedAct(async () => {
    await my('provider.unblock', { member: id });
    toast(`${name} is no longer blocked.`);
    await onBlock();
  });
  const remove = async (): Promise<void> => {
    await my('network.remove', { network: network.id, member: id });
    toast(`${name} is no longer in ${network.name}.`);
    await onChange();
  };
  if (id === currentSession().member.id) return null;
  return (
    <>
      <Menu label={`Actions for ${name} in ${network.name}`}>
        {isBlocked ? (
          <Button tone="quiet" onClick={() => void unblock.run()}>
            Unblock
          </Button>
        ) : (
          <Button tone="quiet" onClick={() => setOpen('block')}>
            Block…
          </Button>
        )}
        {network.own && (
          <Button tone="danger" onClick={() => setOpen('remove')}>
            Remove…
          </Button>
        )}
      </Menu>
      {open === 'block' && (
        <Confirm
          title={`Block ${name}?`}
          text={`${name} gets nothing of what you share ${UNTIL_UNBLOCKED}`}
          verb={`Block ${name}`}
          action={block}
          onClose={close}
        />
      )}
      {open === 'remove' && (
        <Confirm
          title={`Remove ${name} from ${network.name}?`}
          text={`${name} can no longer use what is shared with ${network.name}. ${WHAT_RUNS}`}
          verb={`Remove ${name}`}
          action={remove}
          onClose={close}
        />
      )}
    </>
  );
}

const UNTIL_UNBLOCKED = 'in any network, until you unblock them. They are not told.';

const WHAT_RUNS = 'Their running work is finished; their waiting work is not.';
