import type { Database } from 'better-sqlite3';
import type { JobStatus } from '../../core/job.js';
import type { JobQuery } from '../port.js';
import { JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from './operations.js';
import { pageStart } from './page-start.js';

interface Page {
  readonly memberId: string | null;
  readonly status: JobStatus | null;
  /** Only jobs with a smaller id. */
  readonly before: string;
  readonly limit: number;
}

/** One statement for each index that lists are read from: one for all could use none of them. */
export function jobLister(database: Database): Operations['listJobs'] {
  const statements = {
    all: prepare(''),
    ofStatus: prepare('status = @status and'),
    ofMember: prepare('member_id = @memberId and'),
    ofBoth: prepare('member_id = @memberId and status = @status and'),
  };
  const startOf = pageStart(database, 'jobs');
  return (query) => {
    const before = startOf(query);
    return before === null ? [] : read(query, before).map(toJob);
  };

  function prepare(condition: string) {
    return database.prepare<Page, JobRow>(
      `select ${JOB_COLUMNS} from jobs where ${condition} id < @before
       order by id desc limit @limit`,
    );
  }

  function read({ memberId, limit, statuses }: JobQuery, before: string): JobRow[] {
    const page = { memberId, before, limit, status: null };
    const { all, ofMember, ofStatus, ofBoth } = statements;
    if (statuses === null) return (memberId === null ? all : ofMember).all(page);
    // The newest of each status lie side by side in the index, those of several do not.
    const read = memberId === null ? ofStatus : ofBoth;
    const rows = [...new Set(statuses)].flatMap((status) => read.all({ ...page, status }));
    return rows.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }
}
