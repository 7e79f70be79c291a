import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const STORE = join(import.meta.dirname, '../../packages/coordinator/src/store');

/**
 * All columns of a table. `points` is allowed: the statement itself defines it and names its
 * columns.
 */
const EVERY_COLUMN = /(?:select|returning|,)\s+(?:\w+\.)?\*(?!\s+from points\b)(?=[\s,`])/;
const BY_POSITION = /insert into \w+\s+(?:values|select)\b/;

test('statements name the columns that they read and write', () => {
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(30);
  const found = files.filter((file) => {
    const text = readFileSync(join(STORE, file), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '');
    return EVERY_COLUMN.test(text) || BY_POSITION.test(text);
  });
  expect(found).toEqual([]);
  for (const bad of ['select * from jobs', 'select j.*, m.name', 'returning *`'])
    expect(bad).toMatch(EVERY_COLUMN);
  expect('insert into blocks values (?, ?)').toMatch(BY_POSITION);
});
