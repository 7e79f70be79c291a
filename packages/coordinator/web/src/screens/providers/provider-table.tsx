import { formatCount, plural } from '../../ui/text/format.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { gpuText, heatText, vramText } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';
import { ProviderMenu } from './provider-menu.js';
import { ProviderError } from './provider-error.js';
import { ProviderState } from './provider-state.js';

interface ProviderTableProps {
  readonly providers: readonly OwnProvider[];
  readonly onChange: () => Promise<void>;
}

export function ProviderTable({ providers, onChange }: ProviderTableProps) {
  const menu: Column<OwnProvider> = {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: (provider) => <ProviderMenu provider={provider} onChange={onChange} />,
  };
  return (
    <Table
      caption="Your providers"
      saveAs="providers"
      columns={[...COLUMNS, menu]}
      rows={providers}
      rowKey={({ id }) => id}
    />
  );
}

const COLUMNS: readonly Column<OwnProvider>[] = [
  {
    head: 'Name',
    isName: true,
    kind: 'grow',
    below: (provider) => (
      <>
        <ProviderState provider={provider} /> <Gpu provider={provider} />
      </>
    ),
    cell: ({ id, name }) => <a href={`/providers/${id}`}>{name}</a>,
  },
  { head: 'State', ifWide: true, cell: (provider) => <ProviderState provider={provider} /> },
  { head: 'GPU', ifWide: true, cell: (provider) => <Gpu provider={provider} /> },
  {
    head: 'Slots busy',
    cell: ({ slots, busy, online }) =>
      online ? <SlotMeter slots={slots} free={Math.max(0, slots - busy)} /> : <None />,
  },
  {
    head: 'Served today',
    kind: 'number',
    ifWide: true,
    ifRoom: true,
    cell: ({ served_today: n, models }) => (
      <>
        {formatCount(n)}
        <span class="provider-models soft small">{plural(models.length, 'model')}</span>
      </>
    ),
  },
  {
    head: 'Last error',
    ifWide: true,
    ifRoom: true,
    cell: (provider) => <ProviderError provider={provider} />,
  },
];

function Gpu({ provider }: { readonly provider: OwnProvider }) {
  const gpu = gpuText(provider);
  if (gpu === null) return <None />;
  const facts = [vramText(provider), heatText(provider)].filter((one) => one !== null);
  return (
    <span class="gpu">
      {gpu}
      {facts.length > 0 && <span class="soft small">{facts.join(', ')}</span>}
    </span>
  );
}

function None() {
  return <span class="soft">–</span>;
}
