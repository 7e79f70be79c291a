/** The configurations of programs that the dashboard shows are those of docs/clients.md. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  configurationOf,
  fileOf,
  PROGRAMS,
} from '../../packages/coordinator/web/src/ui/snippets/programs.js';

const PLACE = { baseUrl: 'GATEWAY/v1', model: 'MODEL', key: 'KEY' };

test.each(PROGRAMS)('$label', async ({ value, label }) => {
  const document = await readFile(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const section = document.split(/^## /m).find((one) => one.startsWith(`${label}\n`)) ?? '';
  const [, code] = /```\w+\n(.*?)```/s.exec(section) ?? [];
  expect(configurationOf(value, PLACE)).toBe(code);
  const file = fileOf(value);
  if (file !== null) expect(section).toContain(file);
});

test('an odd name of a model stays one word of the shell, and one text of JSON', () => {
  const odd = { ...PLACE, model: `a'b $(c) "d"` };
  expect(configurationOf('claude-code', odd)).toContain(`ANTHROPIC_MODEL='a'\\''b $(c) "d"'\n`);
  expect(JSON.parse(configurationOf('opencode', odd))).toMatchObject({
    provider: { gateway: { models: { [odd.model]: { name: odd.model } } } },
  });
});
