import { readFileSync } from 'node:fs';
import { SETTINGS } from '@inference-gateway/coordinator/config/settings';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { expect, test } from 'vitest';
import { tableRows } from '../support/markdown-table.js';

const pageOf = (name: string): string =>
  readFileSync(new URL(`../../docs/operations/${name}`, import.meta.url), 'utf8');

test('docs/operations/settings.md tells every setting, its default and what it does', () => {
  const expected = Object.values(SETTINGS).map((setting) => [
    `\`GATEWAY_${setting.name}\``,
    setting.default === null ? '–' : `\`${setting.default}\``,
    setting.allowed,
    setting.doc,
  ]);
  expect(tableRows(pageOf('settings.md'), 'Setting')).toEqual(expected);
});

test('docs/operations/services.md tells every exit code', () => {
  const codes = tableRows(pageOf('services.md'), 'Code').map(([code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
