import { readFileSync } from 'node:fs';
import { SETTINGS } from '@inference-gateway/coordinator/config/settings';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { expect, test } from 'vitest';
import { tableRows } from '../support/markdown-table.js';

const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

test('docs/operations.md tells every setting, its default and what it does', () => {
  const expected = Object.values(SETTINGS).map((setting) => [
    `\`GATEWAY_${setting.name}\``,
    setting.default === null ? '–' : `\`${setting.default}\``,
    setting.allowed,
    setting.doc,
  ]);
  expect(tableRows(text, 'Setting')).toEqual(expected);
});

test('docs/operations.md tells every exit code', () => {
  const codes = tableRows(text, 'Code').map(([code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
