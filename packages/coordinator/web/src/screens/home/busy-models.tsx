import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';

type ModelQueue = QueueSummary['by_model'][number];

/** A glance: the Queue's own screen is told of every change. */
const EVERY_MS = 5_000;
/** The rest is on the Queue's own screen. */
const SHOWN = 6;

/** Where something is going on now. */
export function BusyModels() {
  const { data } = useSnapshot<QueueSummary>(QUEUE, { everyMs: EVERY_MS });
  const models = data?.by_model ?? [];
  const busy = models.filter(isBusy).toSorted((a, b) => load(b) - load(a));
  const idle = models.length - busy.length;
  return (
    <section class="section">
      <div class="card-head">
        <h2>Models at work</h2>
        <a href="/queue">Queue</a>
      </div>
      {busy.length > 0 && (
        <Table
          caption="Models at work"
          columns={COLUMNS}
          rows={busy.slice(0, SHOWN)}
          rowKey={({ model, service_type: type }) => `${model} ${type}`}
        />
      )}
      <p class="soft small home-note">{data === undefined ? ' ' : idleText(idle, busy.length)}</p>
    </section>
  );
}

const COLUMNS: readonly Column<ModelQueue>[] = [
  {
    head: 'Model',
    isName: true,
    below: ({ queued }) => (queued > 0 ? `${formatCount(queued)} waiting` : ''),
    cell: ({ model }) => <span class="mono">{model}</span>,
  },
  {
    head: 'Slots',
    kind: 'grow',
    cell: ({ slots, free_slots: free }) =>
      slots === 0 ? (
        <span class="warn whole">no provider online</span>
      ) : (
        <SlotMeter slots={slots} free={free} />
      ),
  },
  { head: 'Waiting', kind: 'number', ifWide: true, cell: ({ queued }) => formatCount(queued) },
];

function isBusy(one: ModelQueue): boolean {
  return load(one) > 0;
}

function load({ queued, slots, free_slots: free }: ModelQueue): number {
  return queued + slots - free;
}

function idleText(idle: number, busy: number): string {
  if (idle + busy === 0) return 'No model is online for you.';
  const models = plural(idle, 'model');
  return busy === 0 ? `${models} online, all free.` : `${models} more online and free.`;
}
