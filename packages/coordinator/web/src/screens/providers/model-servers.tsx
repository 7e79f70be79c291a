import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Empty } from '../../ui/table/states.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import type { OwnProvider } from './own-providers.js';

type Service = OwnProvider['services'][number];

/** A router may serve hundreds. */
const MODELS_SHOWN = 6;

/** The model servers that its agent speaks to, as it told them last. */
export function ModelServers({ provider }: { readonly provider: OwnProvider }) {
  const { services } = provider;
  return (
    <section class="section after-table">
      <h2>Services</h2>
      {services.length === 0 ? (
        <Empty icon="server" title="It serves nothing yet." text={NOTHING} />
      ) : (
        <Table
          caption={`Services of ${provider.name}`}
          columns={COLUMNS}
          rows={services}
          rowKey={({ service_id: id }) => id}
        />
      )}
    </section>
  );
}

const NOTHING =
  'Start a model server on the machine, then run "gateway-agent services scan --add" there.';

const COLUMNS: readonly Column<Service>[] = [
  {
    head: 'Service',
    isName: true,
    below: ({ service_type: type, models }) => (
      <>
        {type} <ModelList models={models} />
      </>
    ),
    cell: ({ service_id: id, foreign }) => (
      <span class="provider-state">
        <span class="mono">{id}</span>
        {foreign === false && <Badge title="Its agent takes nobody else’s work">yours alone</Badge>}
      </span>
    ),
  },
  { head: 'Type', ifWide: true, cell: ({ service_type: type }) => type },
  {
    head: 'Models',
    kind: 'grow',
    ifWide: true,
    cell: ({ models }) => <ModelList models={models} />,
  },
  {
    head: 'Slots busy',
    cell: ({ slots, busy }) => <SlotMeter slots={slots} free={Math.max(0, slots - busy)} />,
  },
];

function ModelList({ models }: Pick<Service, 'models'>) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? models : models.slice(0, MODELS_SHOWN);
  const rest = models.length - shown.length;
  return (
    <span class="model-list">
      {models.length === 0 && <span class="soft">none</span>}
      {shown.map(({ id, loaded }) => (
        <span key={id} class="mono" {...(loaded && { title: 'In memory' })}>
          {id}
        </span>
      ))}
      {rest > 0 && (
        <Button small tone="quiet" onClick={() => setWhole(true)}>
          {rest} more
        </Button>
      )}
    </span>
  );
}
