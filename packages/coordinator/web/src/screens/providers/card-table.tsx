import { formatMib } from '../../ui/text/format.js';
import { Meter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import type { OwnProvider } from './own-providers.js';

type Card = OwnProvider['gpus'][number];

/** The telemetry of the GPUs; shows nothing if the agent reports none. */
export function CardTable({ gpus }: Pick<OwnProvider, 'gpus'>) {
  if (gpus.length === 0) return null;
  const rows = gpus.map((card, index) => ({ ...card, number: index + 1 }));
  return (
    <section class="section after-table">
      <h2>Cards</h2>
      <Table
        caption="Graphics cards"
        saveAs="cards"
        columns={COLUMNS}
        rows={rows}
        rowKey={({ number }) => String(number)}
      />
    </section>
  );
}

const COLUMNS: readonly Column<Card & { readonly number: number }>[] = [
  {
    head: '#',
    kind: 'number',
    ifWide: true,
    cell: ({ number }) => <span class="soft">{number}</span>,
  },
  {
    head: 'Card',
    isName: true,
    kind: 'grow',
    below: (card) => (
      <>
        {figure(card.use_percent, '%')} in use, {figure(card.power_watts, 'W')}{' '}
        <Memory card={card} />
      </>
    ),
    cell: ({ name }) => <Name name={name} />,
  },
  { head: 'Temperature', kind: 'number', cell: ({ temperature_c: c }) => figure(c, '°C') },
  {
    head: 'In use',
    kind: 'number',
    ifWide: true,
    cell: ({ use_percent: percent }) => figure(percent, '%'),
  },
  { head: 'Memory used', ifWide: true, cell: (card) => <Memory card={card} /> },
  {
    head: 'Power',
    kind: 'number',
    ifWide: true,
    cell: ({ power_watts: watts }) => figure(watts, 'W'),
  },
];

function Name({ name }: Pick<Card, 'name'>) {
  return <span class="card-name">{name ?? 'unnamed'}</span>;
}

function figure(value: number | null, unit: string) {
  return value === null ? <span class="soft">–</span> : `${Math.round(value)} ${unit}`;
}

function Memory({ card: { memory_mib: all, memory_used_mib: used } }: { readonly card: Card }) {
  if (all === null) return <span class="soft">–</span>;
  const total = formatMib(all);
  if (used === null) return <span class="soft">of {total}</span>;
  const label = `${formatMib(used)} of ${total}`;
  return (
    <span class="slot-meter card-memory">
      <Meter value={Math.min(used, all)} max={all} label={`${label} used`} />
      <span class="small soft" aria-hidden="true">
        {label}
      </span>
    </span>
  );
}
