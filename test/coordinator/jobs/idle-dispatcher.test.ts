/**
 * The dispatcher offers freed slots to jobs if there may be any, and otherwise does not ask the
 * store.
 */
import type { Links } from '@inference-gateway/coordinator/core/routing/links';
import { Quotas } from '@inference-gateway/coordinator/core/usage/quotas';
import { JobGate } from '@inference-gateway/coordinator/jobs/job-gate';
import { Budget } from '@inference-gateway/coordinator/core/usage/budget';
import { Dispatcher } from '@inference-gateway/coordinator/jobs/dispatcher';
import type { JobRuns } from '@inference-gateway/coordinator/jobs/claims';
import { Upkeep } from '@inference-gateway/coordinator/jobs/upkeep';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { expect, it, onTestFinished } from 'vitest';
import { storeWith } from '../../store/store-rows.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const nothing = (): void => {};
const turn = () => new Promise((resolve) => setImmediate(resolve));
const logger = createLogger('silent');
const HOUR_MS = 3_600_000;

/** A dispatcher with an empty queue, and a count of its rounds that asked the store. */
async function stage() {
  const opened = await openStore(await temporaryFolder());
  let asked = 0;
  const laneHeads: Store['laneHeads'] = (perLane) => {
    // Upkeep asks for one job of each lane, a round for as many as there are free slots.
    if (perLane === FREE) asked += 1;
    return opened.laneHeads(perLane);
  };
  const store = storeWith(opened, { laneHeads });
  let freed = nothing;
  const links = {
    candidates: () => [],
    shared: () => null,
    freeJobSlots: () => FREE,
    onCapacity: (listener: () => void) => {
      freed = listener;
      return nothing;
    },
  } as unknown as Links;
  const retention = { retentionMs: HOUR_MS, usageRetentionMs: HOUR_MS, auditRetentionMs: HOUR_MS };
  const time = { leaseMs: 60_000, noProviderMs: HOUR_MS, ...retention };
  const onChange = nothing;
  const upkeep = new Upkeep({ store, links, clock: SYSTEM_CLOCK, ...time, onChange, logger });
  const runs = { unsentBytes: 0 } as JobRuns;
  const budget = new Budget({ totalBytes: 1_000, memberBytes: 500 });
  const parts = { store, links, runs, budget, upkeep, leaseMs: 60_000, now: Date.now, logger };
  const quotas = new Quotas((subject, at) => opened.quotaUse(subject, at), Date.now);
  const gate = new JobGate({ store, links, quotas, now: Date.now });
  const dispatcher = new Dispatcher({ ...parts, gate, claims: true });
  onTestFinished(async () => {
    await dispatcher.close();
    await opened.close();
  });
  await until(() => asked === 1);
  return { dispatcher, free: () => freed(), asked: () => asked };
}

const FREE = 3;

it('slots that synchronous calls free are offered to nobody while nothing is queued', async () => {
  const { dispatcher, free, asked } = await stage();
  await turn();
  const before = asked();
  for (let i = 0; i < 20; i++) {
    free();
    await turn();
  }
  // The tick of each second asks all the same.
  expect(asked() - before).toBeLessThanOrEqual(1);
  dispatcher.wake();
  await until(() => asked() > before);
});
