import { useAdmin, admin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Attention } from '../../ui/dialog/attention.js';
import type { AttentionItem } from '../../ui/dialog/attention.js';
import { formatCount } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { toast } from '../../ui/dialog/toasts.js';
import { LISTS } from './every.js';
import { WaitingDevices } from './waiting-devices.js';
import { nameOf } from './provider.js';
import type { Provider } from './provider.js';

/** Warnings, then totals, then what waits for approval. */
export function Overview() {
  return (
    <>
      <Warnings />
      <Counts />
      <WaitingProviders />
      <WaitingDevices />
      <NobodyWaits />
    </>
  );
}

function Warnings() {
  const system = useAdmin('system.show', {}, LISTS);
  const queue = useAdmin('queue.summary', {}, LISTS);
  const fault = system.fault ?? queue.fault;
  const isKnown = system.data !== undefined && queue.data !== undefined;
  if (!isKnown && fault !== null) return <p class="bad">{fault.message}</p>;
  const warnings = isKnown ? warningsOf(system.data, queue.data) : undefined;
  return <Attention items={warnings} label="Warnings" calm="The gateway has no problems." />;
}

function Counts() {
  const users = useAdmin('user.list', {}, LISTS).data;
  const providers = useAdmin('provider.list', {}, LISTS).data;
  const queue = useAdmin('queue.summary', {}, LISTS).data;
  const keys = useAdmin('key.list', { user: null }, LISTS).data;
  const online = providers?.filter((one) => one.online).length ?? 0;
  return (
    <div class="tiles">
      <Tile
        label="Members"
        figure={users && formatCount(users.filter(({ state }) => state === 'active').length)}
        note="active"
        href="/admin/users"
      />
      <Tile
        label="Providers online"
        figure={providers && `${formatCount(online)}/${formatCount(providers.length)}`}
        note="of all members"
        href="/admin/providers"
      />
      <Tile
        label="Running"
        figure={queue && formatCount(queue.processing)}
        note="jobs"
        href="/admin/jobs?status=active"
      />
      <Tile
        label="Queued"
        figure={queue && formatCount(queue.queued)}
        note="jobs"
        href="/admin/jobs?status=QUEUED"
      />
      <Tile
        label="Keys"
        figure={keys && formatCount(keys.filter(({ state }) => state === 'active').length)}
        note="active"
        href="/admin/keys"
      />
    </div>
  );
}

function NobodyWaits() {
  const providers = useAdmin('provider.list', {}, LISTS).data;
  const devices = useAdmin('device.list', {}, LISTS).data;
  if (providers?.some(isWaiting) !== false || devices?.length !== 0) return null;
  return <p class="soft">No provider and no machine waits for approval.</p>;
}

type System = AdminResult<'system.show'>;

type Queue = AdminResult<'queue.summary'>;

const SYSTEM = '/admin/system';

/** Problems of the gateway itself, with links to details. */
function warningsOf(system: System, queue: Queue): readonly AttentionItem[] {
  const unserved = queue.by_model.filter((one) => one.queued > 0 && one.providers_online === 0);
  return [
    ...when(!system.async_enabled, 'Jobs and batches are switched off.', SYSTEM),
    ...when(
      queue.worker_stalled,
      'Jobs wait, but none has been started for a minute. Look at the log, then restart.',
      '/queue',
    ),
    ...when(system.queue_paused, 'The queue is paused: no waiting job starts.', SYSTEM),
    ...when(
      system.asset_bytes >= system.asset_bytes_limit * 0.9,
      'The space for generated files is nearly full. Raise GATEWAY_ASSETS_MAX_GB, or prune.',
      SYSTEM,
    ),
    ...unserved.flatMap(({ model }) =>
      when(
        true,
        `Jobs for ${model} wait, but no provider that serves it is online.`,
        '/admin/jobs',
      ),
    ),
  ];
}

function when(isSo: boolean, text: string, href: string): readonly AttentionItem[] {
  return isSo ? [{ text, href }] : [];
}

/** Providers that have joined. They get no work until an admin approves them. */
function WaitingProviders() {
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

/** Without those of disabled members, who may not use the gateway. */
function isWaiting({ approved, owner_disabled: isOwnerDisabled }: Provider): boolean {
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
