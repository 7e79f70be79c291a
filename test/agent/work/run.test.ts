import type { CatalogEntry } from '@inference-gateway/agent/backends/catalog/catalog';
import { LONGEST_RUN_MS, limitOf, run } from '@inference-gateway/agent/work/run';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, test } from 'vitest';
import { openWork } from './work-stage.js';

test.each([
  ['the deadline that the coordinator gives', 280_000, 280_000],
  ['six hours where it gives none', 0, 6 * 3_600_000],
  ['six hours where it gives days', 23 * 86_400_000, LONGEST_RUN_MS],
])('a run may take %s', (_what, deadlineMs, limitMs) => {
  expect(limitOf(deadlineMs)).toBe(limitMs);
});

test.each([
  ['chat', { messages: [{ role: 'user', Content: 'x' }] }, 'messages[0].Content'],
  ['images', { prompt: 'x', Image: '/etc/passwd' }, 'Image'],
  ['speech', { input: 'x', Voice: 'b' }, 'Voice'],
  ['transcriptions', { 'MODEL[]': 'x' }, 'MODEL[]'],
  ['edits', { prompt: 'x', Mask: 'x' }, 'Mask'],
  ['voice', { input: 'x', Input: 'y' }, 'Input'],
] as const)(
  'a name in another case reaches no local server from %s, whatever a coordinator lets through',
  async (endpoint, fields, param) => {
    const body = Buffer.from(JSON.stringify({ model: 'm', ...fields }));
    const { work, answered } = openWork([], { endpoint, body: { bytes: body.length } });
    work.receive(body);
    const asked: unknown[] = [];
    const backend = { call: (call: unknown) => asked.push(call) };
    const entry = { models: [{ id: 'm' }], backend } as unknown as CatalogEntry;
    await run(work, entry, { logger: createLogger('silent'), slots: 1, unreachable: () => {} });
    expect(asked).toEqual([]);
    expect(JSON.parse(answered())).toMatchObject({ error: { code: 'invalid_value', param } });
  },
);

test('a body that is more than the limits of JSON reaches no local server', async () => {
  const body = Buffer.from(`{"model":"m","messages":[],"x":${'['.repeat(100)}${']'.repeat(100)}}`);
  const { work, answered } = openWork([], { endpoint: 'chat', body: { bytes: body.length } });
  for (const byte of body) work.receive(Buffer.of(byte));
  const entry = { models: [{ id: 'm' }], backend: null } as unknown as CatalogEntry;
  await run(work, entry, { logger: createLogger('silent'), slots: 1, unreachable: () => {} });
  expect(JSON.parse(answered())).toMatchObject({
    error: { code: 'invalid_json', message: expect.stringContaining('64 levels') as string },
  });
});
