/** What the agent lets in, whatever a coordinator sends. */
import { Catalog } from '@inference-gateway/agent/backends/catalog';
import { HeldClaims } from '@inference-gateway/agent/work/held-claims';
import { WorkRunner } from '@inference-gateway/agent/work/runner';
import { Spool } from '@inference-gateway/agent/work/spool';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { openWork } from './work-stage.js';
import type { Parts } from './work-stage.js';

async function startRunner(): Promise<WorkRunner> {
  const fake = await startFakeOpenAi();
  const service = configuredServer(fake.baseUrl, { id: 'svc', type: 'image' });
  const catalog = new Catalog([service]);
  onTestFinished(async () => {
    catalog.close();
    await fake.close();
  });
  await catalog.start();
  const logger = createLogger('silent');
  const claims = new HeldClaims(new Spool({ folder: null, logger }), logger);
  return new WorkRunner(catalog, claims, logger);
}

const IMAGE = { name: 'image', content_type: 'image/png', bytes: 1 };
const MASK = { ...IMAGE, name: 'mask' };

test.each<[string, Parts]>([
  ['a file of another name', [{ ...IMAGE, name: '../../../.ssh/authorized_keys' }]],
  ['a file of another type', [{ ...IMAGE, content_type: 'text/html' }]],
  ['a sound in the place of an image', [{ ...IMAGE, content_type: 'audio/wav' }]],
  ['a second mask', [IMAGE, MASK, MASK]],
  ['more than it could have let through', [{ ...IMAGE, bytes: 1024 ** 3 }]],
])('%s is refused', async (_what, parts) => {
  const runner = await startRunner();
  const { work, sent } = openWork(parts, { endpoint: 'edits', service_id: 'svc', model: 'tiny' });
  runner.take(work);
  expect(sent.map((frame) => JSON.parse(frame) as unknown)).toEqual([
    { t: 'REJECT', reason: 'bad_request', stream: 1 },
  ]);
});

test('files where the endpoint has none are refused', async () => {
  const runner = await startRunner();
  const open = { endpoint: 'images', service_id: 'svc', model: 'tiny' } as const;
  const { work, sent } = openWork([IMAGE], open);
  runner.take(work);
  expect(sent[0]).toContain('bad_request');
});

test('an endpoint of another type is refused', async () => {
  const runner = await startRunner();
  const { work, sent } = openWork([], { endpoint: 'chat', service_id: 'svc', model: 'tiny' });
  runner.take(work);
  expect(sent[0]).toContain('type_mismatch');
});

test('the files of the endpoint are let in', async () => {
  const runner = await startRunner();
  const open = { endpoint: 'edits', service_id: 'svc', model: 'tiny' } as const;
  const { work, sent } = openWork([IMAGE, IMAGE, MASK], open);
  runner.take(work);
  expect(runner.running).toBe(1);
  expect(sent).toEqual([]);
  work.abandon();
  await runner.drained();
});
