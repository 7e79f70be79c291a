import { Badge } from '../../ui/figures/badge.js';
import { formatDate } from '../../ui/text/dates.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { KeyState, KeyTimes } from '../../ui/table/key-state.js';
import { Sparkline } from '../../ui/figures/sparkline.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { KeyMenu } from './key-menu.js';
import { USAGE_DAYS, useKeyUsage } from './keys.js';
import type { Key, KeyUsage } from './keys.js';

export function KeyTable({ keys }: { readonly keys: readonly Key[] }) {
  const usage = useKeyUsage();
  return (
    <Table
      caption="Your API keys"
      columns={[...COLUMNS.slice(0, 3), usageColumn(usage), ...COLUMNS.slice(3)]}
      rows={keys}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<Key>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: (key) => <KeyTimes {...key} />,
    cell: ({ name, scope }) => (
      <span class="key-name">
        {name}
        {scope === 'own' && <Badge title="Reaches only your own GPUs">own GPUs</Badge>}
      </span>
    ),
  },
  { head: 'Key', ifWide: true, cell: ({ prefix }) => <span class="mono soft">{prefix}…</span> },
  {
    head: 'State',
    cell: ({ state, previous_until: until }) => (
      <span class="key-state">
        <KeyState state={state} />
        {until !== null && (
          <span class="soft small" title={`Until ${formatDate(until)}`}>
            old one ends <Ago at={until} />
          </span>
        )}
      </span>
    ),
  },
  { head: 'Last used', ifWide: true, cell: ({ last_used_at }) => <Ago at={last_used_at} /> },
  { head: 'Expires', ifWide: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
  { head: 'Created', ifWide: true, cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: (key) => <KeyMenu subject={key} />,
  },
];

function usageColumn(usage: KeyUsage | undefined): Column<Key> {
  return {
    head: `${USAGE_DAYS} days`,
    ifWide: true,
    cell: ({ id, name }) => <Usage name={name} days={usage && (usage.get(id) ?? [])} />,
  };
}

/** Its place is as wide whatever comes. */
function Usage({
  name,
  days,
}: {
  readonly name: string;
  readonly days: readonly number[] | undefined;
}) {
  const sum = days?.reduce((total, count) => total + count, 0) ?? 0;
  const label = `${plural(sum, 'request')} with ${name} in ${USAGE_DAYS} days`;
  return (
    <span class="key-usage">
      {sum > 0 && <Sparkline values={days ?? []} label={label} />}
      {days !== undefined && <span class="soft">{sum === 0 ? 'no calls' : formatCount(sum)}</span>}
    </span>
  );
}
