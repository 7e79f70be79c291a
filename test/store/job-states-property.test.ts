/**
 * Compares the store with the chart of `core/jobs/job.ts`: every state × every event, and long
 * histories.
 */
import { JOB_EVENTS, JOB_STATUSES, nextStatus } from '@inference-gateway/coordinator/core/jobs/job';
import type { JobEvent, JobStatus } from '@inference-gateway/coordinator/core/jobs/job';
import { transition } from '@inference-gateway/coordinator/core/jobs/transition';
import type { JobState } from '@inference-gateway/coordinator/core/jobs/transition';
import { openForReading } from '@inference-gateway/coordinator/store/sqlite/database';
import type { JobRow } from '@inference-gateway/coordinator/store/operations/jobs/job-rows';
import { toState } from '@inference-gateway/coordinator/store/operations/jobs/transitions';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { randomId } from '@inference-gateway/shared/ids';
import * as fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobOf } from './dispatch-rows.js';
import { EFFECTS, changeOf } from './job-events.js';
import type { EventTarget } from './job-events.js';
import { JobHistory } from './job-history.js';
import type { Step } from './job-history.js';
import { submitJob } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

let dataDir: string;
let store: Store;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'gateway-states-'));
  store = await openStore(dataDir);
});

afterAll(async () => {
  await store.close();
  await rm(dataDir, { recursive: true });
});

function stateOf(jobId: string): JobState {
  const database = openForReading(join(dataDir, 'gateway.db'));
  try {
    const row = database.prepare<[string], JobRow>('select * from jobs where id = ?').get(jobId);
    if (row === undefined) throw new Error(`no job ${jobId}`);
    return toState(row);
  } finally {
    database.close();
  }
}

/** The events that bring a job into each state; each path includes a claim. */
const PATHS: Readonly<Record<JobStatus, readonly JobEvent[]>> = {
  QUEUED: ['claim', 'fail'],
  PROCESSING: ['claim'],
  PROCESSED: ['claim', 'finish'],
  FAILED: ['claim', 'give_up'],
  CANCELED: ['claim', 'cancel'],
};

describe.each(JOB_STATUSES)('a job that is %s', (status) => {
  test.each(JOB_EVENTS)('on %s does what the chart says', async (event) => {
    const member = await createMember(store, `${status}-${event}`.replaceAll('_', '-'));
    const { id: jobId } = await submitJob(store, member.id);
    const target: EventTarget = { jobId, claimId: randomId(), providerId: randomId(), now: NOW };
    for (const earlier of PATHS[status]) await EFFECTS[earlier](store, target);
    await store.requeueStuck(NOW);
    expect((await jobOf(store, jobId)).status).toBe(status);

    const claimId = event === 'claim' ? randomId() : target.claimId;
    const before = stateOf(jobId);
    const named = { ...target, claimId, now: NOW + 1 };
    await EFFECTS[event](store, named);
    expect((await jobOf(store, jobId)).status).toBe(nextStatus(status, event) ?? status);
    const next = transition(before, changeOf(event, named), { now: NOW + 1, random: 0 });
    expect(stateOf(jobId)).toEqual(next ?? before);
  });
});

const step: fc.Arbitrary<Step> = fc.record({
  event: fc.oneof(
    // More weight on the events that keep a history going.
    { weight: 5, arbitrary: fc.constant('claim' as const) },
    { weight: 2, arbitrary: fc.constant('retry' as const) },
    { weight: 10, arbitrary: fc.constantFrom(...JOB_EVENTS) },
    { weight: 3, arbitrary: fc.constantFrom('ripen', 'sweep', 'lose', 'unstick') },
  ),
  job: fc.nat({ max: 4 }),
  // Mostly the job's last claim, sometimes an earlier one.
  claimsBack: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 2 })),
  counts: fc.boolean(),
});

test('after every step of any history the store follows the chart, and all adds up', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const history = await JobHistory.begin(store);
      for (const one of steps) {
        await history.take(one);
        await history.check();
      }
      await history.end();
    }),
    { numRuns: 100 },
  );
}, 120_000);
