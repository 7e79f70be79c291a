import { useAdmin, admin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Attention } from '../../ui/dialog/attention.js';
import type { AttentionItem } from '../../ui/dialog/attention.js';
import { formatCount, formatMs, formatShort, plural } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { TimeBars } from '../../ui/figures/time-bars.js';
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

/** Warnings, what happens now, totals, and what waits for approval. */
export function Overview() {
  return (
    <>
      <Warnings />
      <Now />
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

/** The whole gateway, of all its coordinators, in the last hour. */
function Now() {
  const live = useAdmin('stats.live', {}, LISTS);
  const now = live.data;
  if (now === undefined && live.fault !== null) return <p class="bad">{live.fault.message}</p>;
  const minutes = now?.minutes;
  const bars = (pick: (minute: Minute) => number, what: string, mood?: 'bad') => (
    <TimeBars
      values={minutes?.map(pick)}
      label={`${plural(sumOf(minutes?.map(pick) ?? []), what)} in 60 minutes.`}
      {...(mood !== undefined && { mood })}
    />
  );
  return (
    <div class="tiles">
      <Tile
        label="Requests a minute"
        figure={now && formatCount(now.requests_per_minute)}
        chart={bars((minute) => minute.requests, 'request')}
        href="/admin/usage?period=day"
      />
      <Tile
        label="Tokens a second"
        figure={now && formatShort(now.tokens_per_s)}
        chart={bars((minute) => minute.completion_tokens, 'token')}
        href="/admin/usage?period=day&measure=tokens"
      />
      <Tile
        label="Errors in 60 min"
        figure={
          now && <span class={now.errors_60m > 0 ? 'bad' : ''}>{formatCount(now.errors_60m)}</span>
        }
        chart={bars((minute) => minute.failed, 'error', 'bad')}
        href="/admin/usage?period=day&measure=errors"
      />
      <Tile
        label="First token, p50"
        figure={now && durationText(now.first_byte_p50_ms)}
        note={now && `p95 ${durationText(now.first_byte_p95_ms)}`}
        href="/admin/usage?period=day&measure=first"
      />
      <Tile
        label="Running"
        figure={now && formatCount(now.running)}
        note="calls and jobs"
        href="/admin/jobs?status=active"
      />
      <Tile
        label="Queued"
        figure={now && formatCount(now.queued)}
        note="jobs"
        href="/admin/jobs?status=QUEUED"
      />
    </div>
  );
}

type Minute = AdminResult<'stats.live'>['minutes'][number];

function sumOf(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

function durationText(ms: number | null): string {
  return ms === null ? '–' : formatMs(ms);
}

function Counts() {
  const users = useAdmin('user.list', {}, LISTS).data;
  const live = useAdmin('stats.live', {}, LISTS).data;
  const keys = useAdmin('key.list', { user: null }, LISTS).data;
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
        figure={live && `${formatCount(live.providers_online)}/${formatCount(live.providers)}`}
        note="of all members"
        href="/admin/providers"
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
            saveAs="waiting-providers"
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
