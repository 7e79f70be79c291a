/** The part of the contract that is about failed attempts that are followed by others. */
import { MAX_FAILED_ATTEMPTS } from '@inference-gateway/coordinator/core/jobs/job';
import type { ClaimedJob, EndOutcome, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import { LEASE_MS, claimed, runningJob } from './dispatch-rows.js';
import { BROKEN, LINK_ID } from './job-rows.js';
import type { JobOverrides } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

export function describeFailedAttempts(adapter: string, store: () => Store): void {
  const running = async (job: JobOverrides): Promise<ClaimedJob> =>
    runningJob(store(), (await createMember(store(), 'anna')).id, job);
  const end = { error: BROKEN, random: 0.5 };
  const fail = (claimId: string, now: number): Promise<EndOutcome> =>
    store().failJob({ claimId, linkId: LINK_ID, retryable: true, ...end }, now);

  describe(`${adapter}: failed attempts`, () => {
    test('tell who failed, when and why, until the job is retried', async () => {
      const { claimId, job } = await running({ maxAttempts: 3 });
      const startedAt = job.startedAt ?? 0;
      const failures = async () => (await store().findJob(job.id, null))?.failedAttempts;
      expect(await failures()).toEqual([]);
      await fail(claimId, NOW + 2);
      const first = {
        attempt: 1,
        providerId: 'den',
        startedAt,
        failedAt: NOW + 2,
        error: BROKEN,
      };
      expect(await failures()).toEqual([first]);
      const at = NOW + LEASE_MS;
      await store().ripenJobs(at);
      const second = await claimed(store(), job.id, { providerId: 'attic', now: at });
      await store().releaseJob(
        { claimId: second.claimId, linkId: LINK_ID, counts: false, ...end },
        at + 1,
      );
      expect(await failures()).toEqual([first]);
      const third = await claimed(store(), job.id, { providerId: 'attic', now: at + 2 });
      await fail(third.claimId, at + 3);
      const next = { attempt: 2, providerId: 'attic', startedAt: at + 2, failedAt: at + 3 };
      expect(await failures()).toEqual([first, { ...next, error: BROKEN }]);
      await store().cancelJob(job.id, null, at + 4);
      expect(await failures()).toHaveLength(2);
      await store().retryJob(job.id, null, { jobs: 9, bytes: 999 }, at + 5);
      expect(await failures()).toEqual([]);
    });

    test('are kept up to a limit, the last ones', async () => {
      const { claimId, job } = await running({ maxAttempts: 2 });
      const back = { claimIds: [claimId], providerId: 'den', linkId: LINK_ID, random: 0.5 };
      for (let i = 0; i <= MAX_FAILED_ATTEMPTS; i++) {
        await fail(claimId, NOW + i);
        await store().resumeClaims({ ...back, leaseUntil: NOW + LEASE_MS }, NOW + i);
      }
      const kept = (await store().findJob(job.id, null))?.failedAttempts ?? [];
      expect(kept).toHaveLength(MAX_FAILED_ATTEMPTS);
      expect(kept.at(-1)).toMatchObject({ attempt: 1, failedAt: NOW + MAX_FAILED_ATTEMPTS });
    });
  });
}
