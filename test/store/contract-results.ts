/** The part of the contract that is about finished jobs. */
import type { FinishOutcome, Member, Store } from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, test } from 'vitest';
import { LEASE_MS, RESULT, USAGE, claimed, jobOf, newFinish, runningJob } from './dispatch-rows.js';
import { BROKEN, ROOMY, jobIdsOf, newItem, submitBatch, submitJob, LINK_ID } from './job-rows.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createMember, newAsset } from './store-rows.js';

const WEBHOOK = { url: 'https://example.org/hook', secret: 'whsec_c2VjcmV0' };

export function describeResults(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const messages = async (): Promise<string[]> =>
    (await store().dueWebhooks(NOW + LEASE_MS, 100)).map(({ id }) => id);
  const finish = (claimId: string, now = NOW + 50): Promise<FinishOutcome> =>
    store().finishJob(newFinish(claimId), now);
  const fail = (claimId: string): Promise<unknown> =>
    store().failJob(
      { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0.5 },
      NOW + 2,
    );

  describe(adapter, () => {
    let anna: Member;

    beforeEach(async () => {
      anna = await createMember(store(), 'anna');
    });

    describe('results', () => {
      test('a finished job has its result and its usage, and nothing of its failures', async () => {
        const { id } = await submitJob(store(), anna.id);
        await fail((await claimed(store(), id)).claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        const outcome = await finish((await claimed(store(), id, { now: NOW + 20 })).claimId);
        const job = { status: 'PROCESSED', finishedAt: NOW + 50, attempts: 2, error: null };
        expect(outcome).toMatchObject({ kind: 'stored', job });
        expect(await store().findJob(id, null)).toMatchObject({ job, result: RESULT, assets: [] });
        expect(outcome.kind === 'stored' && outcome.usage).toEqual({
          ...USAGE,
          alias: null,
          shareId: null,
          requestId: `${id}.1`,
          at: NOW + 50,
          memberId: anna.id,
          keyId: 'key',
          providerId: 'den',
          model: 'llama-3.1-8b',
          serviceType: 'llm',
          endpoint: 'chat',
          queueMs: 20,
          totalMs: 50,
          attempts: 2,
          outcome: 'ok',
          errorCode: null,
          source: 'api',
        });
        const stats = await store().usageStats({ since: null, by: 'member', memberId: anna.id });
        expect(stats).toMatchObject([{ requests: 1, ok: 1, promptTokens: 3, completionTokens: 4 }]);
      });

      test('the same result a hundred times at once is stored once and metered once', async () => {
        const { claimId } = await runningJob(store(), anna.id);
        const outcomes = await Promise.all(Array.from({ length: 100 }, () => finish(claimId)));
        const kinds = outcomes.map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(1);
        expect(kinds.filter((kind) => kind === 'duplicate')).toHaveLength(99);
        const written = await harness().usage();
        expect(written).toHaveLength(1);
      });

      test('nonsense from an agent does not spoil the sums', async () => {
        const { claimId } = await runningJob(store(), anna.id);
        const usage = { ...USAGE, promptTokens: 1e300, completionTokens: -4, audioMs: 1e300 };
        const outcome = await store().finishJob(newFinish(claimId, { usage }), NOW + 50);
        expect(outcome).toMatchObject({
          usage: { promptTokens: 10_000_000, completionTokens: 0, audioMs: 30 * 86_400_000 },
        });
      });

      test('a late result is taken while nobody else has claimed the job', async () => {
        const failed = await runningJob(store(), anna.id);
        await fail(failed.claimId);
        const job = { status: 'PROCESSED', attempts: 1, notBefore: null, error: null };
        expect(await finish(failed.claimId)).toMatchObject({ kind: 'stored', job });
        expect(await finish(failed.claimId)).toEqual({ kind: 'duplicate' });

        // Its claim was released as if the job had not run, but it had.
        const released = await runningJob(store(), anna.id);
        const release = {
          claimId: released.claimId,
          linkId: LINK_ID,
          counts: true,
          error: BROKEN,
          random: 0,
        };
        await store().releaseJob(release, NOW + 2);
        expect(await finish(released.claimId)).toMatchObject({ kind: 'stored', job });
      });

      test('it is refused once the job was claimed again, ended or began anew', async () => {
        const first = await runningJob(store(), anna.id);
        const { id } = first.job;
        await fail(first.claimId);
        await store().ripenJobs(NOW + LEASE_MS);
        const second = await claimed(store(), id);
        expect(await finish(first.claimId)).toEqual({ kind: 'stale' });
        await store().cancelJob(id, null, NOW + 3);
        expect(await finish(second.claimId)).toEqual({ kind: 'stale' });
        await store().retryJob(id, null, ROOMY, NOW + 4);
        expect(await finish(second.claimId)).toEqual({ kind: 'stale' });
        expect(await finish('no such claim')).toEqual({ kind: 'stale' });
        expect(await store().findJob(id, null)).toMatchObject({
          job: { status: 'QUEUED', generation: 2, attempts: 0 },
          result: null,
        });
        const third = await claimed(store(), id);
        expect(await finish(third.claimId)).toMatchObject({ usage: { requestId: `${id}.2` } });
      });
    });

    describe('files of jobs', () => {
      const image = { endpoint: 'images', model: 'flux' } as const;

      test('their rows are written with the result, in their order', async () => {
        const { claimId, job } = await runningJob(store(), anna.id, { item: image });
        const assets = [newAsset(anna.id), newAsset(anna.id), newAsset(anna.id)];
        const outcome = await store().finishJob(newFinish(claimId, { result: null, assets }), NOW);
        const firstAssetId = assets[0]?.id;
        expect(outcome).toMatchObject({ kind: 'stored', job: { firstAssetId } });
        const found = await store().findJob(job.id, null);
        expect(found).toMatchObject({ job: { firstAssetId }, result: null, assets });
        expect(await store().assetSpace(anna.id)).toMatchObject({ memberBytes: 3_000 });
      });

      test('where they do not all fit nothing changes; the claim stays current', async () => {
        const { claimId, job } = await runningJob(store(), anna.id, { item: image });
        const assets = [newAsset(anna.id), newAsset(anna.id)];
        const attempt = (memberBytes: number, totalBytes: number): Promise<FinishOutcome> =>
          store().finishJob(
            newFinish(claimId, { assets, assetLimits: { memberBytes, totalBytes } }),
            NOW + 50,
          );
        expect(await attempt(1_999, 9_999)).toEqual({ kind: 'member_full' });
        expect(await attempt(9_999, 1_999)).toEqual({ kind: 'full' });
        expect(await jobOf(store(), job.id)).toEqual(job);
        expect(await store().assetSpace(anna.id)).toEqual({ memberBytes: 0, totalBytes: 0 });
        const stats = await store().usageStats({ since: null, by: 'member', memberId: null });
        expect(stats).toEqual([]);
        expect(await attempt(2_000, 2_000)).toMatchObject({ kind: 'stored' });
      });

      test('those of a result that is refused are not written', async () => {
        const { claimId, job } = await runningJob(store(), anna.id, { item: image });
        await store().cancelJob(job.id, null, NOW + 3);
        const assets = [newAsset(anna.id)];
        expect(await store().finishJob(newFinish(claimId, { assets }), NOW + 4)).toEqual({
          kind: 'stale',
        });
        expect(await store().knownAssets(assets.map(({ id }) => id))).toEqual([]);
      });
    });

    describe('races', () => {
      test('of a cancel and a finish one wins, and the other is told so', async () => {
        const items = Array.from({ length: 100 }, () => newItem());
        let stored = 0;
        for (let round = 0; round < 5; round++) {
          const batch = await submitBatch(store(), anna.id, { items });
          const ids = await jobIdsOf(store(), batch.id);
          const ends = await Promise.all(ids.map((id, i) => race(store(), id, i % 2 === 0)));
          stored += ends.filter((status) => status === 'PROCESSED').length;
        }
        const [stat] = await store().usageStats({ since: null, by: 'member', memberId: anna.id });
        expect(stat).toMatchObject({
          requests: 500,
          ok: stored,
          canceled: 500 - stored,
          promptTokens: 3 * stored,
        });
        expect(await store().modelQueues(null)).toEqual([]);
      });

      test('of many retries at once, one wins', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        await store().failJob(
          { claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0 },
          NOW,
        );
        const retries = await Promise.all(
          Array.from({ length: 10 }, () => store().retryJob(job.id, null, ROOMY, NOW)),
        );
        const kinds = retries.map(({ kind }) => kind);
        expect(kinds.filter((kind) => kind === 'queued')).toHaveLength(1);
        expect(await jobOf(store(), job.id)).toMatchObject({ generation: 2, status: 'QUEUED' });
      });
    });

    describe('who is told of an end', () => {
      test('of a job, once every time that it ends', async () => {
        const { claimId, job } = await runningJob(store(), anna.id, { webhook: WEBHOOK });
        await runningJob(store(), anna.id);
        expect(await messages()).toEqual([]);
        await store().failJob(
          { claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0 },
          NOW + 7,
        );
        expect(await store().dueWebhooks(NOW + 7, 100)).toEqual([
          {
            ...WEBHOOK,
            id: `msg_${job.id}_1`,
            subject: 'job',
            subjectId: job.id,
            memberId: anna.id,
            createdAt: NOW + 7,
            attempts: 0,
          },
        ]);
        await store().retryJob(job.id, null, ROOMY, NOW + 8);
        await finish((await claimed(store(), job.id)).claimId);
        expect(await messages()).toEqual([`msg_${job.id}_1`, `msg_${job.id}_2`]);
      });

      test('of a batch, with its last job, and again where that was retried', async () => {
        const { id } = await submitBatch(store(), anna.id, { webhook: WEBHOOK });
        const [first = '', second = ''] = await jobIdsOf(store(), id);
        await finish((await claimed(store(), first)).claimId);
        expect(await messages()).toEqual([]);
        await store().cancelJob(second, null, NOW + 3);
        expect(await messages()).toEqual([`msg_${id}_2`]);
        await store().retryJob(second, null, ROOMY, NOW + 4);
        await finish((await claimed(store(), second)).claimId);
        expect(await messages()).toEqual([`msg_${id}_2`, `msg_${id}_3`]);
      });
    });
  });
}

/** Sends both at the same time: one wins, the other is told so, and the job agrees. */
async function race(store: Store, jobId: string, cancelFirst: boolean): Promise<string> {
  const { claimId } = await claimed(store, jobId);
  const cancel = () => store.cancelJob(jobId, null, NOW + 3);
  const finish = () => store.finishJob(newFinish(claimId), NOW + 3);
  const asked = cancelFirst ? [cancel(), finish()] : [finish(), cancel()];
  const kinds = (await Promise.all(asked)).map(({ kind }) => kind).toSorted();
  expect([
    ['canceled', 'stale'],
    ['finished', 'stored'],
  ]).toContainEqual(kinds);
  const { status } = await jobOf(store, jobId);
  expect(status).toBe(kinds.includes('stored') ? 'PROCESSED' : 'CANCELED');
  return status;
}
