import { useState } from 'preact/hooks';
import { INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import { EVERY_JOB } from '../../api/bulk-jobs.js';
import type { BulkVerb, JobFilters } from '../../api/bulk-jobs.js';
import { JOBS, JOB_STATUSES, isActive, isRetryable } from '../../api/jobs.js';
import type { Job } from '../../api/jobs.js';
import { usePages } from '../../api/pages.js';
import { LinkButton, Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { Page } from '../../ui/page.js';
import { NoMatch, Empty } from '../../ui/table/states.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { KEY_VARIABLE, snippetOf } from '../../ui/snippets/snippets.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import { useClearQuery, useQuery, useSettled } from '../../ui/form/query.js';
import { BulkConfirm } from '../../ui/dialog/bulk-confirm.js';
import { plural } from '../../ui/text/format.js';
import { statusLabel, typeLabel } from '../../ui/text/labels.js';
import { SelectionBar } from '../../ui/table/selection-bar.js';
import { JobTable } from './job-table.js';
import type { Choose } from './job-table.js';
import './jobs.css';

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
  if (jobs.length === 0) {
    return (
      <>
        <NoMatch what={pages.hasMore ? 'jobs searched so far' : 'jobs'} onClear={filter.clear} />
        {pages.hasMore && <LoadMore pages={pages} what="job" />}
      </>
    );
  }
  const picked = jobs.filter(({ id }) => chosen.has(id));
  return (
    <>
      {picked.length > 0 && (
        <BulkBar
          jobs={picked}
          filter={picked.length === jobs.length && pages.hasMore ? filter : null}
          onChoose={setChosen}
          onChange={pages.refresh}
        />
      )}
      <JobTable jobs={jobs} pages={pages} chosen={chosen} onChoose={setChosen} />
      <LoadMore pages={pages} what="job" />
    </>
  );
}

/** Shows a call that can be pasted and creates the first job. */
function NoJobs() {
  const text = snippetOf('curl', {
    baseUrl: currentSession().gateway.base_url,
    key: KEY_VARIABLE,
    endpoint: 'chat',
    body: {
      model: 'MODEL',
      messages: [{ role: 'user', content: 'Say hello.' }],
      async: true,
    },
  });
  return (
    <Empty icon="list-checks" title="No jobs yet." text={NEXT}>
      <Code text={text} label="Copy the snippet" />
      <LinkButton href="/playground">Submit one from the Playground</LinkButton>
    </Empty>
  );
}

const NEXT =
  'Any call with async: true becomes a job: it waits for a free slot, and its result is kept ' +
  'here. Replace MODEL with one of your models.';

const STATUS_OPTIONS = [
  { value: '', label: 'Any status' },
  { value: 'active', label: 'Queued or running' },
  ...JOB_STATUSES.map((value) => ({ value, label: statusLabel(value) })),
];

const TYPE_OPTIONS = [
  { value: '', label: 'Any type' },
  ...INFERENCE_TYPES.map((value) => ({ value, label: typeLabel(value) })),
];

/** The coordinator's limits for searched texts. */
const MAX_MODEL_CHARACTERS = 256;
const MAX_SEARCH_CHARACTERS = 100;

function FilterBar({ filter }: { readonly filter: JobFilter }) {
  const { status, type, model, search, setStatus, setType, setModel, setSearch } = filter;
  return (
    <search class="filter-bar">
      <TextField
        label="Search"
        type="search"
        placeholder="What you asked, a batch, an id of yours"
        maxLength={MAX_SEARCH_CHARACTERS}
        value={search}
        onValue={setSearch}
      />
      <SelectField label="Status" value={status} options={STATUS_OPTIONS} onValue={setStatus} />
      <SelectField label="Type" value={type} options={TYPE_OPTIONS} onValue={setType} />
      <TextField
        label="Model"
        type="search"
        placeholder="Part of its name"
        maxLength={MAX_MODEL_CHARACTERS}
        value={model}
        onValue={setModel}
      />
      <Button
        tone="quiet"
        icon="x"
        disabled={filter.asked === '' && model === '' && search === ''}
        onClick={filter.clear}
      >
        Clear
      </Button>
    </search>
  );
}

// The filters of the list, as in the URL.
interface JobFilter {
  /** A status, `active`, or empty for all. */
  readonly status: string;
  /** Empty for all. */
  readonly type: string;
  /** As typed, before the pause. */
  readonly model: string;
  /** A part of the names of jobs, as typed. */
  readonly search: string;
  readonly setStatus: (value: string) => void;
  readonly setType: (value: string) => void;
  readonly setModel: (value: string) => void;
  readonly setSearch: (value: string) => void;
  readonly clear: () => void;
  /** The query parameters after `limit`; empty without filters. */
  readonly asked: string;
  /** The same for commands; `active` is no status there. */
  readonly where: JobFilters;
}

function useJobFilter(): JobFilter {
  const [written, setWritten] = useQuery('status');
  const [active, setActive] = useQuery('active');
  const [writtenType, setType] = useQuery('type');
  const [model, setModel] = useQuery('model');
  const [search, setSearch] = useQuery('search');
  const clear = useClearQuery();
  const status = active === '1' ? 'active' : known(JOB_STATUSES, written);
  const setStatus = (value: string): void => {
    setActive(value === 'active' ? '1' : '');
    setWritten(value === 'active' ? '' : value);
  };
  const type = known(INFERENCE_TYPES, writtenType);
  const asked = { model: useSettled(model).trim(), search: useSettled(search).trim() };
  return {
    status,
    type,
    model,
    search,
    setStatus,
    setType,
    setModel,
    setSearch,
    clear,
    asked: askedFor({ status, type, ...asked }),
    where: {
      ...EVERY_JOB,
      status: JOB_STATUSES.find((one) => one === status) ?? null,
      type: INFERENCE_TYPES.find((one) => one === type) ?? null,
      model: asked.model === '' ? null : asked.model,
      search: asked.search === '' ? null : asked.search,
    },
  };
}

/** The URL may have been typed by hand: unknown values are ignored. */
function known(values: readonly string[], written: string): string {
  return values.includes(written) ? written : '';
}

type Asked = Pick<JobFilter, 'status' | 'type' | 'model' | 'search'>;

function askedFor({ status, type, model, search }: Asked): string {
  const asked = new URLSearchParams();
  if (status === 'active') asked.set('active', '1');
  else if (status !== '') asked.set('status', status);
  if (type !== '') asked.set('type', type);
  if (model !== '') asked.set('model', model);
  if (search !== '') asked.set('search', search);
  return asked.size === 0 ? '' : `&${asked}`;
}

interface BulkBarProps {
  /** The selected jobs. */
  readonly jobs: readonly Job[];
  /** The filter, if all that it lists are selected and it lists more; else null. */
  readonly filter: JobFilter | null;
  readonly onChoose: Choose;
  readonly onChange: () => Promise<void>;
}

function BulkBar({ jobs, filter, onChoose, onChange }: BulkBarProps) {
  const [verb, setVerb] = useState<BulkVerb | null>(null);
  const [isEvery, setEvery] = useState(false);
  const every = isEvery ? filter : null;
  const changeable = { cancel: jobs.filter(isActive), retry: jobs.filter(isRetryable) };
  const { cancel, retry } = changeable;
  const done = async (): Promise<void> => {
    onChoose(new Set());
    await onChange();
  };
  return (
    <SelectionBar
      what="jobs"
      count={every === null ? plural(jobs.length, 'job') : 'All jobs that match'}
      onClear={() => onChoose(new Set())}
    >
      {filter !== null && !isEvery && (
        <Button small onClick={() => setEvery(true)}>
          Select all that match
        </Button>
      )}
      <Button
        small
        icon="rotate-ccw"
        disabled={every === null ? retry.length === 0 : !couldBe(RETRYABLE, every)}
        onClick={() => setVerb('retry')}
      >
        {every === null ? `Retry ${retry.length}` : 'Retry all'}
      </Button>
      <Button
        small
        tone="danger"
        icon="ban"
        disabled={every === null ? cancel.length === 0 : !couldBe(ACTIVE, every)}
        onClick={() => setVerb('cancel')}
      >
        {every === null ? `Cancel ${cancel.length}` : 'Cancel all'}
      </Button>
      {verb !== null && (
        <BulkConfirm
          verb={verb}
          jobs={every === null ? { ids: changeable[verb].map(idOf) } : { where: every.where }}
          count={every === null ? changeable[verb].length : null}
          onDone={done}
          onClose={() => setVerb(null)}
        />
      )}
    </SelectionBar>
  );
}

const ACTIVE = ['active', 'QUEUED', 'PROCESSING'];
const RETRYABLE = ['FAILED', 'CANCELED'];

/** Whether jobs that the filter lists may have one of these statuses. */
function couldBe(statuses: readonly string[], { status }: JobFilter): boolean {
  return status === '' || statuses.includes(status);
}

function idOf({ id }: Job): string {
  return id;
}
