import { useMy } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { sinceOf } from '../../ui/text/last-days.js';
import { Page } from '../../ui/page.js';
import { KEY_VARIABLE, snippetOf } from '../../ui/snippets/snippets.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { DayByDay } from './day-by-day.js';
import { Figures } from './figures.js';
import { GroupTable } from './group-table.js';
import { RecentRequests } from './recent-requests.js';
import type { Stat } from './usage-data.js';
import { FilterBar, useUsageFilters } from './usage-filters.js';
import type { UsageFilters } from './usage-filters.js';
import './usage.css';

const EVERY_MS = 5_000;
/** A chart of whole days changes slowly. */
const CHART_EVERY_MS = 30_000;

export function Usage() {
  const filters = useUsageFilters();
  const { given, by, days } = filters;
  const args = { given, by, since_s: sinceOf(days) };
  const stats = useMy('stats.show', args, { everyMs: EVERY_MS });
  const { data, fault } = stats;
  return (
    <Page title="Usage" staleSince={stats.staleSince}>
      <FilterBar filters={filters} />
      {(data !== undefined || fault === null) && <Figures stats={data} />}
      <Loaded of={stats}>
        {(rows) =>
          rows.length === 0 ? <NoUsage given={given} /> : <Sums stats={rows} filters={filters} />
        }
      </Loaded>
      {/* Rendered after the sums have loaded: they would push it down. */}
      {!given && (data !== undefined || fault !== null) && <RecentRequests />}
    </Page>
  );
}

interface SumsProps {
  readonly stats: readonly Stat[];
  readonly filters: UsageFilters;
}

function Sums({ stats, filters }: SumsProps) {
  const { period, by, given } = filters;
  const side = given ? 'given' : 'received';
  return (
    <>
      {filters.days > 1 && <MyDays filters={filters} />}
      <GroupTable title={`By ${by}`} stats={stats} fileName={`usage-${side}-${period}-by-${by}`} />
    </>
  );
}

function MyDays({ filters: { given, by, days, measure } }: Pick<SumsProps, 'filters'>) {
  const args = { given, by, since_s: sinceOf(days) };
  const { data, fault } = useMy('usage.series', args, { everyMs: CHART_EVERY_MS });
  return <DayByDay points={data} fault={fault} days={days} measure={measure} />;
}

function NoUsage({ given }: { readonly given: boolean }) {
  if (given) {
    return (
      <Empty
        icon="chart-column"
        title="Your providers have answered nothing in this time."
        text="What they do for you and for others is counted here."
      />
    );
  }
  const { base_url: baseUrl } = currentSession().gateway;
  const body = { model: 'MODEL', messages: [{ role: 'user', content: 'Hello' }] };
  const call = { baseUrl, key: KEY_VARIABLE, endpoint: 'chat', body } as const;
  return (
    <Empty icon="chart-column" title="No calls in this time." text="A first call, ready to paste:">
      <Code text={snippetOf('curl', call)} label="Copy the command" />
    </Empty>
  );
}
