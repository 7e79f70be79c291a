import { pastText } from '@inference-gateway/shared/time-text';
import { useState } from 'preact/hooks';
import type { QueueSummary } from '../../api/jobs.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { formatCount } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Empty } from '../../ui/table/states.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';

type ModelQueue = QueueSummary['by_model'][number];

/** Rows shown at first: of hundreds of models most are idle, and busy ones come first. */
const SHOWN = 8;

export function ModelQueues({ models }: { readonly models: readonly ModelQueue[] }) {
  const [isWhole, setWhole] = useState(false);
  const sorted = models.toSorted(busiestFirst);
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN);
  return (
    <section class="section">
      <h2>By model</h2>
      {models.length === 0 ? (
        <Empty icon="cpu" title="No model is online." text={NOBODY}>
          <LinkButton href="/providers">Go to Providers</LinkButton>
        </Empty>
      ) : (
        <Table
          caption="Queue by model"
          saveAs="queue"
          columns={COLUMNS}
          rows={shown}
          rowKey={keyOf}
        />
      )}
      {models.length > SHOWN && (
        <p class="list-foot soft small">
          {formatCount(shown.length)} of {formatCount(models.length)} models, the busiest first
          <Button small onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer' : 'Show all'}
          </Button>
        </p>
      )}
    </section>
  );
}

const NOBODY = 'Add a GPU of yours, or ask somebody to share one with a network that you are in.';

const COLUMNS: readonly Column<ModelQueue>[] = [
  {
    head: 'Model',
    isName: true,
    below: (one) => belowOf(one),
    cell: ({ model }) => <span class="mono">{model}</span>,
  },
  { head: 'Type', ifWide: true, cell: ({ service_type: type }) => typeLabel(type) },
  { head: 'Queued', kind: 'number', ifWide: true, cell: ({ queued }) => <Count of={queued} /> },
  { head: 'Running', kind: 'number', ifWide: true, cell: ({ running }) => <Count of={running} /> },
  { head: 'Slots busy', kind: 'grow', cell: (one) => <Capacity one={one} /> },
  {
    head: 'Oldest wait',
    kind: 'number',
    ifWide: true,
    cell: ({ oldest_queued_seconds: s }) =>
      s === null ? <span class="soft">–</span> : formatWait(s),
  },
];

/** Empty if the model has no jobs. */
function belowOf({ queued, running, oldest_queued_seconds: s }: ModelQueue): string {
  return [
    ...(queued > 0 ? [`${formatCount(queued)} queued`] : []),
    ...(running > 0 ? [`${formatCount(running)} running`] : []),
    ...(s === null ? [] : [`oldest ${formatWait(s)}`]),
  ].join(', ');
}

function Count({ of }: { readonly of: number }) {
  return <span class={of === 0 ? 'soft' : ''}>{formatCount(of)}</span>;
}

function Capacity({ one }: { readonly one: ModelQueue }) {
  if (one.providers_online > 0) return <SlotMeter slots={one.slots} free={one.free_slots} />;
  return (
    <Badge dot mood={one.queued > 0 ? 'warn' : 'plain'}>
      no provider online
    </Badge>
  );
}

function keyOf({ model, service_type: type }: ModelQueue): string {
  return `${model} ${type}`;
}

/** By queued jobs, then by running jobs, then by name. */
function busiestFirst(a: ModelQueue, b: ModelQueue): number {
  return b.queued - a.queued || b.running - a.running || (keyOf(a) < keyOf(b) ? -1 : 1);
}

/** `4 s`, `3 min`: short enough for a tile, and still while one looks. */
export function formatWait(seconds: number): string {
  return pastText(seconds * 1_000);
}
