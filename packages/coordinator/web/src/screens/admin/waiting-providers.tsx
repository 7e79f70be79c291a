import { admin, useAdmin } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { LISTS } from './every.js';
import { nameOf } from './provider.js';
import type { Provider } from './provider.js';

/** They have joined, and get no work before somebody approves them. */
export function WaitingProviders() {
  const list = useAdmin('provider.list', {}, LISTS);
  const waiting = list.data?.filter(isWaiting);
  if (waiting?.length === 0) return null;
  return (
    <section class="section">
      <h2>Providers that wait for approval</h2>
      <Loaded of={{ ...list, data: waiting }} rows={1}>
        {(rows) => (
          <Table
            caption="Providers that wait for approval"
            columns={columnsOf(list.refresh)}
            rows={rows}
            rowKey={({ id }) => id}
          />
        )}
      </Loaded>
    </section>
  );
}

/** Nobody waits for one whose owner may do nothing. */
export function isWaiting({ approved, owner_disabled: isOwnerDisabled }: Provider): boolean {
  return !approved && !isOwnerDisabled;
}

function columnsOf(refresh: () => Promise<void>): readonly Column<Provider>[] {
  return [
    { head: 'Provider', isName: true, kind: 'grow', cell: nameOf },
    {
      head: 'Models',
      ifWide: true,
      cell: ({ models }) => <span class="mono">{models.slice(0, SHOWN).join(', ')}</span>,
    },
    { head: 'Joined', cell: ({ created_at: at }) => <Ago at={at} /> },
    {
      head: 'Actions',
      unseenHead: true,
      kind: 'end',
      cell: (provider) => <Approve provider={provider} onDone={refresh} />,
    },
  ];
}

const SHOWN = 3;

function Approve({ provider, onDone }: { provider: Provider; onDone: () => Promise<void> }) {
  const act = useToastedAct(async () => {
    await admin('provider.approve', { provider: provider.id });
    toast(`${nameOf(provider)} is approved, and gets work.`);
    await onDone();
  });
  return (
    <Button
      small
      busy={act.isBusy}
      aria-label={`Approve ${nameOf(provider)}`}
      onClick={() => void act.run()}
    >
      Approve
    </Button>
  );
}
