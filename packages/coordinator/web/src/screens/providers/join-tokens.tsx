import type { MyResult } from '../../api/commands.js';
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useJoinTokens } from './join-token.js';

type JoinToken = MyResult<'token.list'>[number];

/** Machines that may still come; nothing where none may. */
export function JoinTokens() {
  const { data, refresh } = useJoinTokens();
  const end = useToastedAct(async ({ id }: JoinToken) => {
    await my('token.revoke', { token: id });
    toast('The join token is revoked.');
    await refresh();
  });
  const open = data?.filter(({ state }) => state === 'open') ?? [];
  if (open.length === 0) return null;
  return (
    <section class="section after-table">
      <h2>Join tokens that nobody has used yet</h2>
      <Table
        caption="Open join tokens"
        columns={columnsOf((token) => void end.run(token))}
        rows={open}
        rowKey={({ id }) => id}
      />
    </section>
  );
}

function columnsOf(end: (token: JoinToken) => void): readonly Column<JoinToken>[] {
  return [
    {
      head: 'For',
      isName: true,
      kind: 'grow',
      below: ({ expires_at: at }) => (
        <>
          ends <Ago at={at} />
        </>
      ),
      cell: (token) => forText(token),
    },
    { head: 'Created', ifWide: true, cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Ends', ifWide: true, cell: ({ expires_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (token) => (
        <Button
          small
          aria-label={`Revoke the token for ${forText(token)}`}
          onClick={() => end(token)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}

function forText({ name, replaces }: JoinToken): string {
  if (replaces !== null) return `${replaces}, which enrolls again`;
  return name ?? 'a machine that names itself';
}
