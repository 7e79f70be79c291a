/**
 * How SQLite runs the statements of the operations. Query plans on empty tables show it already,
 * and do not depend on the data.
 */
import { OPERATIONS } from '@inference-gateway/coordinator/store/operations/all';
import { STATEMENTS } from '@inference-gateway/coordinator/store/operations/statement';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

export type Database = ReturnType<typeof openDatabase>;

/** With the tables, for the current test. */
export async function emptyDatabase(): Promise<Database> {
  const database = openDatabase(join(await temporaryFolder(), 'gateway.db'));
  onTestFinished(() => void database.close());
  migrate(database);
  return database;
}

/** Every statement of every operation, as SQLite gets it. */
export function sqliteTexts(): string[] {
  // Their modules make the statements when they are loaded.
  const { length } = Object.keys(OPERATIONS);
  const texts = STATEMENTS.map(({ text }) => (typeof text === 'string' ? text : text.sqlite));
  if (texts.length < length) throw new Error('there are fewer statements than operations');
  return texts;
}

/** The only statement with this part. */
export function textWith(part: string): string {
  const [found, ...others] = new Set(sqliteTexts().filter((sql) => sql.includes(part)));
  if (found === undefined || others.length > 0) {
    throw new Error(`${others.length + (found === undefined ? 0 : 1)} statements have: ${part}`);
  }
  return found;
}

export function planOf(database: Database, sql: string): string[] {
  const values = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, 1]));
  const explain = database.prepare<[object], { detail: string }>(`explain query plan ${sql}`);
  return explain.all(values).map(({ detail }) => detail);
}
