/**
 * A queue of 200,000 jobs and a table of a million must not slow any call, so no statement may scan
 * them. Query plans on empty tables already show that, and do not depend on the data.
 */
import { OPERATIONS } from '@inference-gateway/coordinator/store/operations/all';
import { SYSTEM } from '@inference-gateway/coordinator/store/operations/audit/audit-trail';
import { STATEMENTS } from '@inference-gateway/coordinator/store/operations/statement';
import type { Operation } from '@inference-gateway/coordinator/store/operations/statement';
import { carryOutOn } from '@inference-gateway/coordinator/store/sqlite/carry-out';
import { expect, test } from 'vitest';
import { BROKEN, NEWEST_JOBS } from './job-rows.js';
import { emptyDatabase, planOf, sqliteTexts, textWith } from './statement-plans.js';
import type { Database } from './statement-plans.js';

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
const NAMES = LONG_TABLES.join('|');

/** The indexes that a statement with this part reads. */
const INDEXES = {
  'batch_id = @id order by batch_index': ['jobs_batch'],
  'id from jobs where finished_at < @finishedBefore': ['jobs_finished'],
  '(fair_key, id) >= (@fromKey, @fromId)': ['jobs_order'],
  '(fair_key, id) >= (@key, @id)': ['jobs_order'],
  'from batches where member_id = @memberId and': ['batches_member', 'jobs_batch'],
};

/** Statements that may scan one. */
const EXPECTED = [
  // The held jobs: few, and all are wanted.
  'from jobs indexed by jobs_held',
  // How far the upkeep is behind, and the oldest rows, which it deletes.
  'select count(*) from usage where at < @before',
  'select rowid, at from usage order by rowid limit 10000',
  // One row for each member's queue.
  'from queue_counts c where member_id = @memberId or @memberId is null',
];

test('no statement of any operation scans a long table', async () => {
  const database = await emptyDatabase();
  const statements = sqliteTexts();
  expect(statements.length).toBeGreaterThan(250);
  const scanning = statements.filter((sql) => scansOf(database, sql).length > 0);
  const isExpected = (sql: string) => EXPECTED.some((part) => sql.includes(part));
  expect(scanning.filter((sql) => !isExpected(sql))).toEqual([]);
  expect(EXPECTED.filter((part) => !scanning.some((sql) => sql.includes(part)))).toEqual([]);
});

test('on PostgreSQL no statement joins two lists: it takes each for a thousand values', () => {
  const of = { kind: 'gateway' } as const;
  const query = { step: 'hour', since: 0, until: 0, of, model: null, durations: [] } as const;
  // Made when it is first asked for.
  OPERATIONS.usagePeriods({ ...query, models: null }).next();
  const ranked = OPERATIONS.usagePeriods({ ...query, models: { count: 1, by: 'requests' } });
  for (const answer of [undefined, []]) ranked.next(answer);
  const texts = STATEMENTS.map(({ text }) => (typeof text === 'string' ? text : text.postgres));
  // Other tests of this process may have made more.
  const ofPeriods = texts.filter((sql) => sql.includes('from usage_periods u'));
  expect(ofPeriods.length).toBeGreaterThanOrEqual(3);
  const joins = /json_each\(@\w+\) (as )?\w+\s+cross join json_each/;
  expect(texts.filter((sql) => joins.test(sql))).toEqual([]);
});

test('a scan would be seen', async () => {
  const database = await emptyDatabase();
  const condition = 'where attempt = @attempt';
  expect(scansOf(database, `select * from jobs ${condition}`)).toEqual(['SCAN jobs']);
  expect(scansOf(database, `select * from jobs as j ${condition}`)).toEqual(['SCAN j']);
});

