import { useAdmin } from '../../api/commands.js';
import { Segments, SelectField } from '../../ui/form/field.js';
import { sinceOf } from '../../ui/text/last-days.js';
import { useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { DayByDay } from '../usage/day-by-day.js';
import { Figures } from '../usage/figures.js';
import { GroupTable } from '../usage/group-table.js';
import { MEASURES } from '../usage/usage-data.js';
import '../usage/usage.css';
import { DAYS, PERIODS } from '../usage/usage-filters.js';

const GROUPS = [
  { value: 'member', label: 'Member' },
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'key', label: 'Key' },
  { value: 'source', label: 'Source' },
  { value: 'endpoint', label: 'Endpoint' },
] as const;
type Group = (typeof GROUPS)[number]['value'];

const EVERY_MS = 2_000;

/** The usage of all members. */
export function UsageOfAll() {
  const [written, setPeriod] = useQuery('period');
  const [grouped, setBy] = useQuery('by');
  const period = PERIODS.find(({ value }) => value === written)?.value ?? 'week';
  const by = GROUPS.find(({ value }) => value === grouped)?.value ?? 'member';
  const days = DAYS[period];
  const args = { user: null, by, since_s: sinceOf(days) };
  const stats = useAdmin('stats.show', args, { everyMs: EVERY_MS });
  const { data, fault } = stats;
  return (
    <>
      <div class="usage-filters">
        <Segments label="Period" value={period} options={PERIODS} onValue={setPeriod} />
        <SelectField label="By" value={by} options={GROUPS} onValue={setBy} />
      </div>
      {(data !== undefined || fault === null) && <Figures stats={data} />}
      <Loaded of={stats}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              icon="chart-column"
              title="Nobody has called in this time."
              text="Every call of every member is counted here."
            />
          ) : (
            <>
              {days > 1 && <DaysOfAll by={by} days={days} />}
              <GroupTable
                title={`By ${by}`}
                stats={rows}
                fileName={`usage-all-${period}-by-${by}`}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function DaysOfAll({ by, days }: { readonly by: Group; readonly days: number }) {
  const [written] = useQuery('measure');
  const measure = MEASURES.find(({ value }) => value === written)?.value ?? 'requests';
  const args = { user: null, by, since_s: sinceOf(days) };
  const { data, fault } = useAdmin('usage.series', args, { everyMs: EVERY_MS * 6 });
  return <DayByDay points={data} fault={fault} days={days} measure={measure} />;
}
