/** The part of the contract that is about webhooks that are not delivered yet. */
import type { Store, WebhookDelivery } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  ROOMY,
  claimJob,
  failJob,
  finishJob,
  jobIdsOf,
  submitBatch,
  submitJob,
} from './job-rows.js';
import type { StoreHarness } from './store-harness.js';
import { NOW, createMember } from './store-rows.js';

const webhook = { url: 'https://example.org/hook', secret: 'whsec_c2VjcmV0' };
const LATER = NOW + 100;
const LEASE_MS = 1_000;

export function describeWebhooks(adapter: string, open: () => StoreHarness): void {
  const store = (): Store => open().store;
  /** Begins an attempt. */
  const lease = async (id = '', now = LATER): Promise<void> =>
    expect(await store().leaseWebhook(id, now + LEASE_MS, now)).toBe(true);
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const due = (now = LATER, perMember = 10): Promise<readonly WebhookDelivery[]> =>
    store().dueWebhooks(now, perMember);
  const cancel = (id: string, now: number) => store().cancelJob(id, null, now);

  describe(`${adapter}: webhooks`, () => {
    test('the end of a job is told to who wished to know, and to nobody before it', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna, { webhook });
      const { id: silent } = await submitJob(store(), anna);
      await claimJob(store(), id);
      expect(await due()).toEqual([]);
      expect(await store().nextWebhookAt()).toBeNull();
      await cancel(silent, NOW + 4);
      await cancel(id, NOW + 5);
      expect(await due()).toEqual([
        {
          id: expect.any(String),
          subject: 'job',
          subjectId: id,
          memberId: anna,
          ...webhook,
          createdAt: NOW + 5,
          attempts: 0,
        },
      ]);
      expect(await store().nextWebhookAt()).toBe(NOW + 5);
    });

    test('every way to end is told', async () => {
      const anna = await memberId('anna');
      const jobs = [];
      for (let i = 0; i < 3; i++) jobs.push(await submitJob(store(), anna, { webhook }));
      const [done, failed, canceled] = jobs.map(({ id }) => id);
      await finishJob(store(), done ?? '', { now: NOW + 1 });
      await failJob(store(), failed ?? '', NOW + 2);
      await cancel(canceled ?? '', NOW + 3);
      expect(subjectsOf(await due())).toEqual([done, failed, canceled]);
    });

    test('a batch is told of once, when its last job has ended', async () => {
      const anna = await memberId('anna');
      const { id } = await submitBatch(store(), anna, { webhook });
      const [one, two] = await jobIdsOf(store(), id);
      await finishJob(store(), one ?? '', { now: NOW + 1 });
      expect(await due()).toEqual([]);
      await failJob(store(), two ?? '', NOW + 2);
      expect(await due()).toMatchObject([
        { subject: 'batch', subjectId: id, memberId: anna, ...webhook, createdAt: NOW + 2 },
      ]);
      const other = await submitBatch(store(), anna, { webhook });
      await store().cancelBatch(other.id, anna, NOW + 3);
      expect(subjectsOf(await due())).toEqual([id, other.id]);
    });

    test('those are due whose time has come, the longest due first, up to a limit', async () => {
      const anna = await memberId('anna');
      const ids = [];
      for (let i = 0; i < 3; i++) ids.push((await submitJob(store(), anna, { webhook })).id);
      const [first, second, third] = ids.map(String);
      await cancel(third ?? '', NOW + 30);
      await cancel(first ?? '', NOW + 10);
      await cancel(second ?? '', NOW + 20);
      expect(subjectsOf(await due(NOW + 30))).toEqual([first, second, third]);
      expect(subjectsOf(await due(NOW + 20))).toEqual([first, second]);
      expect(subjectsOf(await due(NOW + 30, 1))).toEqual([first]);
      expect(await due(NOW + 9)).toEqual([]);
      expect(await store().nextWebhookAt()).toBe(NOW + 10);
    });

    test('no backlog of one member hides what others have to be told', async () => {
      const [anna, berta] = [await memberId('anna'), await memberId('berta')];
      const endOne = async (): Promise<unknown> =>
        cancel((await submitJob(store(), anna, { webhook })).id, NOW + 1);
      for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 50 }, endOne));
      const { id: early } = await submitJob(store(), berta, { webhook });
      await cancel(early, NOW);
      const { id: late } = await submitJob(store(), berta, { webhook });
      await cancel(late, NOW + 2);
      const found = await due(NOW + 2, 3);
      expect(found.map(({ memberId: one }) => one)).toEqual([berta, anna, anna, anna, berta]);
      expect([found[0]?.subjectId, found[4]?.subjectId]).toEqual([early, late]);
      expect(await due(NOW + 1, 1)).toEqual([found[0], found[1]]);
    });

    test('one that was tried in vain keeps its id and comes again, later', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [first] = await due();
      await lease(first?.id);
      await store().postponeWebhook(first?.id ?? '', LATER + 50);
      expect(await due()).toEqual([]);
      expect(await store().nextWebhookAt()).toBe(LATER + 50);
      expect(await due(LATER + 50)).toEqual([{ ...first, attempts: 1 }]);
      await lease(first?.id, LATER + 50);
      await store().postponeWebhook(first?.id ?? '', LATER + 60);
      expect(await due(LATER + 60)).toEqual([{ ...first, attempts: 2 }]);
    });

    test('one that has ended is gone; ending what is gone does nothing', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [{ id } = { id: '' }] = await due();
      await lease(id);
      await store().endWebhook(id);
      await store().endWebhook(id);
      expect(await store().leaseWebhook(id, LATER + LEASE_MS, LATER)).toBe(false);
      await store().postponeWebhook(id, LATER);
      expect(await due()).toEqual([]);
      expect(await store().nextWebhookAt()).toBeNull();
    });

    test('one that another coordinator has leased is due here when the lease ends', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [{ id } = { id: '' }] = await due();
      const other = open().peer('other');
      const until = LATER + LEASE_MS;
      expect(await other.leaseWebhook(id, until, LATER)).toBe(true);
      expect(await store().leaseWebhook(id, until, LATER)).toBe(false);
      expect([await due(), await due(until - 1)]).toEqual([[], []]);
      expect(await store().nextWebhookAt()).toBe(until);
      // An earlier process of the holder may have left it.
      expect((await other.dueWebhooks(LATER, 10)).map((one) => one.id)).toEqual([id]);
      expect(await other.nextWebhookAt()).toBe(NOW + 1);
      expect(await other.leaseWebhook(id, until, LATER)).toBe(true);
      expect((await due(until)).map((one) => one.id)).toEqual([id]);
      await lease(id, until);
      // The former holder changes nothing any more.
      await other.postponeWebhook(id, until + 50);
      await other.releaseWebhook(id);
      await other.endWebhook(id);
      expect(await other.leaseWebhook(id, until + LEASE_MS, until)).toBe(false);
      expect(await due(until)).toMatchObject([{ id, attempts: 0 }]);
    });

    test('one whose attempt was not made is due at once, for every coordinator', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [first] = await due();
      await lease(first?.id);
      await store().releaseWebhook(first?.id ?? '');
      const other = open().peer('other');
      expect(await other.dueWebhooks(LATER, 10)).toEqual([first]);
      expect(await other.nextWebhookAt()).toBe(NOW + 1);
    });

    test('one that was postponed meanwhile is not leased', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [{ id } = { id: '' }] = await due();
      await lease(id);
      await store().postponeWebhook(id, LATER + 50);
      const other = open().peer('other');
      expect(await other.leaseWebhook(id, LATER + LEASE_MS, LATER)).toBe(false);
      expect(await other.leaseWebhook(id, LATER + LEASE_MS, LATER + 50)).toBe(true);
    });

    test('a retried job ends again, and is told of again as another message', async () => {
      const anna = await memberId('anna');
      const { id: jobId } = await submitJob(store(), anna, { webhook });
      await cancel(jobId, NOW + 1);
      const [first] = await due();
      await lease(first?.id);
      await store().endWebhook(first?.id ?? '');
      await store().retryJob(jobId, anna, ROOMY, NOW + 2);
      expect(await due()).toEqual([]);
      await finishJob(store(), jobId, { now: NOW + 3 });
      const [second] = await due();
      expect(second).toMatchObject({ subjectId: jobId, ...webhook, createdAt: NOW + 3 });
      expect(second?.id).not.toBe(first?.id);
    });

    test('what is still to be told of a job goes with it', async () => {
      const anna = await memberId('anna');
      const { id } = await submitJob(store(), anna, { webhook });
      const batch = await submitBatch(store(), anna, { webhook });
      await cancel(id, NOW + 1);
      await store().cancelBatch(batch.id, anna, NOW + 1);
      expect(await due()).toHaveLength(2);
      await store().deleteOldJobs(LATER, 10);
      expect(await due()).toEqual([]);
    });
  });
}

function subjectsOf(deliveries: readonly WebhookDelivery[]): string[] {
  return deliveries.map(({ subjectId }) => subjectId);
}
