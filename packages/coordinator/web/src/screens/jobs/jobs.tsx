import { useState } from 'preact/hooks';
import { JOBS } from '../../api/jobs.js';
import type { Job } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import { LinkButton } from '../../ui/button.js';
import { Loaded } from '../../ui/loaded.js';
import { LoadMore } from '../../ui/load-more.js';
import { Page } from '../../ui/page.js';
import { NoMatch } from '../../ui/states.js';
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
  if (jobs.length === 0 && !filter.isSet) return <NoJobs />;
  const shown = jobs.filter(filter.fits);
  const picked = shown.filter(({ id }) => chosen.has(id));
  return (
    <>
      {picked.length > 0 && <BulkBar jobs={picked} onChoose={setChosen} onChange={pages.refresh} />}
      {shown.length === 0 ? (
        <NoMatch what="jobs" onClear={filter.clear} />
      ) : (
        <JobTable jobs={shown} chosen={chosen} onChoose={setChosen} />
      )}
      <ListFoot jobs={jobs} filter={filter} pages={pages} shown={shown.length} />
    </>
  );
}

function ListFoot({ jobs, filter, pages, shown }: JobListProps & { readonly shown: number }) {
  // What the coordinator is not asked for is looked for in what is here, and that is said.
  if (filter.isOfLoaded && pages.hasMore) {
    return (
      <>
        <p class="soft small list-foot">
          {shown} of the {jobs.length} jobs loaded so far match. Older ones may match too.
        </p>
        <LoadMore pages={pages} what="job" />
      </>
    );
  }
  return shown === 0 ? null : <LoadMore pages={pages} what="job" />;
}
