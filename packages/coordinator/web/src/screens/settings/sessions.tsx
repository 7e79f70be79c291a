import { useState } from 'preact/hooks';
import { my, useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { logOut } from '../../api/session.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { plural } from '../../ui/text/format.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast, toastFault } from '../../ui/dialog/toasts.js';

type Session = MyResult<'user.sessions'>[number];

export const SESSION_OPTIONS = { everyMs: 15_000 };

/** The sessions of the member: browsers that are logged in. */
export function Sessions() {
  const [isAsking, setAsking] = useState(false);
  const sessions = useMy('user.sessions', {}, SESSION_OPTIONS);
  const end = useToastedAct(async ({ id }: Session) => {
    await my('user.logout', { session: id });
    toast('That browser is logged out.');
    await sessions.refresh();
  });
  const others = sessions.data?.filter(({ current }) => !current) ?? [];
  const endOthers = async (): Promise<void> => {
    for (const { id } of others) await my('user.logout', { session: id });
    toast('Every other browser is logged out.');
    await sessions.refresh();
  };
  return (
    <section class="section">
      <div class="card-head">
        <h2>Where you are logged in</h2>
        {others.length > 0 && (
          <Button tone="danger" onClick={() => setAsking(true)}>
            Log out everywhere else
          </Button>
        )}
      </div>
      <Loaded of={sessions} rows={3}>
        {(all) => (
          <Table
            caption="Where you are logged in"
            saveAs="sessions"
            columns={columnsOf((session) => void end.run(session))}
            rows={ordered(all)}
            rowKey={({ id }) => id}
          />
        )}
      </Loaded>
      {isAsking && (
        <Confirm
          title="Log out everywhere else?"
          text={`${plural(others.length, 'other browser')} must log in again. This one stays.`}
          verb="Log out the others"
          action={endOthers}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

/** This browser first, then the most recently used ones. */
function ordered(sessions: readonly Session[]): readonly Session[] {
  return sessions.toSorted(
    (a, b) => Number(b.current) - Number(a.current) || b.last_used_at - a.last_used_at,
  );
}

function columnsOf(end: (session: Session) => void): readonly Column<Session>[] {
  return [
    {
      head: 'Browser',
      isName: true,
      below: ({ address }) => address,
      kind: 'grow',
      cell: ({ user_agent, device, current }) => (
        <span class="row">
          <span title={user_agent}>{device}</span>
          {current && <Badge mood="accent">this browser</Badge>}
        </span>
      ),
    },
    { head: 'Address', ifWide: true, cell: ({ address }) => <span class="mono">{address}</span> },
    { head: 'By', ifWide: true, cell: ({ method }) => METHODS[method] },
    { head: 'Last used', cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
    { head: 'Logged in', ifWide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (session) =>
        session.current ? (
          <Button small onClick={() => void logOut().catch(toastFault)}>
            Log out
          </Button>
        ) : (
          <Button
            small
            aria-label={`Log out ${session.device} at ${session.address}`}
            onClick={() => end(session)}
          >
            Log out
          </Button>
        ),
    },
  ];
}

const METHODS = {
  password: 'Password',
  passkey: 'Passkey',
  oidc: 'Single sign-on',
} as const;
