import { useAdmin } from '../../api/commands.js';
import { SelectField } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { Figures } from '../usage/figures.js';
import { GroupTable } from '../usage/group-table.js';
import { OverTime, usePoints } from '../usage/over-time.js';
import type { UseSeries } from '../usage/over-time.js';
import { SPANS } from '../usage/usage-data.js';
import '../usage/usage.css';
import { SpanPicker, useChartFilters } from '../usage/usage-filters.js';

const GROUPS = [
  { value: 'member', label: 'Member' },
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'key', label: 'Key' },
  { value: 'source', label: 'Source' },
  { value: 'endpoint', label: 'Endpoint' },
] as const;

/** The table reads the days of all members, keys and providers. */
const EVERY_MS = 10_000;
const CHART_EVERY_MS = 5_000;

/** The usage of all members. */
export function UsageOfAll() {
  const { span, measure } = useChartFilters();
  const [grouped, setBy] = useQuery('by');
  const by = GROUPS.find(({ value }) => value === grouped)?.value ?? 'member';
  const { step, seconds } = SPANS[span];
  const useSeries: UseSeries = (series) => {
    const args = { user: null, step, since_s: seconds, ...series };
    return usePoints(span, useAdmin('usage.series', args, { everyMs: CHART_EVERY_MS }));
  };
  const args = { user: null, by, since_s: seconds };
  const stats = useAdmin('stats.show', args, { everyMs: EVERY_MS });
  const { data: points } = useSeries({ by: 'day', model: null });
  const { data, fault } = stats;
  return (
    <>
      <div class="usage-filters">
        <SpanPicker span={span} />
        <SelectField label="By" value={by} options={GROUPS} onValue={setBy} />
      </div>
      {(data !== undefined || fault === null) && <Figures points={points} />}
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
              <OverTime span={span} measure={measure} useSeries={useSeries} />
              <GroupTable
                by={by}
                stats={rows}
                seconds={seconds}
                fileName={`usage-all-${span}-by-${by}`}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}
