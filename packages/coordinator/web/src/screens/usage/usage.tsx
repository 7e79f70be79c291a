import { useMy } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { Page } from '../../ui/page.js';
import { KEY_VARIABLE, snippetOf } from '../../ui/snippets/snippets.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { Figures } from './figures.js';
import { GroupTable } from './group-table.js';
import { OverTime, usePoints } from './over-time.js';
import type { UseSeries } from './over-time.js';
import { RecentRequests } from './recent-requests.js';
import { SPANS } from './usage-data.js';
import { FilterBar, useUsageFilters } from './usage-filters.js';
import './usage.css';

const EVERY_MS = 5_000;

export function Usage() {
  const filters = useUsageFilters();
  const { given, by, span, measure } = filters;
  const { step, seconds } = SPANS[span];
  const useSeries: UseSeries = (series) => {
    const args = { given, step, since_s: seconds, ...series };
    return usePoints(span, useMy('usage.series', args, { everyMs: EVERY_MS }));
  };
  const stats = useMy('stats.show', { given, by, since_s: seconds }, { everyMs: EVERY_MS });
  const { data: points } = useSeries({ by: 'day', model: null });
  const { data, fault } = stats;
  return (
    <Page title="Usage" staleSince={stats.staleSince}>
      <FilterBar filters={filters} />
      {(data !== undefined || fault === null) && <Figures points={points} />}
      <Loaded of={stats}>
        {(rows) =>
          rows.length === 0 ? (
            <NoUsage given={given} />
          ) : (
            <>
              <OverTime span={span} measure={measure} useSeries={useSeries} />
              <GroupTable
                by={by}
                stats={rows}
                seconds={seconds}
                fileName={`usage-${given ? 'given' : 'received'}-${span}-by-${by}`}
              />
            </>
          )
        }
      </Loaded>
      {/* Rendered after the sums have loaded: they would push it down. */}
      {!given && (data !== undefined || fault !== null) && <RecentRequests />}
    </Page>
  );
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
