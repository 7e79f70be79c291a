/**
 * A queue of 200,000 jobs and a table of a million must not slow any call, so no statement may scan
 * them. Query plans on empty tables already show that, and do not depend on the data.
 */
import { batchOperations } from '@inference-gateway/coordinator/store/sqlite/jobs/batches';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/engine/database';
import { jobOperations } from '@inference-gateway/coordinator/store/sqlite/jobs/jobs';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/engine/migrations';
import { webhookOperations } from '@inference-gateway/coordinator/store/sqlite/jobs/webhooks';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { NEWEST_JOBS } from './job-rows.js';

type Database = ReturnType<typeof openDatabase>;

const LONG_TABLES = [
  'jobs',
  'batches',
  'job_bodies',
  'job_results',
  'job_assets',
  'assets',
  'idempotency_keys',
  'queue_counts',
  'webhooks',
  'webhook_deliveries',
  'usage',
];
const SCAN = new RegExp(`^SCAN (${LONG_TABLES.join('|')})\\b`);

test.each([
  ['jobs', jobOperations],
  ['batches', batchOperations],
  ['webhooks', webhookOperations],
])('no statement of the operations on %s scans a table', async (_, operations) => {
  const database = await emptyDatabase();
  const statements = statementsOf(database, operations);
  expect(statements.length).toBeGreaterThan(3);
  const scans = statements.flatMap((sql) =>
    planOf(database, sql).filter((step) => SCAN.test(step)),
  );
  expect(scans).toEqual([]);
});

test('a scan would be seen', async () => {
  const database = await emptyDatabase();
  expect(planOf(database, 'select * from jobs where attempt = @attempt')).toEqual(['SCAN jobs']);
});

test('lists, queue positions and counts come from their index in its order', async () => {
  const database = await emptyDatabase();
  const statements = [jobOperations, batchOperations].flatMap((operations) =>
    statementsOf(database, operations).filter((sql) => /order by|count\(/.test(sql)),
  );
  const plans = statements.map((sql) => planOf(database, sql));
  const indexes =
    plans
      .flat()
      .join('\n')
      .match(/\b(?:jobs|batches)_\w+/g) ?? [];
  expect([...new Set(indexes)]).toEqual(
    expect.arrayContaining([
      'jobs_member',
      'jobs_member_status',
      'jobs_status',
      'jobs_order',
      'jobs_batch',
      'jobs_finished',
      'batches_member',
    ]),
  );
  const pages = statements.filter((sql) => /id [<>] @start/.test(sql));
  expect(pages).toHaveLength(10);
  for (const sql of pages) expect(planOf(database, sql).join('\n')).not.toContain('ORDER BY');
  const positions = statements.filter((sql) => sql.includes('@fromKey'));
  expect(positions).toHaveLength(1);
  for (const sql of positions) {
    const plan = planOf(database, sql);
    expect(plan.join('\n')).not.toContain('ORDER BY');
    expect(plan.join('\n')).toContain('(fair_key,id)>(?,?) AND (fair_key,id)<(?,?)');
  }
});

test('a list that is filtered by model is read along the index of its order', async () => {
  const database = await emptyDatabase();
  const lists = statementsOf(database, jobOperations).filter((sql) => sql.includes('@endpoints'));
  const searches = lists.flatMap((sql) =>
    planOf(database, sql).filter((step) => /^(SEARCH|SCAN) jobs\b/.test(step)),
  );
  expect(searches.toSorted()).toEqual(
    [
      ...along('jobs_member', 'member_id=? AND '),
      ...along('jobs_member_status', 'member_id=? AND status=? AND '),
      ...along('jobs_status', 'status=? AND '),
      ...along('sqlite_autoindex_jobs_1', ''),
    ].toSorted(),
  );
});

test('due webhooks are found member by member, by their index', async () => {
  const database = await emptyDatabase();
  const statements = statementsOf(database, webhookOperations);
  const due = statements.filter((sql) => sql.includes('recursive'));
  expect(due).toHaveLength(1);
  const plan = due.flatMap((sql) => planOf(database, sql)).join('\n');
  expect(plan).toMatch(/webhook_deliveries_member \(member_id>\?\)/);
  expect(plan).toMatch(/webhook_deliveries_member \(member_id=\? AND next_at<\?\)/);
  expect(plan).toContain('SEARCH message');
});

test('every statement is prepared once: operations themselves prepare none', async () => {
  const database = await emptyDatabase();
  let prepared = 0;
  const counting = watched(database, () => prepared++);
  const jobs = jobOperations(counting);
  const [batches, webhooks] = [batchOperations(counting), webhookOperations(counting)];
  const before = prepared;
  const page = { memberId: null, after: null, limit: 1 };
  jobs.listJobs({ ...NEWEST_JOBS, statuses: ['QUEUED'], order: 'asc' });
  jobs.findJob('id', null);
  jobs.queuePositions(['id']);
  jobs.cancelJob('id', null, 1);
  jobs.retryJob('id', null, { jobs: 1, bytes: 1 }, 1);
  jobs.deleteOldJobs(1, 1);
  batches.listBatches(page);
  batches.cancelBatch('id', null, 1);
  webhooks.dueWebhooks(1, 1);
  expect([prepared, before > 30]).toEqual([before, true]);
});

/** A search along an index in both orders, after columns with fixed values. */
function along(index: string, fixed: string): string[] {
  return ['<', '>'].map((behind) => `SEARCH jobs USING INDEX ${index} (${fixed}id${behind}?)`);
}

async function emptyDatabase(): Promise<Database> {
  const database = openDatabase(join(await temporaryFolder(), 'gateway.db'));
  onTestFinished(() => void database.close());
  migrate(database);
  return database;
}

function statementsOf(database: Database, operations: (database: Database) => unknown): string[] {
  const statements: string[] = [];
  operations(watched(database, (sql) => statements.push(sql)));
  return statements;
}

/** The same connection; `onPrepare` gets each statement that is prepared on it. */
function watched(database: Database, onPrepare: (sql: string) => void): Database {
  return new Proxy(database, {
    get: (target, name) => {
      if (name !== 'prepare') return Reflect.get(target, name, target);
      return (sql: string) => {
        onPrepare(sql);
        return target.prepare(sql);
      };
    },
  });
}

function planOf(database: Database, sql: string): string[] {
  const statement = database.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
  const named = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1]);
  const positional = [...sql.matchAll(/\?/g)].map(() => 1);
  const values = named.length > 0 ? [Object.fromEntries(named)] : positional;
  return statement.all(...values).map(({ detail }) => detail);
}
