import { useAdmin, admin } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { Badge, OnlineBadge } from '../../ui/figures/badge.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Loaded } from '../../ui/table/loaded.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { Uptime } from '../providers/uptime.js';
import { LISTS } from './every.js';
import { Listing } from './listing.js';
import { OwnedName } from './owned-name.js';
import { nameOf } from './provider.js';
import type { Provider } from './provider.js';
import type { RowAction } from '../../ui/table/row-menu.js';

export function Providers() {
  return (
    <Listing
      caption="Providers"
      what="provider"
      list={useAdmin('provider.list', {}, LISTS)}
      columns={COLUMNS}
      nameOf={nameOf}
      wordsOf={(one) => [one.name, one.owner, ...one.models]}
      facets={FACETS}
      actionsOf={providerActions}
      emptyText="Members add theirs under Providers."
    />
  );
}

const COLUMNS: readonly Column<Provider>[] = [
  {
    head: 'Provider',
    isName: true,
    kind: 'grow',
    below: (provider) => <Below provider={provider} />,
    cell: ({ name, owner }) => <OwnedName name={name} note={owner} />,
  },
  { head: 'State', cell: (provider) => <States provider={provider} /> },
  {
    head: 'Slots',
    ifWide: true,
    cell: ({ online, slots, busy }) =>
      online ? <SlotMeter slots={slots} free={slots - busy} /> : <span class="soft">–</span>,
  },
  {
    head: 'Models',
    kind: 'number',
    ifWide: true,
    cell: ({ models }) => <span title={models.join('\n')}>{formatCount(models.length)}</span>,
  },
  {
    head: 'Seen',
    ifWide: true,
    cell: ({ online, last_seen_at: at }) => (online ? 'now' : <Ago at={at} />),
  },
  { head: 'Added', ifWide: true, ifRoom: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

const STATES = ['online', 'offline', 'waiting', 'draining', 'paused'] as const;

const FACETS = [
  {
    name: 'state',
    label: 'State',
    options: [
      { value: 'online', label: 'Online' },
      { value: 'offline', label: 'Offline' },
      { value: 'waiting', label: 'Waits for approval' },
      { value: 'draining', label: 'Draining' },
      { value: 'paused', label: 'Paused' },
    ],
    fits: (provider: Provider, value: string) => statesOf(provider).some((one) => one === value),
  },
];

function statesOf(provider: Provider): readonly (typeof STATES)[number][] {
  const { online, approved, draining, paused } = provider;
  return STATES.filter(
    (state) => ({ online, offline: !online, waiting: !approved, draining, paused })[state],
  );
}

/** Its load, its models, and since when it is offline. */
function Below({ provider }: { readonly provider: Provider }) {
  const { online, slots, busy, models, last_seen_at: at } = provider;
  return (
    <>
      {online ? (
        `${formatCount(busy)} of ${plural(slots, 'slot')} busy`
      ) : (
        <>
          seen <Ago at={at} />
        </>
      )}
      , {plural(models.length, 'model')}
    </>
  );
}

function States({ provider }: { readonly provider: Provider }) {
  const { online, approved, draining, paused, owner_disabled: isOwnerDisabled } = provider;
  return (
    <span class="admin-states">
      <OnlineBadge online={online} />
      {!approved && <Badge mood="accent">waits for approval</Badge>}
      {draining && <Badge mood="warn">draining</Badge>}
      {paused && <Badge mood="warn">paused</Badge>}
      {isOwnerDisabled && <Badge mood="warn">owner disabled</Badge>}
    </span>
  );
}

interface ShownUptimeProps {
  readonly provider: Provider;
  readonly onClose: () => void;
}

function ShownUptime({ provider, onClose }: ShownUptimeProps) {
  const shown = useAdmin('provider.show', { provider: provider.id }, LISTS);
  return (
    <Dialog shape="wide" title={`Uptime of ${nameOf(provider)}`} onClose={onClose}>
      <Loaded of={shown} rows={4}>
        {({ uptime }) => <Uptime uptime={uptime} />}
      </Loaded>
      <div class="dialog-foot">
        <Button onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

type Switch = 'approve' | 'drain' | 'resume' | 'pause' | 'unpause';

const SWITCHES: Readonly<Record<Switch, { readonly text: string; readonly told: string }>> = {
  approve: { text: 'Approve', told: 'is approved, and gets work.' },
  drain: { text: 'Drain', told: 'finishes its running work and gets no new work.' },
  resume: { text: 'End draining', told: 'gets work again.' },
  pause: { text: 'Pause', told: 'serves only its owner now.' },
  unpause: { text: 'Resume', told: 'serves others again.' },
};

function providerActions(provider: Provider): readonly RowAction[] {
  const { approved, draining, paused, online } = provider;
  return [
    ...(approved ? [] : [switchOf(provider, 'approve')]),
    {
      kind: 'form',
      text: 'Uptime',
      form: (close) => <ShownUptime provider={provider} onClose={close} />,
    },
    switchOf(provider, draining ? 'resume' : 'drain'),
    switchOf(provider, paused ? 'unpause' : 'pause'),
    ...(online ? [kick(provider)] : []),
    remove(provider),
  ];
}

function switchOf(provider: Provider, to: Switch): RowAction {
  const { text, told } = SWITCHES[to];
  return {
    kind: 'now',
    text,
    async run() {
      await admin(`provider.${to}`, { provider: provider.id });
      return `${nameOf(provider)} ${told}`;
    },
  };
}

function kick(provider: Provider): RowAction {
  const name = nameOf(provider);
  return {
    kind: 'ask',
    text: 'Disconnect',
    title: `Disconnect ${name}?`,
    explain:
      'Its link is closed, and its running work moves to another provider or fails. ' +
      'Its agent connects again by itself.',
    async run() {
      await admin('provider.kick', { provider: provider.id });
      return `${name} is disconnected.`;
    },
  };
}

function remove(provider: Provider): RowAction {
  const name = nameOf(provider);
  return {
    kind: 'ask',
    text: 'Remove',
    title: `Remove ${name}?`,
    explain:
      'All its shares end, and its agent must log in again as a new provider. ' +
      'This cannot be taken back.',
    async run() {
      await admin('provider.remove', { provider: provider.id });
      return `${name} is removed.`;
    },
  };
}
