/** The part of the contract that is about agents that reconnect after their link was lost. */
import type {
  EndOutcome,
  FinishOutcome,
  Member,
  ResumeRequest,
  Resumed,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  LEASE_MS,
  claimed,
  heldBy,
  jobOf,
  newClaim,
  newFinish,
  runningJob,
} from './dispatch-rows.js';
import { BROKEN, LINK_ID } from './job-rows.js';
import { NOW, createMember } from './store-rows.js';

export function describeResumes(adapter: string, store: () => Store): void {
  const finish = (claimId: string, link = LINK_ID): Promise<FinishOutcome> =>
    store().finishJob(newFinish(claimId, heldBy(claimId, link)), NOW + 50);
  const fail = (claimId: string): Promise<EndOutcome> =>
    store().failJob(
      { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5 },
      NOW + 2,
    );
  const resume = (claimIds: string[], over: Partial<ResumeRequest> = {}): Promise<Resumed> => {
    const request = { providerId: 'den', linkId: 'next', leaseUntil: NOW + 9 * LEASE_MS };
    return store().resumeClaims({ ...request, random: 0.5, claimIds, ...over }, NOW + 30);
  };

  describe(`${adapter}: an agent that is back`, () => {
    let anna: Member;

    beforeEach(async () => {
      anna = await createMember(store(), 'anna');
    });

    test('is the only one that the older link can change nothing of any more', async () => {
      const { claimId, job } = await runningJob(store(), anna.id);
      await resume([claimId]);
      const [older, newer] = [heldBy(claimId), heldBy(claimId, 'next')];
      const end = { error: BROKEN, random: 0.5 };
      const lease = { providerId: 'den', claimIds: [claimId], leaseUntil: NOW + 99 * LEASE_MS };
      const late = await Promise.all([
        store().acceptJob(older, NOW, NOW + 31),
        store().renewClaims({ ...lease, linkId: LINK_ID }, NOW + 31),
        store().releaseJob({ ...older, counts: true, ...end }, NOW + 31),
        store().failJob({ ...older, retryable: false, ...end }, NOW + 31),
        store().finishJob(newFinish(claimId), NOW + 31),
      ]);
      const stale = { kind: 'stale' };
      expect(late).toEqual([false, [claimId], stale, stale, stale]);
      expect((await jobOf(store(), job.id)).status).toBe('PROCESSING');
      expect(await store().acceptJob(newer, NOW + 90, NOW + 32)).toBe(true);
      expect(await store().renewClaims({ ...lease, linkId: 'next' }, NOW + 32)).toEqual([]);
      const finish = newFinish(claimId, newer);
      expect(await store().finishJob(finish, NOW + 33)).toMatchObject({ kind: 'stored' });
    });

    test('keeps the claims that it still has, with a longer lease', async () => {
      const { claimId, job } = await runningJob(store(), anna.id);
      const { claims, ended } = await resume([claimId, 'no such claim']);
      expect(ended).toEqual([]);
      expect(claims).toMatchObject([
        { claimId, serviceId: 'llm-1', memberName: 'anna', acceptedAt: NOW + 30, job },
      ]);
      const sweep = { error: BROKEN, random: 0, limit: 10 };
      expect(await store().sweepLeases(sweep, NOW + 9 * LEASE_MS)).toEqual([]);
      expect(await resume([claimId], { leaseUntil: NOW })).toMatchObject({ claims: [{ claimId }] });
      expect(await store().sweepLeases(sweep, NOW + 9 * LEASE_MS)).toEqual([]);
    });

    test('gets a job back that waits since, while nobody else has claimed it', async () => {
      const [failed, released] = [
        await runningJob(store(), anna.id),
        await runningJob(store(), anna.id),
      ];
      const taken = await runningJob(store(), anna.id);
      for (const { claimId } of [failed, taken]) await fail(claimId);
      const release = {
        claimId: released.claimId,
        linkId: LINK_ID,
        counts: true,
        error: BROKEN,
        random: 0,
      };
      await store().releaseJob(release, NOW + 2);
      await store().requeueStuck(NOW + 3);
      await claimed(store(), taken.job.id, { providerId: 'attic' });
      const { claims } = await resume([failed, released, taken].map(({ claimId }) => claimId));
      const current = { status: 'PROCESSING', attempts: 1, notBefore: null };
      expect(claims.map(({ claimId }) => claimId).toSorted()).toEqual(
        [failed.claimId, released.claimId].toSorted(),
      );
      expect(claims.map(({ job }) => job)).toMatchObject([current, current]);
      expect(await store().claimJobs([newClaim(failed.job.id)], NOW)).toEqual([null]);
      expect(await finish(failed.claimId, 'next')).toMatchObject({
        kind: 'stored',
        job: { attempts: 1 },
      });
    });

    test("cannot resume another provider's claim, nor one whose job has ended", async () => {
      const { claimId } = await runningJob(store(), anna.id, { claim: { providerId: 'attic' } });
      const canceled = await runningJob(store(), anna.id);
      await store().cancelJob(canceled.job.id, null, NOW + 3);
      expect(await resume([claimId, canceled.claimId])).toMatchObject({ claims: [], ended: [] });
    });

    test('without its claims: what it had accepted has failed, the rest is free', async () => {
      const accepted = await runningJob(store(), anna.id);
      await store().acceptJob(heldBy(accepted.claimId), NOW + LEASE_MS, NOW + 2);
      const offered = await runningJob(store(), anna.id);
      const others = await runningJob(store(), anna.id, { claim: { providerId: 'attic' } });
      const { claims, ended } = await resume([]);
      expect(claims).toEqual([]);
      expect(ended).toHaveLength(2);
      expect(await jobOf(store(), accepted.job.id)).toMatchObject({
        status: 'QUEUED',
        attempts: 1,
        notBefore: NOW + 2_030,
        error: { code: 'provider_disconnected', type: 'upstream_error' },
      });
      const free = { status: 'QUEUED', attempts: 0, notBefore: null, error: null };
      expect(await jobOf(store(), offered.job.id)).toMatchObject(free);
      expect((await jobOf(store(), others.job.id)).status).toBe('PROCESSING');
      expect(await resume([])).toMatchObject({ claims: [], ended: [] });
    });
  });
}
