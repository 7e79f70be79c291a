/** How SQLite runs the dispatcher's statements: none may read the whole table. */
import { AuditTrail } from '@inference-gateway/coordinator/store/sqlite/engine/audit-trail';
import {
  dispatchOperations,
  LANE_HEAD,
  NEXT_LANES,
} from '@inference-gateway/coordinator/store/sqlite/jobs/dispatch';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/engine/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/engine/migrations';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

type Database = ReturnType<typeof openDatabase>;

test('lanes are found by skipping from one to the next, their jobs in order', async () => {
  const database = await openTables();
  expect(NEXT_LANES.flatMap((sql) => planOf(database, sql))).toEqual([
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model=? AND lane>?)',
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model>?)',
    'SEARCH jobs USING INDEX jobs_runnable (service_type>?)',
  ]);
  expect(planOf(database, LANE_HEAD)).toEqual([
    'SEARCH jobs USING INDEX jobs_runnable (service_type=? AND model=? AND lane=?)',
  ]);
});

test('no operation reads all jobs, all of a status, or sorts what it reads', async () => {
  const database = await openTables();
  const plans = statementsOf(database).map((sql) => [sql, planOf(database, sql)] as const);
  expect(plans.length).toBeGreaterThan(20);
  const slow = plans.filter(([, plan]) => plan.some(isSlow));
  expect(slow).toEqual([]);
});

/**
 * A scan of the index of held jobs is allowed: it has few rows, and its readers need all of them.
 */
function isSlow(step: string): boolean {
  if (step === 'SCAN jobs USING INDEX jobs_held') return false;
  return /^SCAN (jobs|j)\b|jobs_status|FOR ORDER BY/.test(step);
}

async function openTables(): Promise<Database> {
  const database = openDatabase(join(await temporaryFolder(), 'test.db'));
  onTestFinished(() => void database.close());
  migrate(database);
  return database;
}

/** The statements that the operations prepare. */
function statementsOf(database: Database): string[] {
  const statements: string[] = [];
  const spy = new Proxy(database, {
    get: (target, name) => {
      if (name !== 'prepare') return Reflect.get(target, name) as unknown;
      return (sql: string) => {
        statements.push(sql);
        return target.prepare(sql);
      };
    },
  });
  dispatchOperations(spy, new AuditTrail(), 'node');
  return statements;
}

function planOf(database: Database, sql: string): string[] {
  const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1]));
  const unnamed = [...sql.matchAll(/\?/g)].map(() => 1);
  const explain = database.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
  return explain.all(...unnamed, named).map(({ detail }) => detail);
}
