/** The part of the contract that is about giving jobs to providers. */
import { ulid } from '@inference-gateway/shared/ids';
import type { Member, NewJobItem, Store } from '@inference-gateway/coordinator/store/port';
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
import { BROKEN, NO_ID, NO_NEEDS, newItem, newSubmission, submitJob, LINK_ID } from './job-rows.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createMember } from './store-rows.js';

const HUGE = { jobs: 100_000, bytes: 100_000_000 };

export function describeClaims(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;
  const sweep = async (now: number): Promise<string[]> => {
    const swept = await store().sweepLeases({ error: BROKEN, random: 0, limit: 10 }, now);
    return swept.map(({ kind }) => kind);
  };
  const renew = (claimIds: readonly string[], until: number, providerId = 'den') =>
    store().renewClaims({ providerId, linkId: LINK_ID, claimIds, leaseUntil: until }, NOW);

  describe(adapter, () => {
    let anna: Member;

    beforeEach(async () => {
      anna = await createMember(store(), 'anna');
    });

    const submit = async (item: Partial<NewJobItem> = {}): Promise<string> =>
      (await submitJob(store(), anna.id, { item })).id;

    const create = (on: Store, { idempotencyKey = null, limits = HUGE }: Attempt = {}) => {
      const id = ulid(NOW);
      const { jobId: _, ...claim } = newClaim(id);
      const job = { ...newSubmission(anna.id), idempotencyKey, id, item: newItem(), claim };
      return on.createJob(job, limits, NOW);
    };

    describe('lanes', () => {
      test('jobs that the matcher cannot tell apart share a lane, and others do not', async () => {
        const ben = await createMember(store(), 'ben');
        const tools = { ...NO_NEEDS, features: ['tools', 'vision'] };
        const sameTools = { ...NO_NEEDS, features: ['vision', 'tools'] };
        const pair = [await submit({ needs: tools }), await submit({ needs: sameTools })];
        await submit();
        await submit({ model: 'qwen' });
        await submit({ endpoint: 'images' });
        await submitJob(store(), anna.id, { scope: 'own' });
        await submitJob(store(), ben.id);
        const heads = await store().laneHeads(10);
        expect(heads).toHaveLength(6);
        expect(new Set(heads.map(({ key }) => key)).size).toBe(6);
        const shared = heads.find(({ jobs }) => jobs.length === 2);
        expect(shared?.jobs.map(({ id }) => id)).toEqual(pair);
        expect(shared?.lane).toEqual({
          serviceType: 'llm',
          model: 'llama-3.1-8b',
          memberId: anna.id,
          scope: 'any',
          needs: tools,
          excluded: [],
          avoided: [],
        });
      });

      test('of each lane the first jobs are shown, in their order', async () => {
        const ids = [await submit(), await submit(), await submit()];
        await submit({ model: 'qwen' });
        const heads = await store().laneHeads(2);
        expect(heads.map(({ jobs }) => jobs.length)).toEqual(expect.arrayContaining([1, 2]));
        const first = heads.find(({ lane }) => lane.model === 'llama-3.1-8b');
        expect(first?.jobs.map(({ id }) => id)).toEqual(ids.slice(0, 2));
        expect(first?.jobs[0]).toMatchObject({ endpoint: 'chat', queuedAt: NOW });
      });

      test('a job that is claimed, has ended or backs off is in no lane', async () => {
        await runningJob(store(), anna.id);
        const failing = await runningJob(store(), anna.id);
        const failure = {
          claimId: failing.claimId,
          linkId: LINK_ID,
          retryable: true,
          error: BROKEN,
          random: 0.5,
        };
        await store().failJob(failure, NOW + 2);
        await store().cancelJob(await submit(), null, NOW);
        expect(await store().laneHeads(10)).toEqual([]);
      });

      test('fifty callers are served in 51 claims, though one floods the queue', async () => {
        const flood = Array.from({ length: 256 }, () => newItem());
        const batch = { ...newSubmission(anna.id), label: null, items: flood };
        await Promise.all(Array.from({ length: 8 }, () => store().createBatch(batch, HUGE, NOW)));
        for (let i = 0; i < 20; i++) await claimNext(store());
        const others = await Promise.all(
          Array.from({ length: 50 }, (_, i) => createMember(store(), `caller-${i}`)),
        );
        await Promise.all(others.map(({ id }) => submitJob(store(), id, { now: NOW + 1 })));
        const served = new Set<string>();
        for (let i = 0; i < 51; i++) served.add(await claimNext(store()));
        expect(others.filter(({ id }) => !served.has(id))).toEqual([]);
        expect((await store().modelQueues(null))[0]?.queued).toBe(8 * 256 - 21);
      }, 60_000);
    });

    describe('a job that is created with its claim', () => {
      test('is answered as it was created, and is claimed', async () => {
        const body = Buffer.from(newItem().body).toString();
        const created = await create(store());
        if (created.kind !== 'created') throw new Error(created.kind);
        const { value, position, claimed: taken } = created;
        expect(value).toMatchObject({ status: 'QUEUED', attempts: 0 });
        expect(position).toBeNull();
        expect(taken?.[0].job).toMatchObject({ id: value.id, status: 'PROCESSING', attempts: 1 });
        expect(Buffer.from(taken?.[1] ?? []).toString()).toBe(body);
        expect(await jobOf(store(), value.id)).toEqual(taken?.[0].job);
      });

      test('of twelve with one key by two coordinators, one is created and claimed', async () => {
        const stores = [store(), harness().peer('other')];
        const outcomes = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            create(stores[i % 2] ?? store(), { idempotencyKey: 'key' }),
          ),
        );
        const [made, ...others] = outcomes.toSorted((one, other) =>
          one.kind < other.kind ? -1 : 1,
        );
        expect(made).toMatchObject({ kind: 'created', claimed: [{ job: { attempts: 1 } }, {}] });
        expect(others.map(({ kind }) => kind)).toEqual(others.map(() => 'replayed'));
        expect(await store().laneHeads(10)).toEqual([]);
      });

      test('is neither created nor claimed if the queue is full', async () => {
        expect(await create(store(), { limits: { jobs: 0, bytes: 0 } })).toMatchObject({
          kind: 'queue_full',
        });
        expect(await store().modelQueues(null)).toEqual([]);
      });

      test('is created and has a position if the queue is paused', async () => {
        const before = await submit();
        await store().setQueuePaused(true);
        const created = await create(store());
        if (created.kind !== 'created') throw new Error(created.kind);
        const ahead = [{ memberId: anna.id, jobs: 1 }];
        expect(created.claimed).toBeNull();
        expect(created.position).toEqual({ jobId: created.value.id, ahead });
        const [head] = await store().laneHeads(10);
        expect(head?.jobs.map(({ id }) => id)).toEqual([before, created.value.id]);
      });
    });

    describe('claims', () => {
      test('a claimed job is PROCESSING, with its attempt and its body', async () => {
        const body = Buffer.from('{"messages":[{"role":"user","content":"hé"}]}');
        const id = await submit({ body });
        const claim = newClaim(id);
        const [taken] = await store().claimJobs([claim], NOW + 5);
        expect(Buffer.from(taken?.[1] ?? []).toString()).toBe(body.toString());
        expect(taken?.[0]).toMatchObject({
          claimId: claim.claimId,
          serviceId: 'llm-1',
          memberName: 'anna',
          acceptedAt: null,
          runDeadline: null,
          job: { id, status: 'PROCESSING', attempts: 1, startedAt: NOW + 5, providerId: 'den' },
        });
        expect(await jobOf(store(), id)).toEqual(taken?.[0].job);
      });

      test('one job is claimed once, although twenty ask at the same time', async () => {
        const id = await submit();
        const asking = Array.from({ length: 20 }, () => store().claimJobs([newClaim(id)], NOW));
        const answers = (await Promise.all(asking)).flat();
        expect(answers.filter((answer) => answer !== null)).toHaveLength(1);
        expect((await jobOf(store(), id)).attempts).toBe(1);
      });

      test('claims are answered in their order, null where no such job is there', async () => {
        const [first, second] = [await submit(), await submit()];
        await store().cancelJob(second, null, NOW);
        const claims = [NO_ID, first, second, first].map((id) => newClaim(id));
        const answers = await store().claimJobs(claims, NOW);
        const ids = answers.map((answer) => answer?.[0].job.id ?? null);
        expect([ids[0], ids[2]]).toEqual([null, null]);
        // Of two claims of one job, either may be the first.
        expect([
          [first, null],
          [null, first],
        ]).toContainEqual([ids[1], ids[3]]);
      });

      test('while the queue is paused no job is claimed, also after a restart', async () => {
        const id = await submit();
        expect(await store().isQueuePaused()).toBe(false);
        await store().setQueuePaused(true);
        await store().setQueuePaused(true);
        expect(await store().isQueuePaused()).toBe(true);
        const reopened = await harness().reopen();
        expect(await reopened.isQueuePaused()).toBe(true);
        expect(await reopened.claimJobs([newClaim(id)], NOW)).toEqual([null]);
        await reopened.setQueuePaused(false);
        expect(await reopened.claimJobs([newClaim(id)], NOW)).not.toEqual([null]);
      });

      test('an accepted job has a deadline, and a second ACCEPT does not put it off', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        expect(await store().acceptJob(heldBy(claimId), NOW + 900, NOW + 3)).toBe(true);
        expect(await store().acceptJob(heldBy(claimId), NOW + 999, NOW + 9)).toBe(true);
        const request = { providerId: 'den', linkId: 'next', random: 0, leaseUntil: NOW };
        const resumed = await store().resumeClaims({ ...request, claimIds: [claimId] }, NOW + 10);
        expect(resumed.claims[0]).toMatchObject({ acceptedAt: NOW + 3, runDeadline: NOW + 900 });
        await store().cancelJob(job.id, null, NOW + 11);
        expect(await store().acceptJob(heldBy(claimId), NOW + 900, NOW + 12)).toBe(false);
        expect(await store().acceptJob(heldBy('no such claim'), NOW + 900, NOW + 12)).toBe(false);
      });

      test('of many at once, each that is left has its own claim and result', async () => {
        const ids: string[] = [];
        for (let count = 0; count < 45; count += 1) ids.push(await submit());
        const gone = new Set(ids.filter((_, index) => index % 4 === 1));
        for (const id of gone) await store().cancelJob(id, anna.id, NOW);
        const claims = ids.map((id) => newClaim(id)).toReversed();
        const answers = await store().claimJobs(claims, NOW + 1);
        const claimsOf = answers.map((answer) => answer && [answer[0].job.id, answer[0].claimId]);
        const expected = claims.map(({ jobId, claimId }) => !gone.has(jobId) && [jobId, claimId]);
        expect(claimsOf).toEqual(expected.map((one) => one || null));
        const left = claims.filter(({ jobId }) => !gone.has(jobId));
        const ends = await Promise.all(
          left.map(({ claimId }) => {
            const result = Buffer.from(JSON.stringify({ claimId }));
            return store().finishJob(newFinish(claimId, { result }), NOW + 2);
          }),
        );
        expect(new Set(ends.map(({ kind }) => kind))).toEqual(new Set(['stored']));
        const results = await store().jobResults(left.map(({ jobId }) => jobId));
        expect(results).toEqual(left.map(({ claimId }) => JSON.stringify({ claimId })));
        const again = left.map(({ claimId }) => store().finishJob(newFinish(claimId), NOW + 3));
        expect((await Promise.all(again)).some(({ kind }) => kind === 'stored')).toBe(false);
      });
    });

    describe('leases', () => {
      test('a lease that is renewed lasts longer, and no renewal makes it shorter', async () => {
        const { claimId } = await runningJob(store(), anna.id);
        expect(await renew([claimId], NOW + 2 * LEASE_MS)).toEqual([]);
        expect(await renew([claimId], NOW + 1)).toEqual([]);
        expect(await sweep(NOW + 2 * LEASE_MS)).toEqual([]);
        expect(await sweep(NOW + 2 * LEASE_MS + 1)).toEqual(['requeued']);
      });

      test('claims that are not current are told to the caller who renews them', async () => {
        const [kept, canceled] = [
          await runningJob(store(), anna.id),
          await runningJob(store(), anna.id),
        ];
        const others = await runningJob(store(), anna.id, { claim: { providerId: 'attic' } });
        await store().cancelJob(canceled.job.id, null, NOW);
        const asked = ['unknown', kept.claimId, canceled.claimId, others.claimId];
        const lost = await renew(asked, NOW + 2 * LEASE_MS);
        expect(lost).toEqual(['unknown', canceled.claimId, others.claimId]);
        expect(await renew([], NOW)).toEqual([]);
        // The claim of another provider was not renewed as well.
        expect(await sweep(NOW + LEASE_MS + 1)).toEqual(['requeued']);
      });

      test('all leases are made to end at one time, earlier or later than they would', async () => {
        const short = await runningJob(store(), anna.id);
        const until = NOW + 3 * LEASE_MS;
        const long = await runningJob(store(), anna.id, { claim: { leaseUntil: 9 * until } });
        await store().renewOwnClaims(until, NOW);
        expect(await sweep(until)).toEqual([]);
        expect(await sweep(until + 1)).toEqual(['requeued', 'requeued']);
        for (const { job } of [short, long]) {
          expect((await jobOf(store(), job.id)).status).toBe('QUEUED');
        }
      });
    });

    describe('queues by model', () => {
      test('queued and running jobs are counted, with the oldest that waits', async () => {
        const ben = await createMember(store(), 'ben');
        await runningJob(store(), anna.id);
        await submitJob(store(), anna.id, { now: NOW + 7 });
        await submitJob(store(), ben.id, { now: NOW + 5 });
        await runningJob(store(), ben.id, { item: { model: 'kokoro', endpoint: 'speech' } });
        const llama = { serviceType: 'llm', model: 'llama-3.1-8b' };
        const kokoro = { serviceType: 'tts', model: 'kokoro' };
        const all = await store().modelQueues(null);
        expect(all).toHaveLength(2);
        expect(all).toContainEqual({ ...llama, queued: 2, processing: 1, oldestQueuedAt: NOW + 5 });
        expect(all).toContainEqual({ ...kokoro, queued: 0, processing: 1, oldestQueuedAt: null });
        expect(await store().modelQueues(anna.id)).toEqual([
          { ...llama, queued: 1, processing: 1, oldestQueuedAt: NOW + 7 },
        ]);
      });

      test('a job that backs off is counted; a model without jobs is gone', async () => {
        const { claimId, job } = await runningJob(store(), anna.id);
        const failure = { claimId, linkId: LINK_ID, retryable: true, error: BROKEN, random: 0 };
        await store().failJob(failure, NOW + 2);
        expect(await store().modelQueues(null)).toMatchObject([{ queued: 1, oldestQueuedAt: NOW }]);
        await store().cancelJob(job.id, null, NOW + 3);
        expect(await store().modelQueues(null)).toEqual([]);
      });
    });
  });
}

/** Claims the first job of the queue and returns its member's id. */
async function claimNext(store: Store): Promise<string> {
  const heads = await store.laneHeads(1);
  const [first] = heads
    .flatMap(({ jobs }) => jobs)
    .toSorted((a, b) => a.fairKey - b.fairKey || (a.id < b.id ? -1 : 1));
  if (first === undefined) throw new Error('the queue is empty');
  return (await claimed(store, first.id)).job.memberId;
}

interface Attempt {
  readonly idempotencyKey?: string | null;
  readonly limits?: typeof HUGE;
}
