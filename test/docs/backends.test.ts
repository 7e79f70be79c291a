import { readFileSync } from 'node:fs';
import { BACKENDS } from '@inference-gateway/agent/backends/create-backend';
import { expect, test } from 'vitest';
import { tableRows } from '../support/markdown-table.js';

const text = readFileSync(
  new URL('../../docs/cli/agent-configuration.md', import.meta.url),
  'utf8',
);

test('docs/cli/agent-configuration.md tells what every backend is for', () => {
  const rows = tableRows(text, 'Backend');
  expect(rows.map(([name]) => name)).toEqual(BACKENDS.map((name) => `\`${name}\``));
  expect(rows.filter(([, use]) => use === '')).toEqual([]);
});
