import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { formatCount, formatMs, formatShort } from '../../ui/text/format.js';
import { SaveRows } from '../../ui/table/save-rows.js';
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
  /** Name of the files: `usage-month-model` */
  readonly fileName: string;
}

/** The sums of whole days. */
export function GroupTable({ by, stats, seconds, fileName }: GroupTableProps) {
  const title = `By ${by}`;
  const firstDay = new Date(SYSTEM_CLOCK.now() - seconds * 1_000).toISOString().slice(0, 10);
  return (
    <section class="section">
      <h2>{title}</h2>
      <Table caption={title} columns={COLUMNS} rows={stats} rowKey={({ id }) => id ?? ''} />
      <SaveRows name={fileName} rows={stats.map(savedOf)} rowKey={({ name }) => name} />
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

function savedOf(stat: Stat) {
  const { audio_ms: audioMs, total_ms: totalMs } = stat;
  return {
    name: nameOf(stat),
    requests: stat.requests,
    ok: stat.ok,
    failed: stat.failed,
    canceled: stat.canceled,
    prompt_tokens: stat.prompt_tokens,
    completion_tokens: stat.completion_tokens,
    audio_seconds: audioMs / 1_000,
    images: stat.images,
    total_seconds: totalMs / 1_000,
  };
}
