/** Each statement is one text for both engines, or one for each: both must accept it. */
import { STATEMENTS } from '@inference-gateway/coordinator/store/operations/statement';
import { numbered } from '@inference-gateway/coordinator/store/postgres/carry-out';
import { expect, test } from 'vitest';
import { onServer, usePostgres } from '../support/postgres.js';
import type { ServerConnection } from '../support/postgres.js';
import { emptyDatabase, sqliteTexts } from './statement-plans.js';

const server = usePostgres();

test('SQLite can prepare every statement of the operations', async () => {
  const database = await emptyDatabase();
  const texts = sqliteTexts();
  expect(texts.length).toBeGreaterThan(250);
  expect(texts.flatMap((sql) => refusalOf(() => database.prepare(sql), sql))).toEqual([]);
  expect(refusalOf(() => database.prepare('select nothing'), 'x')).toHaveLength(1);
});

test('PostgreSQL can prepare every statement of the operations', async () => {
  const url = await server().createDatabase({ isMigrated: true });
  const texts = STATEMENTS.map(({ text }) => (typeof text === 'string' ? text : text.postgres));
  expect(texts).toHaveLength(sqliteTexts().length);
  const refused = await onServer(url, (sql) => refusedBy(sql, [...texts, 'select nothing']));
  expect(refused).toEqual(['column "nothing" does not exist: select nothing']);
  await server().dropDatabase(url);
});

function refusalOf(prepare: () => unknown, sql: string): string[] {
  try {
    prepare();
    return [];
  } catch (error) {
    return [`${(error as Error).message}: ${sql}`];
  }
}

async function refusedBy(sql: ServerConnection, texts: readonly string[]): Promise<string[]> {
  const refused: string[] = [];
  for (const [index, text] of texts.entries()) {
    const prepare = `prepare statement_${index} as ${numbered(text).text}`;
    await sql.rows(prepare).catch((error: Error) => {
      refused.push(`${error.message}: ${text}`);
    });
  }
  return refused;
}
