/** The work that the agent admits, whatever a coordinator sends. */
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { Catalog } from '@inference-gateway/agent/backends/catalog/catalog';
import { HeldClaims } from '@inference-gateway/agent/work/held-claims';
import { Ledger } from '@inference-gateway/agent/work/ledger';
import {
  MAX_BESIDE_SLOTS,
  MAX_HELD_BODY_BYTES,
  WorkRunner,
} from '@inference-gateway/agent/work/runner';
import { Spool } from '@inference-gateway/agent/work/spool';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { until } from '../../support/until.js';
import { openWork } from './work-stage.js';
import type { Parts } from './work-stage.js';

async function startRunner(): Promise<WorkRunner> {
  return (await startStage()).runner;
}

async function startStage(
  changes: Partial<ServiceConfig> = {},
): Promise<{ runner: WorkRunner; ledger: Ledger }> {
  const fake = await startFakeOpenAi();
  const service = configuredServer(fake.baseUrl, {
    id: 'svc',
    type: 'image',
    slots: 9,
    ...changes,
  });
  const catalog = new Catalog([service]);
  onTestFinished(async () => {
    catalog.close();
    await fake.close();
  });
  await catalog.start();
  const logger = createLogger('silent');
  const { now } = SYSTEM_CLOCK;
  const claims = new HeldClaims({ spool: new Spool({ folder: null, now, logger }), now, logger });
  const ledger = new Ledger({ file: null, clock: SYSTEM_CLOCK, logger });
  return { ledger, runner: new WorkRunner({ catalog, claims, ledger, now, logger }) };
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

const HALF = { body: { bytes: MAX_HELD_BODY_BYTES / 2 } };

test('bodies that would not fit into memory together wait at the coordinator', async () => {
  const runner = await startRunner();
  const open = { endpoint: 'images', service_id: 'svc', model: 'tiny', ...HALF } as const;
  const [first, second, third] = [openWork([], open), openWork([], open), openWork([], open)];
  for (const { work } of [first, second, third]) runner.take(work);
  expect(runner.running).toBe(2);
  expect(third.sent[0]).toContain('"reason":"busy"');
  first.work.abandon();
  await until(() => runner.running === 1);
  const fourth = openWork([], open);
  runner.take(fourth.work);
  expect(fourth.sent).toEqual([]);
  for (const { work } of [second, fourth]) work.abandon();
  await runner.drained();
});

test('what runs is in the ledger until it has ended', async () => {
  const { runner, ledger } = await startStage();
  const { work } = openWork([], { endpoint: 'images', service_id: 'svc', model: 'tiny' });
  runner.take(work);
  expect(ledger.now([])).toMatchObject([{ id: 'req_1', caller: 'Anna', own: true }]);
  work.stop('yielded');
  await runner.drained();
  expect(ledger.now([])).toEqual([]);
  expect(ledger.tally.requests('svc', 'sync', 'yielded')).toBe(1);
});

test('counting takes no slot, is in no ledger, and only so much of it runs at once', async () => {
  const { runner, ledger } = await startStage({ type: 'llm', slots: 1 });
  const open = { service_id: 'svc', model: 'tiny' } as const;
  const chatting = openWork([], { ...open, endpoint: 'chat' });
  runner.take(chatting.work);
  const counts = Array.from({ length: MAX_BESIDE_SLOTS + 1 }, () =>
    openWork([], { ...open, endpoint: 'token_counts' }),
  );
  for (const { work } of counts) runner.take(work);
  expect(runner.slots()).toEqual([{ service_id: 'svc', busy: 1, free: 0 }]);
  expect(ledger.now([])).toHaveLength(1);
  const refused = counts.filter(({ sent }) => sent.some((frame) => frame.includes('busy')));
  expect(refused).toEqual([counts.at(-1)]);
  for (const { work } of [chatting, ...counts]) work.abandon();
  await runner.drained();
  expect(ledger.today.total.requests).toBe(1);
});

test('nobody may have tokens counted whose work its owner refuses, nor as a job', async () => {
  const { runner } = await startStage({ type: 'llm', hours: closedNow() });
  const open = { endpoint: 'token_counts', service_id: 'svc', model: 'tiny' } as const;
  const others = openWork([], { ...open, caller: { name: 'Ben', own: false } });
  runner.take(others.work);
  expect(others.sent[0]).toContain('"reason":"paused"');
  const job = openWork([], { ...open, kind: 'job', job_id: 'j', claim_id: 'c' });
  runner.take(job.work);
  expect(job.sent[0]).toContain('"reason":"bad_request"');
});

test('what is refused is in no ledger', async () => {
  const { runner, ledger } = await startStage();
  runner.take(openWork([], { endpoint: 'chat', service_id: 'svc', model: 'tiny' }).work);
  expect(ledger.now([])).toEqual([]);
  expect(ledger.today.total.requests).toBe(0);
});

test('outside a service’s hours its owner’s work is let in, and nobody else’s', async () => {
  const { runner } = await startStage({ hours: closedNow() });
  const open = { endpoint: 'images', service_id: 'svc', model: 'tiny' } as const;
  const others = openWork([], { ...open, caller: { name: 'Ben', own: false } });
  runner.take(others.work);
  expect(others.sent[0]).toContain('"reason":"paused"');
  const own = openWork([], open);
  runner.take(own.work);
  expect(own.sent).toEqual([]);
  own.work.abandon();
  await runner.drained();
});

test('since when nothing runs is known', async () => {
  const runner = await startRunner();
  const startedAt = performance.now();
  const { work } = openWork([], { endpoint: 'images', service_id: 'svc', model: 'tiny' });
  runner.take(work);
  expect(runner.idleSince).toBeNull();
  work.abandon();
  await runner.drained();
  expect(runner.idleSince).toBeGreaterThan(startedAt);
});

/** Hours of a day that are six from now. */
function closedNow(): DayHours {
  const hour = (new Date().getUTCHours() + 6) % 24;
  return { from: hour * 60, until: ((hour + 1) % 24) * 60, timeZone: 'UTC' };
}

test('a question of its own takes a slot that is free, while others are let in', async () => {
  const { runner } = await startStage({ slots: 1 });
  const open = { endpoint: 'images', service_id: 'svc', model: 'tiny' } as const;
  const slot = runner.reserve('svc');
  expect(runner.slots()).toEqual([{ service_id: 'svc', busy: 1, free: 0 }]);
  const refused = openWork([], open);
  runner.take(refused.work);
  expect(refused.sent[0]).toContain('busy');
  slot?.release();
  const { work } = openWork([], open);
  runner.take(work);
  expect(runner.running).toBe(1);
  expect(runner.reserve('svc')).toBeNull();
  work.stop('canceled');
  await runner.drained();
  runner.accepts = 'own';
  expect(runner.reserve('svc')).toBeNull();
  expect(runner.reserve('other')).toBeNull();
});
