/** How SQLite runs the dispatcher's statements: none may read the whole table. */
import {
  LANE_HEAD,
  NEXT_LANE,
} from '@inference-gateway/coordinator/store/operations/jobs/dispatch';
import { expect, test } from 'vitest';
import { emptyDatabase, planOf, sqliteTexts } from './statement-plans.js';

test('lanes are found by skipping from one to the next, their jobs in order', async () => {
  const database = await emptyDatabase();
  const steps = planOf(database, NEXT_LANE).filter((step) => step.startsWith('SEARCH jobs'));
  expect(steps).toEqual([
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model=? AND lane>?)',
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model>?)',
    'SEARCH jobs USING INDEX jobs_runnable (service_type>?)',
  ]);
  expect(planOf(database, LANE_HEAD)).toEqual([
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model=? AND lane=?)',
  ]);
});

test('no operation reads all jobs, all of a status, or sorts what it reads', async () => {
  const database = await emptyDatabase();
  const ofJobs = sqliteTexts().filter((sql) => /\b(?:from|join|into|update) jobs\b/.test(sql));
  expect(ofJobs).toEqual(expect.arrayContaining([NEXT_LANE, LANE_HEAD]));
  expect(ofJobs.length).toBeGreaterThan(40);
  const slow = ofJobs.filter((sql) => planOf(database, sql).some(isSlow));
  const isExpected = (sql: string) => EXPECTED.some((part) => part.test(sql));
  expect(slow.filter((sql) => !isExpected(sql))).toEqual([]);
  expect(EXPECTED.filter((part) => !ofJobs.some((sql) => part.test(sql)))).toEqual([]);
});

/** Statements of other operations than the dispatcher's. */
const EXPECTED = [
  // A page of the list of one status, in the order of its index.
  /where status = @status and id [<>] @start\b/,
  // The places of some given jobs.
  /where id in \(select value from json_each\(@jobIds\)\)/,
  // The open jobs of one batch, which are all needed.
  /where batch_id = @id and status in \('QUEUED', 'PROCESSING'\) order by id/,
  // Counts of jobs for one action on many, up to a limit.
  /^select count\(\*\) from \(\s+select id from jobs where status = @status and/,
  // The open jobs of one member by group: no more than the member may queue.
  /where member_id = @memberId and status in \('QUEUED', 'PROCESSING'\)\s+group by batch_id/,
  // What the providers of a deleted member run.
  /provider_id in \(select id from providers where owner_id = @id\)/,
];

/**
 * A scan of the index of held jobs is allowed: it has few rows, and its readers need all of them.
 * One job by its id is found by its status and its id, too.
 */
function isSlow(step: string): boolean {
  if (step === 'SCAN jobs USING INDEX jobs_held') return false;
  if (step === 'SEARCH jobs USING INDEX jobs_status (status=? AND id=?)') return false;
  return /^SCAN (jobs|j)\b|jobs_status|FOR ORDER BY/.test(step);
}
