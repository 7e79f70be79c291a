import { summarizeQueue } from '@inference-gateway/coordinator/http/jobs/queue-summary';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { describe, expect, onTestFinished, test } from 'vitest';
import { submitJob } from '../../../store/job-rows.js';
import { createMember, NOW } from '../../../store/store-rows.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

type Whose = 'nobody' | 'the caller' | 'another';

const MINUTE_MS = 60_000;

describe('worker_stalled is true when jobs are queued and the dispatcher has not ticked', () => {
  test.each<[boolean, string, Whose, number | null]>([
    [true, 'within the last 60 seconds', 'the caller', MINUTE_MS + 1],
    [true, 'and the jobs are another member’s', 'another', MINUTE_MS + 1],
    [true, 'at all', 'the caller', null],
    [false, 'for 60 seconds and no longer', 'the caller', MINUTE_MS],
    [false, 'and nobody has a job', 'nobody', 2 * MINUTE_MS],
  ])('%s: %s', async (...row) => {
    const [stalled, , whose, agoMs] = row;
    const lastTickAt = agoMs === null ? null : NOW - agoMs;
    expect(await summaryOf(whose, { lastTickAt })).toMatchObject({
      async_enabled: true,
      worker_stalled: stalled,
      queued: whose === 'the caller' ? 1 : 0,
      last_tick_at: lastTickAt === null ? null : new Date(lastTickAt).toISOString(),
    });
  });

  test.each<[boolean, Whose]>([
    [true, 'the caller'],
    [true, 'another'],
    [false, 'nobody'],
  ])('%s: as it is not enabled, and %s has jobs that wait', async (stalled, whose) => {
    const summary = await summaryOf(whose, null);
    expect(summary).toMatchObject({ async_enabled: false, worker_stalled: stalled });
  });
});

test('the oldest queued job is told in whole seconds', async () => {
  const jobActions = { lastTickAt: NOW };
  const summary = await summaryOf('the caller', jobActions, NOW + 7_900);
  expect(summary.oldest_queued_seconds).toBe(7);
  expect(summary.by_model).toMatchObject([{ queued: 1, oldest_queued_seconds: 7 }]);
});

async function summaryOf(
  whose: Whose,
  jobActions: { lastTickAt: number | null } | null,
  now = NOW,
) {
  const store = await openStore(await temporaryFolder());
  onTestFinished(() => store.close());
  const { id: memberId } = await createMember(store, 'anna');
  const { id: another } = await createMember(store, 'ben');
  if (whose !== 'nobody') await submitJob(store, whose === 'another' ? another : memberId);
  const limits = { requests: null, concurrent: null };
  const caller = { memberId, memberName: 'anna', keyId: 'key', scope: 'any', limits } as const;
  return summarizeQueue({ jobActions, store, links: { providers: () => [] } }, caller, now);
}
