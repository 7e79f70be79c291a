import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { Button } from '../../ui/button/button.js';
import { formatCount, formatMs, formatShort } from '../../ui/text/format.js';
import { toCsv } from '../../ui/text/csv.js';
import { saveText } from '../../ui/text/save-text.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { nameOf } from './usage-data.js';
import type { Stat } from './usage-data.js';

interface GroupTableProps {
  /** What a row stands for: "model". */
  readonly by: string;
  readonly stats: readonly Stat[];
  /** From the first day, which counts as a whole, until now. */
  readonly seconds: number;
  /** Name of the CSV file: `usage-month-model` */
  readonly fileName: string;
}

/** The sums of whole days. */
export function GroupTable({ by, stats, seconds, fileName }: GroupTableProps) {
  const title = `By ${by}`;
  const firstDay = new Date(SYSTEM_CLOCK.now() - seconds * 1_000).toISOString().slice(0, 10);
  const save = (): void => saveText(`${fileName}.csv`, 'text/csv', toCsv(csvRows(stats)));
  return (
    <section class="section">
      <div class="card-head">
        <h2>{title}</h2>
        <Button small icon="download" onClick={save}>
          CSV
        </Button>
      </div>
      <Table caption={title} columns={COLUMNS} rows={stats} rowKey={({ id }) => id ?? ''} />
      <p class="soft small usage-note">Whole days in UTC, from {firstDay}.</p>
    </section>
  );
}

const COLUMNS: readonly Column<Stat>[] = [
  { head: 'Name', isName: true, kind: 'grow', cell: nameOf },
  { head: 'Requests', kind: 'number', cell: (one) => formatCount(one.requests) },
  {
    head: 'Errors',
    kind: 'number',
    cell: ({ failed }) => <span class={failed > 0 ? 'bad' : 'soft'}>{formatCount(failed)}</span>,
  },
  {
    head: 'Tokens in',
    kind: 'number',
    ifWide: true,
    cell: (one) => formatShort(one.prompt_tokens),
  },
  {
    head: 'Tokens out',
    kind: 'number',
    ifWide: true,
    cell: (one) => formatShort(one.completion_tokens),
  },
  {
    head: 'Audio',
    kind: 'number',
    ifWide: true,
    cell: ({ audio_ms: ms }) => (ms === 0 ? <span class="soft">–</span> : formatMs(ms)),
  },
  { head: 'Images', kind: 'number', ifWide: true, cell: (one) => formatCount(one.images) },
];

function csvRows(stats: readonly Stat[]) {
  const head = ['name', 'requests', 'ok', 'failed', 'canceled', 'prompt_tokens'].concat([
    'completion_tokens',
    'audio_seconds',
    'images',
    'total_seconds',
  ]);
  return [
    head,
    ...stats.map((one) => [
      nameOf(one),
      one.requests,
      one.ok,
      one.failed,
      one.canceled,
      one.prompt_tokens,
      one.completion_tokens,
      one.audio_ms / 1_000,
      one.images,
      one.total_ms / 1_000,
    ]),
  ];
}
