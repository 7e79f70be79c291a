import { expect, test } from 'vitest';
import { act, ended, getJob, JOBS, submitted } from '../api/job-calls.js';
import { chat, post } from '../api/requests.js';
import { startHeldModel } from '../support/held-model.js';
import { expectIdle, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';

const ABORTED_WITHIN_MS = 1_000;
const FREE_WITHIN_MS = 2_000;
const QUEUED = 50;
const METRICS_TOKEN = 'scrape-me-0123456789';

/** The one slot of a card, and a job that holds it. */
async function oneSlotTaken() {
  const { gateway } = await startStage({ GATEWAY_METRICS_TOKEN: METRICS_TOKEN });
  const held = await startHeldModel();
  await gateway.joined('pc', [serviceOf(held.server, ['m'], { slots: 1 })]);
  const { id } = await submitted(gateway, { model: 'm' });
  await until(() => held.server.requests.length === 1);
  return { gateway, held, id };
}

test('a canceled job is off the card within 1 s, and the next one on it within 2 s', async () => {
  const { gateway, held, id } = await oneSlotTaken();
  const next = await submitted(gateway, { model: 'm' });
  expect((await getJob(gateway, next.id)).status).toBe('QUEUED');
  const canceledAt = performance.now();
  expect(await (await act(gateway, `${JOBS}/${id}/cancel`)).json()).toMatchObject({
    status: 'CANCELED',
    canceled: true,
  });
  await until(() => held.server.requests.length === 2);
  const [first, second] = held.server.requests;
  expect((first?.abortedAt ?? Infinity) - canceledAt).toBeLessThan(ABORTED_WITHIN_MS);
  expect((second?.at ?? Infinity) - canceledAt).toBeLessThan(FREE_WITHIN_MS);
  held.release();
  expect((await ended(gateway, next.id)).status).toBe('PROCESSED');
  expect(held.server.maxInFlight).toBe(1);
  await expectIdle(gateway, 'm');
});

test('a synchronous call is served before every job that waits', async () => {
  const { gateway, held } = await oneSlotTaken();
  const jobs = await Promise.all(
    Array.from({ length: QUEUED }, () => submitted(gateway, { model: 'm' })),
  );
  const messages = [{ role: 'user', content: 'I wait for it.' }];
  const call = post(gateway, chat({ model: 'm', messages }));
  await until(async () => (await callsInFlight(gateway)) === 1);
  held.release();
  expect((await call).status).toBe(200);
  expect(held.server.requests[1]?.text).toContain('I wait for it.');
  for (const { id } of jobs) expect((await ended(gateway, id)).status).toBe('PROCESSED');
  expect(held.server.requests).toHaveLength(QUEUED + 2);
  expect(held.server.maxInFlight).toBe(1);
});

/** Synchronous calls that run or wait for a slot. */
async function callsInFlight(gateway: Stage): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
  const text = await (await gateway.fetch('/metrics', { headers })).text();
  return Number(/^gateway_calls_in_flight (\d+)$/m.exec(text)?.[1]);
}
