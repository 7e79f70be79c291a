import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Short, Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useInvites } from './networks.js';

type Invite = MyResult<'user.invites'>[number];

/** Open invites. */
export function Invites() {
  const invites = useInvites();
  const revoke = useToastedAct(async ({ id, email }: Invite) => {
    await my('user.uninvite', { invite: id });
    toast(`The invite for ${email} is revoked.`);
    await invites.refresh();
  });
  const open = invites.data?.filter(({ state }) => state === 'open');
  return (
    <section class="section network-part">
      <h2>Open invites</h2>
      <Loaded of={{ ...invites, data: open }} rows={1}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">None. Invite somebody with the button above.</p>
          ) : (
            <Table
              caption="Open invites"
              saveAs="invites"
              columns={columnsOf((invite) => void revoke.run(invite))}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </section>
  );
}

function columnsOf(revoke: (invite: Invite) => void): readonly Column<Invite>[] {
  return [
    {
      head: 'For',
      isName: true,
      kind: 'grow',
      below: ({ network, expires_at: at }) => (
        <>
          {network}, ends <Ago at={at} />
        </>
      ),
      cell: ({ email }) => email,
    },
    { head: 'Network', ifWide: true, cell: ({ network }) => <Short text={network ?? '–'} /> },
    { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Expires', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
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