test('lists, queue positions and counts come from their index in its order', async () => {
  const database = await emptyDatabase();
  const statements = sqliteTexts().filter((sql) => /order by|count\(/.test(sql));
  for (const [part, indexes] of Object.entries(INDEXES)) {
    const plan = planOf(database, textWith(part)).join('\n');
    expect(plan.match(/\b(?:jobs|batches)_\w+/g)).toEqual(indexes);
  }
  const pages = statements.filter((sql) => /id [<>] @start/.test(sql));
  expect(pages).toHaveLength(14);
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
  const lists = sqliteTexts().filter((sql) => sql.includes('@endpoints'));
  const searches = lists.flatMap((sql) =>
    planOf(database, sql).filter((step) => /^(SEARCH|SCAN) jobs\b/.test(step)),
  );
  expect(searches.toSorted()).toEqual(
    [
      ...along('jobs_member', 'member_id=? AND '),
      ...along('jobs_member_status', 'member_id=? AND status=? AND '),
      ...along('jobs_status', 'status=? AND '),
      ...along('sqlite_autoindex_jobs_1', ''),
      // Counts, which have no order.
      'SEARCH jobs USING INDEX jobs_member_status (member_id=? AND status=? AND id>?)',
      'SEARCH jobs USING INDEX jobs_status (status=? AND id>?)',
    ].toSorted(),
  );
});

test('due webhooks are found member by member, by their index', async () => {
  const database = await emptyDatabase();
  const statements = sqliteTexts();
  const due = statements.filter((sql) => sql.includes('recursive callers'));
  expect(due).toHaveLength(1);
  const plan = due.flatMap((sql) => planOf(database, sql)).join('\n');
  expect(plan).toMatch(/webhook_deliveries_member \(member_id>\?\)/);
  expect(plan).toMatch(/webhook_deliveries_member \(member_id=\? AND next_at<\?\)/);
  expect(plan).toContain('SEARCH message');
});

test('every statement is prepared once, when it is first used', async () => {
  const database = await emptyDatabase();
  let prepared = 0;
  const carryOut = carryOutOn(watched(database, () => prepared++));
  const runAll = (): void => {
    for (const operation of eachOnce()) {
      carryOut<unknown>(operation, { actor: SYSTEM, at: 0, nodeId: 'node' });
    }
  };
  runAll();
  const before = [prepared, STATEMENTS.length];
  runAll();
  expect([prepared, STATEMENTS.length]).toEqual(before);
  expect(prepared).toBeGreaterThan(12);
});

function eachOnce(): Operation<unknown>[] {
  const page = { memberId: null, after: null, limit: 1 };
  return [
    OPERATIONS.listJobs({ ...NEWEST_JOBS, statuses: ['QUEUED'], order: 'asc' }),
    OPERATIONS.findJob('id', null),
    OPERATIONS.queuePositions(['id']),
    OPERATIONS.cancelJob('id', null, 1),
    OPERATIONS.retryJob('id', null, { jobs: 1, bytes: 1 }, 1),
    OPERATIONS.deleteOldJobs(1, 1),
    OPERATIONS.listBatches(page),
    OPERATIONS.cancelBatch('id', null, 1),
    OPERATIONS.dueWebhooks(1, 1),
    OPERATIONS.nextWebhookAt(),
    OPERATIONS.laneHeads(1),
    OPERATIONS.sweepLeases({ error: BROKEN, random: 0, limit: 1 }, 1),
    OPERATIONS.ripenJobs(1),
  ];
}

/** Searches along an index in both orders, after columns with fixed values, between two ids. */
function along(index: string, fixed: string): string[] {
  const search = `SEARCH jobs USING INDEX ${index} (${fixed}id>? AND id<?)`;
  return [search, search];
}

/** The steps that scan a long table, by its name or an alias. */
function scansOf(database: Database, sql: string): string[] {
  const aliases = [...sql.matchAll(new RegExp(`\\b(?:${NAMES})\\s+(?:as\\s+)?(\\w+)`, 'g'))];
  const names = [NAMES, ...aliases.map(([, alias]) => alias)].join('|');
  const scan = new RegExp(`^SCAN (?:${names})\\b`);
  return planOf(database, sql).filter((step) => scan.test(step));
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
