import type { Database } from 'better-sqlite3';
import type { JobStatus } from '../../../core/jobs/job.js';
import type { JobQuery, ListOrder } from '../../port.js';
import { JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { pageStart } from './page-start.js';

/**
 * Holds for every job where nothing is asked for. It is looked at along the index of the list until
 * a page is full: at worst nothing fits, and the index of all of a member's jobs is read, which
 * test/web/many-jobs.test.ts keeps under 50 ms for 10,000 of them. `instr` knows no wildcards. Both
 * sides are `lower` as SQLite has it, which leaves all but A to Z alone: with JavaScript's, Ä would
 * not find itself.
 */
const FITS = `(@endpoints is null or endpoint in (select value from json_each(@endpoints)))
       and (@model is null or instr(lower(model), lower(@model)) > 0)`;

interface Page {
  readonly memberId: string | null;
  readonly status: JobStatus | null;
  /** A JSON array. */
  readonly endpoints: string | null;
  readonly model: string | null;
  /** Only jobs behind this id. */
  readonly start: string;
  readonly limit: number;
}

/** One statement for each index that lists are read from: one for all could use none of them. */
export function jobLister(database: Database): Operations['listJobs'] {
  const lists = { asc: statementsOf(database, 'asc'), desc: statementsOf(database, 'desc') };
  const startOf = pageStart(database, 'jobs');
  return (query) => {
    const start = startOf(query, query.order);
    return start === null ? [] : read(query, start).map(toJob);
  };

  function read(query: JobQuery, start: string): JobRow[] {
    const { memberId, statuses, order, limit } = query;
    const page = firstPage(query, start);
    const { all, ofMember, ofStatus, ofBoth } = lists[order];
    if (statuses === null) return (memberId === null ? all : ofMember).all(page);
    // Those of one status lie side by side in the index, those of several do not.
    const read = memberId === null ? ofStatus : ofBoth;
    const rows = [...new Set(statuses)].flatMap((status) => read.all({ ...page, status }));
    const isFirst = order === 'asc' ? isOlder : isNewer;
    return rows.toSorted((a, b) => (isFirst(a, b) ? -1 : 1)).slice(0, limit);
  }
}

function firstPage({ memberId, endpoints, model, limit }: JobQuery, start: string): Page {
  const wanted = endpoints === null ? null : JSON.stringify(endpoints);
  return { memberId, status: null, endpoints: wanted, model, start, limit };
}

function statementsOf(database: Database, order: ListOrder) {
  const behind = order === 'asc' ? '>' : '<';
  const prepare = (condition: string) =>
    database.prepare<Page, JobRow>(
      `select ${JOB_COLUMNS} from jobs where ${condition} id ${behind} @start
       and ${FITS}
       order by id ${order} limit @limit`,
    );
  return {
    all: prepare(''),
    ofStatus: prepare('status = @status and'),
    ofMember: prepare('member_id = @memberId and'),
    ofBoth: prepare('member_id = @memberId and status = @status and'),
  };
}

function isOlder(a: JobRow, b: JobRow): boolean {
  return a.id < b.id;
}

function isNewer(a: JobRow, b: JobRow): boolean {
  return a.id > b.id;
}
