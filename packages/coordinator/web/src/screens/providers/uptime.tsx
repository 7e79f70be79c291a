import type { AdminResult } from '../../api/commands.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { formatMs } from '../../ui/text/format.js';
import { linkEndLabel } from '../../ui/text/labels.js';
import { formatPeriod } from '../../ui/text/periods.js';
import { Ago } from '../../ui/text/time.js';
import './uptime.css';

type UptimeFacts = AdminResult<'provider.show'>['uptime'];

type Day = UptimeFacts['days'][number];

type Disconnection = UptimeFacts['disconnections'][number];

/** When a provider was online in the last 30 days, a cell a day in UTC, and why it was not. */
export function Uptime({ uptime }: { readonly uptime: UptimeFacts }) {
  const { days, disconnections } = uptime;
  return (
    <>
      <p class="uptime-sentence">{sentenceOf(days)}</p>
      <ol class="uptime" aria-label="Online, day by day">
        {days.map((day) => (
          <li key={day.day} title={textOf(day)} class={classOf(day)}>
            <i style={{ height: `${Math.round((shareOf(day) ?? 0) * 100)}%` }} />
            <span class="unseen">{textOf(day)}</span>
          </li>
        ))}
      </ol>
      {disconnections.length > 0 && (
        <Table
          caption="Last disconnections"
          saveAs="disconnections"
          columns={COLUMNS}
          rows={disconnections}
          rowKey={({ at }) => String(at)}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Disconnection>[] = [
  {
    head: 'Offline since',
    isName: true,
    below: ({ reason }) => linkEndLabel(reason),
    cell: ({ at }) => <Ago at={at} />,
  },
  { head: 'Reason', kind: 'grow', ifWide: true, cell: ({ reason }) => linkEndLabel(reason) },
  {
    head: 'For',
    kind: 'number',
    cell: (one) => <Lasted disconnection={one} />,
  },
];

function Lasted({
  disconnection: { at, back_at: back },
}: {
  readonly disconnection: Disconnection;
}) {
  return <>{back === null ? 'until now' : formatMs(Math.max(0, back - at))}</>;
}

/** From 0 to 1; null if nothing is known of the day. */
function shareOf({ online_ms: online, known_ms: known }: Day): number | null {
  return known === 0 ? null : online / known;
}

/** Shorter times offline, such as a restart of the coordinator, do not colour a day. */
const WHOLE = 0.99;

function classOf(day: Day): string {
  const share = shareOf(day);
  if (share === null) return 'unknown';
  if (share >= WHOLE) return 'whole';
  return share > 0 ? 'part' : 'none';
}

/** `31 May: online 98 % of the time` */
function textOf(day: Day): string {
  const share = shareOf(day);
  const name = formatPeriod('day', day.day);
  return share === null ? `${name}: not known` : `${name}: online ${percentOf(share)} of the time`;
}

function sentenceOf(days: readonly Day[]): string {
  const known = days.reduce((sum, { known_ms: ms }) => sum + ms, 0);
  if (known === 0) return 'It has not been online since this is recorded.';
  const online = days.reduce((sum, { online_ms: ms }) => sum + ms, 0);
  const count = days.filter(({ known_ms: ms }) => ms > 0).length;
  const span = count === 1 ? 'today' : `in the last ${count} days`;
  return `Online ${percentOf(online / known)} of the time ${span}.`;
}

/** Only what is whole is 100 %. */
function percentOf(share: number): string {
  const percent = Math.floor(share * 1_000) / 10;
  return `${percent >= 100 || percent === 0 ? Math.round(percent) : percent.toFixed(1)} %`;
}
