import { inspectStore, openStore } from '@inference-gateway/coordinator/store/open';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { startScript } from './child-script.js';

test('what was answered before the process was killed is there, and the file sound', async () => {
  const folder = await temporaryFolder();
  const writer = startScript('endless-writer.js', [folder]);
  await until(() => writer.lines().length >= 500, { timeoutMs: 10_000 });
  await writer.kill();
  const answered = writer.lines();
  const store = await openStore(folder);
  const kept = new Set((await store.listMembers()).map(({ id }) => id));
  await store.close();
  expect(answered.filter((id) => !kept.has(id))).toEqual([]);
  expect(kept.size).toBeGreaterThanOrEqual(answered.length);
  expect(inspectStore(folder)).toMatchObject({ damages: [] });
});
