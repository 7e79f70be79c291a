/** The part of the contract that is about jobs: their submission, their lists, their places. */
import type { Job, JobQuery, Store } from '@inference-gateway/coordinator/store/port';
import { ulid } from '@inference-gateway/shared/ids';
import { describe, expect, test } from 'vitest';
import {
  NEWEST_JOBS,
  NO_ID,
  ROOMY,
  claimJob,
  failJob,
  finishJob,
  newItem,
  newSubmission,
  submitJob,
} from './job-rows.js';
import type { JobOverrides } from './job-rows.js';
import { NOW, createMember, newAsset } from './store-rows.js';

export function describeJobs(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const submit = (member: string, job: JobOverrides = {}): Promise<Job> =>
    submitJob(store(), member, job);
  const idsOf = async (query: Partial<JobQuery>): Promise<string[]> => {
    return (await store().listJobs({ ...NEWEST_JOBS, ...query })).map(({ id }) => id);
  };

  describe(`${adapter}: submission of jobs`, () => {
    test('a submitted job is queued, and found as it was answered', async () => {
      const anna = await memberId('anna');
      const needs = { features: ['tools'], voices: [], format: 'wav' };
      const item = newItem({ endpoint: 'speech', model: 'kokoro', needs });
      const id = ulid(NOW);
      const submission = { ...newSubmission(anna, { scope: 'own', maxAttempts: 5 }), id, item };
      const outcome = await store().createJob(submission, ROOMY, NOW);
      const job = {
        memberId: anna,
        keyId: 'key',
        requestId: submission.requestId,
        scope: 'own',
        needs,
        id: expect.stringMatching(/^[0-9A-Z]{26}$/),
        endpoint: 'speech',
        api: null,
        model: 'kokoro',
        alias: null,
        servedModel: null,
        status: 'QUEUED',
        createdAt: NOW,
        queuedAt: NOW,
        startedAt: null,
        finishedAt: null,
        attempts: 0,
        maxAttempts: 5,
        generation: 1,
        providerId: null,
        notBefore: null,
        batchId: null,
        batchIndex: null,
        error: null,
        firstAssetId: null,
      };
      const position = { jobId: id, ahead: [] };
      expect(outcome).toEqual({ kind: 'created', value: job, claimed: null, position });
      const [listed] = await store().listJobs({ ...NEWEST_JOBS, memberId: anna });
      expect(listed).toEqual(job);
      const found = await store().findJob(listed?.id ?? '', anna);
      expect(found).toEqual({ job: listed, failedAttempts: [], result: null, assets: [] });
    });

    test('its body is what a provider gets, byte for byte', async () => {
      const anna = await memberId('anna');
      const body = Buffer.from('{"prompt":"\\u0000 ä 🌊"}');
      const { id: jobId } = await submit(anna, { item: { body } });
      const claim = {
        claimId: 'c',
        providerId: 'p',
        linkId: 's',
        serviceId: 'llm-1',
        isOwn: false,
      };
      const [claimed] = await store().claimJobs([{ jobId, ...claim, leaseUntil: NOW + 9 }], NOW);
      expect(Buffer.from(claimed?.[1] ?? [])).toEqual(body);
    });

    test('the body of a job is kept until it is processed, for its member alone', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const body = Buffer.from('{"model":"tiny"}');
      const { id } = await submit(anna, { item: { body } });
      const found = await store().findJobBody(id, anna);
      expect(Buffer.from(found ?? [])).toEqual(body);
      expect(await store().findJobBody(id, null)).not.toBeNull();
      expect(await store().findJobBody(id, ben)).toBeNull();
      expect(await store().findJobBody(NO_ID, anna)).toBeNull();
      await finishJob(store(), id);
      expect(await store().findJobBody(id, anna)).toBeNull();
    });

    test("another member's job is found by nobody else; null stands for any member", async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const { id } = await submit(anna);
      expect(await store().findJob(id, ben)).toBeNull();
      expect(await store().findJob(NO_ID, anna)).toBeNull();
      expect((await store().findJob(id, null))?.job.id).toBe(id);
    });

    test('a job with the id of another is a fault, and nothing of it stays', async () => {
      const anna = await memberId('anna');
      const { id } = await submit(anna);
      const again = {
        ...newSubmission(anna, { webhook: { url: 'https://example.org', secret: 's' } }),
        id,
        item: newItem(),
      };
      await expect(store().createJob(again, ROOMY, NOW)).rejects.toThrow('createJob failed');
      expect(await idsOf({})).toEqual([id]);
      await store().cancelJob(id, anna, NOW);
      expect(await store().nextWebhookAt()).toBeNull();
    });
  });

  describe(`${adapter}: results of jobs`, () => {
    test('a text job has its result once it is PROCESSED', async () => {
      const anna = await memberId('anna');
      const { id } = await submit(anna);
      await finishJob(store(), id);
      const found = await store().findJob(id, anna);
      expect(found).toMatchObject({ job: { status: 'PROCESSED' }, result: '{"choices":[]}' });
    });

    test('files are in the order in which they were made; the deleted are left out', async () => {
      const anna = await memberId('anna');
      const { id } = await submit(anna, { item: { endpoint: 'images' } });
      const assets = [3, 1, 2].map((at) => newAsset(anna, { createdAt: NOW + at, bytes: at }));
      const [first, second, third] = assets.map((asset) => asset.id);
      await finishJob(store(), id, { assets });
      const found = async () => {
        const detail = await store().findJob(id, anna);
        const ids = detail?.assets.map((asset) => asset.id);
        return { first: detail?.job.firstAssetId, ids, result: detail?.result };
      };
      expect((await store().findJob(id, anna))?.assets).toEqual(assets);
      expect(await found()).toEqual({ first, ids: [first, second, third], result: null });
      await store().deleteAsset(first ?? '', anna);
      expect(await found()).toEqual({ first: second, ids: [second, third], result: null });
      await store().takeExpiredAssets(NOW + 10_000_000, 10);
      expect(await found()).toEqual({ first: null, ids: [], result: null });
    });
  });

  describe(`${adapter}: lists of jobs`, () => {
    test('a list is newest first, of one member or of all, and a page at most', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const first = await submit(anna, { now: NOW });
      const second = await submit(ben, { now: NOW + 1 });
      const third = await submit(anna, { now: NOW + 2 });
      expect(await idsOf({ memberId: anna })).toEqual([third.id, first.id]);
      expect(await idsOf({})).toEqual([third.id, second.id, first.id]);
      expect(await idsOf({ limit: 2 })).toEqual([third.id, second.id]);
      expect(await idsOf({ limit: 2, order: 'asc' })).toEqual([first.id, second.id]);
      expect(await idsOf({ order: 'asc', after: second.id })).toEqual([third.id]);
      expect(await idsOf({ memberId: NO_ID })).toEqual([]);
    });

    test('a list holds the statuses that are asked for, in one order', async () => {
      const anna = await memberId('anna');
      const jobs = [];
      for (let i = 0; i < 10; i++) jobs.push((await submit(anna, { now: NOW + i })).id);
      const [a, b, c, d, e, f, ...queued] = jobs.map(String);
      for (const id of [a, d]) await claimJob(store(), id ?? '');
      for (const id of [b, e]) await finishJob(store(), id ?? '');
      await failJob(store(), c ?? '');
      await store().cancelJob(f ?? '', anna, NOW + 20);
      for (const reader of [anna, null]) {
        const list = (...statuses: Job['status'][]): Promise<string[]> =>
          idsOf({ memberId: reader, statuses });
        expect(await list('QUEUED', 'PROCESSING')).toEqual([...queued.toReversed(), d, a]);
        expect(await list('PROCESSED', 'PROCESSED')).toEqual([e, b]);
        expect(await list('FAILED', 'CANCELED', 'PROCESSED')).toEqual([f, e, c, b]);
        expect(await list()).toEqual([]);
        const page = { memberId: reader, statuses: ['QUEUED', 'PROCESSING'] as const, limit: 3 };
        expect(await idsOf({ ...page, after: queued[1] ?? '' })).toEqual([queued[0], d, a]);
        expect(await idsOf({ ...page, after: queued[2] ?? '' })).toEqual([queued[1], queued[0], d]);
        expect(await idsOf({ ...page, order: 'asc' })).toEqual([a, d, queued[0]]);
        expect(await idsOf({ ...page, order: 'asc', after: d ?? '' })).toEqual(queued.slice(0, 3));
      }
    });

    test('a list holds the endpoints and models that are asked for', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const made = new Map<string, string>();
      const make = async (name: string, member: string, item: JobOverrides['item'] = {}) =>
        made.set(name, (await submit(member, { item, now: NOW + made.size })).id);
      await make('qwen', anna, { model: 'Qwen/Qwen3:8b' });
      await make('flux', anna, { endpoint: 'images', model: 'flux_1' });
      await make('text', anna, { endpoint: 'completions', model: 'qwen3:8b' });
      await make('bens', ben, { model: 'qwen3:8b' });
      await make('odd', anna, { model: '100%-Ä' });
      await failJob(store(), made.get('text') ?? '');
      const list = async (query: Partial<JobQuery>): Promise<(string | undefined)[]> => {
        const ids = await idsOf({ memberId: anna, ...query });
        return ids.map((id) => [...made].find((entry) => entry[1] === id)?.[0]);
      };
      expect(await list({ endpoints: ['chat', 'completions'] })).toEqual(['odd', 'text', 'qwen']);
      expect(await list({ endpoints: ['images'] })).toEqual(['flux']);
      expect(await list({ endpoints: ['music'] })).toEqual([]);
      expect(await list({ endpoints: [] })).toEqual([]);
      expect(await list({ model: 'QWEN' })).toEqual(['text', 'qwen']);
      expect(await list({ model: 'qwen', memberId: null })).toEqual(['bens', 'text', 'qwen']);
      expect(await list({ model: 'wen3', endpoints: ['chat'] })).toEqual(['qwen']);
      expect(await list({ model: 'wen3', statuses: ['QUEUED', 'PROCESSING'] })).toEqual(['qwen']);
      expect(await list({ model: 'wen3', statuses: ['FAILED'], memberId: null })).toEqual(['text']);
      // SQL's wildcards have no special meaning here, and letters outside ASCII match themselves.
      expect(await list({ model: '_' })).toEqual(['flux']);
      expect(await list({ model: '%' })).toEqual(['odd']);
      expect(await list({ model: "' or 1" })).toEqual([]);
      expect(await list({ model: 'Ä' })).toEqual(['odd']);
      const page = { model: 'qwen', limit: 1 };
      expect(await list(page)).toEqual(['text']);
      expect(await list({ ...page, after: made.get('text') ?? '' })).toEqual(['qwen']);
      expect(await list({ ...page, order: 'asc' })).toEqual(['qwen']);
      // `after` may name a job that the filter excludes.
      expect(await list({ ...page, after: made.get('flux') ?? '' })).toEqual(['qwen']);
    });

    test('pages miss nothing and repeat nothing while new jobs come in', async () => {
      const anna = await memberId('anna');
      // Several have the same millisecond: then the id decides their order.
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, i) => submit(anna, { now: NOW + Math.floor(i / 4) })),
      );
      const page = (after: string | null): Promise<string[]> =>
        idsOf({ memberId: anna, limit: 3, after });
      const seen: string[] = [];
      for (let ids = await page(null); ids.length > 0; ids = await page(seen.at(-1) ?? null)) {
        seen.push(...ids);
        await submit(anna, { now: NOW + 100 + seen.length });
      }
      expect(seen.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
      expect(seen).toEqual(seen.toSorted().toReversed());
    });

    test("an unknown 'after' is an empty list, and another member's is no different", async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const old = await submit(anna, { now: NOW });
      const bens = await submit(ben, { now: NOW + 1 });
      expect(await idsOf({ memberId: anna, after: ulid(NOW + 2) })).toEqual([]);
      expect(await idsOf({ memberId: anna, after: bens.id })).toEqual([]);
      expect(await idsOf({ after: bens.id })).toEqual([old.id]);
    });
  });
}
