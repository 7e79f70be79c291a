/** Each statement is one text for both engines, or one for each: both must accept it. */
import { STATEMENTS } from '@inference-gateway/coordinator/store/operations/statement';
import type { Prepared } from '@inference-gateway/coordinator/store/operations/statement';
import { manyOf, numbered } from '@inference-gateway/coordinator/store/postgres/compiled';
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
  const url = await server().createDatabase();
  const texts = STATEMENTS.map(postgresText);
  expect(texts).toHaveLength(sqliteTexts().length);
  const refused = await onServer(url, (sql) => refusedBy(sql, [...texts, 'select nothing']));
  expect(refused).toEqual(['column "nothing" does not exist: select nothing']);
  await server().dropDatabase(url);
});

test('PostgreSQL can prepare every statement that has a form for many rows', async () => {
  const url = await server().createDatabase();
  const forms = STATEMENTS.flatMap((one) => {
    const form = manyOf(numbered(postgresText(one)));
    return form === null ? [] : [form.textFor(1), form.textFor(8)];
  });
  expect(forms.length).toBeGreaterThan(100);
  const refused = await onServer(url, (sql) => refusedBy(sql, forms));
  expect(refused).toEqual([]);
  await server().dropDatabase(url);
});

function postgresText({ text }: Prepared): string {
  return typeof text === 'string' ? text : text.postgres;
}

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
