import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Columns of members that no cache holds. */
const OWN = ['feed_hash', 'feed_made_at', 'excerpts', 'checklist_closed_at'];

/** Columns that no cache holds. */
const NOT_KEPT = {
  keys: {
    api_keys: ['id', 'last_used_at'],
    members: ['id', 'role', 'password_hash', 'created_at', ...OWN],
  },
  sharing: {
    members: 'id email role password_hash created_at rate_limit_requests max_concurrent quota'
      .split(' ')
      .concat(OWN),
    providers: ['id', 'token_hash', 'created_at', 'last_seen_at'],
    shares: [],
    aliases: [],
  },
};

const CASES = Object.entries(NOT_KEPT).flatMap(([epoch, tables]) =>
  Object.entries(tables).map(([table, columns]) => [epoch, table, columns] as const),
);

test.each(CASES)('the epoch of %s counts changes of %s', async (epoch, table, notKept) => {
  const database = openDatabase(join(await temporaryFolder(), 'gateway.db'));
  onTestFinished(() => void database.close());
  migrate(database);
  database.pragma('foreign_keys = OFF');
  database.pragma('ignore_check_constraints = ON');
  database.exec(ROWS);
  const value = database.prepare('select value from epochs where name = ?').pluck();
  const columns = database
    .prepare<[string], string>('select name from pragma_table_info(?)')
    .pluck()
    .all(table);
  const counted = columns.filter((column) => {
    const before = value.get(epoch);
    database.exec(`update ${table} set ${column} = ${column}`);
    return value.get(epoch) !== before;
  });
  expect(counted.length).toBeGreaterThan(0);
  expect(columns.filter((column) => !counted.includes(column))).toEqual(notKept);
});

const ROWS = `
  insert into members (id, email, name, role, created_at) values ('m', 'a@b', 'anna', 'admin', 1);
  insert into aliases (id, name, models, created_at, updated_at) values ('a', 'x', '[]', 1, 1);
  insert into api_keys (id, member_id, name, prefix, hash, scope, created_at)
    values ('k', 'm', 'key', 'gwk_', 'h', 'any', 1);
  insert into providers (id, owner_id, name, token_hash, created_at)
    values ('p', 'm', 'den', 't', 1);
  insert into shares (id, provider_id, member_id, created_at) values ('s', 'p', 'm', 1);
`;
