import { useState } from 'preact/hooks';
import { JOBS } from '../../api/jobs.js';
import type { Job } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import { LinkButton } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { Page } from '../../ui/page.js';
import { NoMatch } from '../../ui/table/states.js';
import { BulkBar } from './bulk-bar.js';
import { FilterBar } from './filter-bar.js';
import { useJobFilter } from './job-filter.js';
import type { JobFilter } from './job-filter.js';
import { JobTable } from './job-table.js';
import './jobs.css';
import { NoJobs } from './no-jobs.js';

const PAGE_ROWS = 100;

export function Jobs() {
  const filter = useJobFilter();
  const url = `${JOBS}?limit=${PAGE_ROWS}${filter.asked}`;
  const pages = usePages<Job>(url, { topics: ['jobs'] });
  const actions = <LinkButton href="/batches">Batches</LinkButton>;
  return (
    <Page title="Jobs" staleSince={pages.staleSince} actions={actions}>
      <FilterBar filter={filter} />
      <Loaded of={pages} rows={10}>
        {(jobs) => <JobList key={url} jobs={jobs} filter={filter} pages={pages} />}
      </Loaded>
    </Page>
  );
}

interface JobListProps {
  readonly jobs: readonly Job[];
  readonly filter: JobFilter;
  readonly pages: ReturnType<typeof usePages<Job>>;
}

function JobList({ jobs, filter, pages }: JobListProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  if (jobs.length === 0 && filter.asked === '') return <NoJobs />;
  if (jobs.length === 0) return <NoMatch what="jobs" onClear={filter.clear} />;
  const picked = jobs.filter(({ id }) => chosen.has(id));
  return (
    <>
      {picked.length > 0 && <BulkBar jobs={picked} onChoose={setChosen} onChange={pages.refresh} />}
      <JobTable jobs={jobs} chosen={chosen} onChoose={setChosen} />
      <LoadMore pages={pages} what="job" />
    </>
  );
}
