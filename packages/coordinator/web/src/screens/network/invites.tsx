import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useToastedAct } from '../../ui/act.js';
import { Button } from '../../ui/button.js';
import { FaultState, Loading } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import type { Column } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { toast } from '../../ui/toasts.js';
import { useInvites } from './networks.js';

type Invite = MyResult<'user.invites'>[number];

/** Those that nobody has used yet. */
export function Invites() {
  const { data, fault, refresh } = useInvites();
  const revoke = useToastedAct(async ({ id, email }: Invite) => {
    await my('user.uninvite', { invite: id });
    toast(`The invite for ${email} is revoked.`);
    await refresh();
  });
  const open = data?.filter(({ state }) => state === 'open') ?? [];
  return (
    <section class="section network-part">
      <h2>Open invites</h2>
      {data === undefined && fault === null && <Loading rows={1} />}
      {data === undefined && fault !== null && (
        <FaultState fault={fault} onRetry={() => void refresh()} />
      )}
      {data !== undefined && open.length === 0 && (
        <p class="soft">None. Invite somebody with the button above.</p>
      )}
      {open.length > 0 && (
        <Table
          caption="Open invites"
          columns={columnsOf((invite) => void revoke.run(invite))}
          rows={open}
          rowKey={({ id }) => id}
        />
      )}
    </section>
  );
}

function columnsOf(revoke: (invite: Invite) => void): readonly Column<Invite>[] {
  return [
    { head: 'For', isName: true, kind: 'grow', cell: ({ email }) => email },
    { head: 'Network', cell: ({ network }) => network },
    { head: 'Made', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Ends', cell: ({ expires_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (invite) => (
        <Button
          small
          aria-label={`Revoke the invite for ${invite.email}`}
          onClick={() => revoke(invite)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}
