import { readFileSync } from 'node:fs';
import { ERRORS, errorRow } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { expect, test } from 'vitest';
import { tableRows } from '../support/markdown-table.js';

const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const rows = tableRows(text, 'Code');
const codes = Object.keys(ERRORS) as ErrorCode[];

test('docs/errors.md lists every code of the error table, in its order, and no other', () => {
  expect(rows.map(([code]) => code)).toEqual(codes.map((code) => `\`${code}\``));
});

test.each(codes)('docs/errors.md tells status, type and x-should-retry of %s', (code) => {
  const [, status, type, shouldRetry] = rows.find(([name]) => name === `\`${code}\``) ?? [];
  const { shouldRetry: expected } = errorRow(code);
  expect({ status, type, shouldRetry }).toEqual({
    status: String(ERRORS[code].status),
    type: `\`${ERRORS[code].type}\``,
    shouldRetry: expected === undefined ? '–' : `\`${expected}\``,
  });
});

test.each(rows)('docs/errors.md explains %s', (...row) => {
  const [meaning = '', advice = ''] = row.slice(4);
  expect(meaning).toMatch(/^\S.{10,}\.$/);
  expect(advice).toMatch(/^\S.{5,}\.$/);
});
