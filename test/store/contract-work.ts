/** The part of the contract that is about work as its owner sees it: names, and the search. */
import type { JobQuery, NamedJob, Store } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  failJob,
  finishJob,
  NEWEST_JOBS,
  newItem,
  newSubmission,
  NO_ID,
  ROOMY,
  submitBatch,
  submitJob,
} from './job-rows.js';
import { createMember, newAsset, NOW } from './store-rows.js';

const SPACE = { memberBytes: 10_000_000, totalBytes: 10_000_000 };
const NONE = { excerpt: null, customId: null, batchLabel: null };
const HOUR_MS = 3_600_000;
const LATER = NOW + 1_000;

export function describeWork(adapter: string, store: () => Store): void {
  const memberId = async (name: string): Promise<string> => (await createMember(store(), name)).id;
  const list = (member: string, query: Partial<JobQuery> = {}): Promise<readonly NamedJob[]> =>
    store().listOwnJobs({ ...NEWEST_JOBS, ...query, memberId: member });
  const found = async (member: string, search: string, query: Partial<JobQuery> = {}) =>
    (await list(member, { search, ...query })).map(({ names }) => names.excerpt);
  const submit = async (member: string, excerpt: string | null, now = NOW): Promise<string> =>
    (await submitJob(store(), member, { item: { excerpt }, now })).id;
  const namesOf = async (member: string, id: string) =>
    (await store().findOwnJob(id, member))?.names;

  /** A batch of a file, whose lines are jobs with these ids of their caller. */
  const feed = async (member: string, customIds: readonly string[]): Promise<void> => {
    const asset = newAsset(member, { model: '', endpoint: 'chat' });
    const [path, lines] = ['/v1/chat/completions', customIds.length];
    const file = { asset, purpose: 'batch', filename: 'night.jsonl', path, lines } as const;
    await store().createFile(file, SPACE);
    const asked = { fileId: asset.id, path, metadata: null, windowMs: HOUR_MS };
    const made = await store().createFileBatch(
      { ...newSubmission(member), ...asked, outputLifetimeMs: null },
      NOW,
    );
    if (!('value' in made)) throw new Error(made.kind);
    const fed = customIds.map((customId, index) => {
      return { line: index + 1, customId, made: newItem({ excerpt: `line ${index + 1}` }) };
    });
    const request = { batchId: made.value.id, fromByte: 0, toByte: 10, lines: fed, maxAttempts: 3 };
    expect(await store().feedFileBatch(request, ROOMY, LATER)).toEqual({ kind: 'fed' });
  };

  describe(`${adapter}: names of work`, () => {
    test('a job has its excerpt for its owner, and no other read has it', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const id = await submit(anna, 'Draw a fox');
      expect(await namesOf(anna, id)).toEqual({ ...NONE, excerpt: 'Draw a fox' });
      expect((await list(anna)).map(({ names }) => names)).toEqual([
        { ...NONE, excerpt: 'Draw a fox' },
      ]);
      expect(await store().findOwnJob(id, ben)).toBeNull();
      expect(await list(ben)).toEqual([]);
      const others = [
        await store().findJob(id, null),
        await store().findJob(id, anna),
        await store().listJobs(NEWEST_JOBS),
        await store().listJobs({ ...NEWEST_JOBS, memberId: anna }),
        await store().cancelJob(id, anna, LATER),
        await store().listAudit({
          since: null,
          action: null,
          actor: null,
          subjectId: null,
          limit: 100,
          after: null,
        }),
      ];
      expect(JSON.stringify(others)).not.toContain('fox');
    });

    test('it stays with a retry', async () => {
      const anna = await memberId('anna');
      const id = await submit(anna, 'Draw a fox');
      await failJob(store(), id);
      await store().retryJob(id, anna, ROOMY, LATER);
      expect(await namesOf(anna, id)).toEqual({ ...NONE, excerpt: 'Draw a fox' });
    });

    test('jobs of a batch have its label, and those of a file the ids of their lines', async () => {
      const anna = await memberId('anna');
      const items = [newItem({ excerpt: 'one' }), newItem({ endpoint: 'speech', model: 'kokoro' })];
      const { id } = await submitBatch(store(), anna, { items, label: 'night' });
      const batch = await store().findOwnBatch(id, anna);
      expect(batch?.jobs).toMatchObject([
        { index: 0, model: 'llama-3.1-8b', names: { excerpt: 'one', batchLabel: 'night' } },
        { index: 1, model: 'kokoro', firstAssetId: null, names: { excerpt: null } },
      ]);
      expect(await store().findOwnBatch(id, await memberId('ben'))).toBeNull();
      expect(await store().findOwnBatch(NO_ID, anna)).toBeNull();
      expect(JSON.stringify(await store().findBatch(id, anna))).not.toContain('excerpt');

      await feed(anna, ['a-1', 'b-2']);
      const named = (await list(anna, { order: 'asc' })).map(({ names }) => names).slice(2);
      expect(named).toEqual([
        { excerpt: 'line 1', customId: 'a-1', batchLabel: null },
        { excerpt: 'line 2', customId: 'b-2', batchLabel: null },
      ]);
    });

    test('a file has the excerpt of its request, or all names of its job', async () => {
      const anna = await memberId('anna');
      const direct = newAsset(anna, { createdAt: NOW, requestId: 'req_direct' });
      await store().createAsset({ ...direct, excerpt: 'Hello there.' }, SPACE);
      const items = [newItem({ endpoint: 'images', excerpt: 'a hill' })];
      const batch = await submitBatch(store(), anna, { items, label: 'hills' });
      const [job] = (await store().findOwnBatch(batch.id, anna))?.jobs ?? [];
      const made = newAsset(anna, { createdAt: LATER });
      await finishJob(store(), job?.id ?? '', { assets: [made] });
      const named = await store().listOwnAssets({ memberId: anna, limit: 10, after: null });
      expect(named).toEqual([
        { ...made, names: { excerpt: 'a hill', customId: null, batchLabel: 'hills' } },
        { ...direct, names: { ...NONE, excerpt: 'Hello there.' } },
      ]);
      const others = [
        await store().listAssets({ memberId: anna, limit: 10, after: null }),
        await store().findAsset(made.id),
      ];
      expect(JSON.stringify(others)).not.toContain('hill');

      const asked = [`${job?.id}.1`, 'req_direct', 'req_other'];
      expect(await store().requestWork(anna, asked)).toEqual([
        {
          requestId: asked[0],
          jobId: job?.id,
          batchId: batch.id,
          files: [{ id: made.id, contentType: 'audio/wav' }],
          names: named[0]?.names,
        },
        {
          requestId: 'req_direct',
          jobId: null,
          batchId: null,
          files: [{ id: direct.id, contentType: 'audio/wav' }],
          names: named[1]?.names,
        },
      ]);
      expect(await store().requestWork(await memberId('ben'), asked)).toEqual([]);
      // Another run of the job has made none of them.
      expect(await store().requestWork(anna, [`${job?.id}.2`])).toMatchObject([{ files: [] }]);
    });

    test('a search looks at names and models, ignoring case, without wildcards', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      await submit(anna, 'Draw a Fox');
      await submit(anna, 'Кот в сапогах');
      await submit(anna, '100%_sure');
      await submit(ben, 'Draw a fox');
      await submitBatch(store(), anna, { items: [newItem({ excerpt: 'x' })], label: 'Nightly' });
      await feed(anna, ['Row-7']);
      expect(await found(anna, 'FOX')).toEqual(['Draw a Fox']);
      expect(await found(anna, 'fox')).toEqual(['Draw a Fox']);
      expect(await found(anna, 'кот')).toEqual(['Кот в сапогах']);
      expect(await found(anna, 'САПОГ')).toEqual(['Кот в сапогах']);
      expect(await found(anna, '%_')).toEqual(['100%_sure']);
      expect(await found(anna, '_')).toEqual(['100%_sure']);
      expect(await found(anna, 'night')).toEqual(['x']);
      expect(await found(anna, 'row-7')).toEqual(['line 1']);
      expect(await found(anna, 'LLAMA-3.1')).toHaveLength(5);
      expect(await found(anna, "'; drop table jobs; --")).toEqual([]);
      expect(await found(anna, 'fox', { statuses: ['QUEUED', 'FAILED'] })).toEqual(['Draw a Fox']);
      expect(await found(anna, 'fox', { statuses: ['FAILED'] })).toEqual([]);
    });

    test('a search reads a part of a list in its order, up to where it says', async () => {
      const anna = await memberId('anna');
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) ids.unshift(await submit(anna, `fox ${i}`, NOW + i));
      const query = { ...NEWEST_JOBS, memberId: anna, search: 'fox' };
      const until = await store().searchEnd(query, 2);
      expect(until).toBe(ids[1]);
      expect(await found(anna, 'fox', { until })).toEqual(['fox 4', 'fox 3']);
      const next = { ...query, after: until };
      expect(await store().searchEnd(next, 2)).toBe(ids[3]);
      expect(await store().searchEnd(next, 3)).toBeNull();
      expect(await store().searchEnd({ ...query, after: NO_ID }, 2)).toBeNull();
      expect(await store().searchEnd({ ...query, keyId: 'another' }, 2)).toBeNull();
      expect(await store().searchEnd({ ...query, order: 'asc' }, 2)).toBe(ids[3]);
      await failJob(store(), ids[4] ?? '');
      await failJob(store(), ids[1] ?? '');
      // The nearer end: two queued ones are read, and the failed one beside them.
      const ended = { ...query, statuses: ['QUEUED', 'FAILED'] } as const;
      expect(await store().searchEnd(ended, 2)).toBe(ids[2]);
      expect(await store().searchEnd(ended, 1)).toBe(ids[0]);
      const counted = (last: string | null) =>
        store().countJobs({ ...query, until: last }, ['QUEUED'], 10);
      expect([...(await counted(ids[2] ?? null))]).toEqual([['QUEUED', 2]]);
      expect([...(await counted(null))]).toEqual([['QUEUED', 3]]);

      const files = [0, 1, 2].map((i) => newAsset(anna, { createdAt: NOW + i }));
      for (const file of files) await store().createAsset({ ...file, excerpt: 'fox' }, SPACE);
      const asked = { memberId: anna, search: 'fox', limit: 10, after: null };
      const end = await store().assetSearchEnd(asked, 2);
      expect(end).toBe(files[1]?.id);
      expect(await store().listOwnAssets({ ...asked, until: end })).toHaveLength(2);
      expect(await store().assetSearchEnd({ ...asked, after: end }, 1)).toBeNull();
      const ben = { ...asked, memberId: await memberId('ben'), after: end };
      expect(await store().assetSearchEnd(ben, 1)).toBeNull();
      expect(await store().assetSearchEnd({ ...asked, after: NO_ID }, 1)).toBeNull();
      expect(await store().listOwnAssets({ ...asked, after: end })).toHaveLength(1);
    });

    test('a search of files looks at the same, and pages', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      for (const [index, excerpt] of ['Red fox', 'blue fox', 'Owl'].entries()) {
        const asset = newAsset(anna, { createdAt: NOW + index, model: 'Kokoro' });
        await store().createAsset({ ...asset, excerpt }, SPACE);
      }
      await store().createAsset({ ...newAsset(ben), excerpt: 'fox' }, SPACE);
      const search = async (part: string, limit = 10, after: string | null = null) =>
        store().listOwnAssets({ memberId: anna, search: part, limit, after });
      const texts = (files: Awaited<ReturnType<typeof search>>) =>
        files.map(({ names }) => names.excerpt);
      expect(texts(await search('FOX'))).toEqual(['blue fox', 'Red fox']);
      expect(texts(await search('kokoro'))).toHaveLength(3);
      const first = await search('fox', 1);
      expect(texts(first)).toEqual(['blue fox']);
      expect(texts(await search('fox', 1, first[0]?.id))).toEqual(['Red fox']);
    });
  });

  describe(`${adapter}: the end of excerpts`, () => {
    test('a member who keeps none has none, of any work, from that moment on', async () => {
      const [anna, ben] = [await memberId('anna'), await memberId('ben')];
      const kept = await submit(anna, 'before');
      const bens = await submit(ben, 'Ben’s');
      await store().createAsset({ ...newAsset(anna), excerpt: 'before' }, SPACE);
      expect(await store().setExcerpts(anna, false)).toBe(true);
      expect((await store().findMember(anna))?.keepsExcerpts).toBe(false);
      await submit(anna, 'after');
      await submitBatch(store(), anna, { items: [newItem({ excerpt: 'after' })] });
      await feed(anna, ['a']);
      await store().createAsset({ ...newAsset(anna), excerpt: 'after' }, SPACE);
      await finishJob(store(), kept, { assets: [newAsset(anna)] });
      expect(await store().eraseExcerpts(0, 100)).toBe(1);
      expect(await store().eraseExcerpts(0, 100)).toBe(0);
      const jobs = (await list(anna)).map(({ names }) => names.excerpt);
      expect(jobs).toEqual([null, null, null, null]);
      const files = await store().listOwnAssets({ memberId: anna, limit: 10, after: null });
      expect(files.map(({ names }) => names.excerpt)).toEqual([null, null, null]);
      expect(await namesOf(ben, bens)).toEqual({ ...NONE, excerpt: 'Ben’s' });

      await store().setExcerpts(anna, true);
      const again = await submit(anna, 'again');
      expect(await namesOf(anna, again)).toEqual({ ...NONE, excerpt: 'again' });
      expect(await store().setExcerpts(NO_ID, false)).toBe(false);
    });

    test('those of a submission under way are erased, too', async () => {
      const anna = await memberId('anna');
      const texts = Array.from({ length: 50 }, (_, i) => `text ${i}`);
      await Promise.all([
        ...texts.slice(25).map((text) => submit(anna, text)),
        store().setExcerpts(anna, false),
        ...texts.slice(0, 25).map((text) => submit(anna, text)),
      ]);
      while ((await store().eraseExcerpts(0, 10)) > 0);
      expect((await list(anna)).map(({ names }) => names.excerpt)).toEqual(texts.map(() => null));
    });

    test('old ones go before their jobs and files, a few at a time', async () => {
      const anna = await memberId('anna');
      for (let i = 0; i < 5; i++) {
        await submit(anna, `job ${i}`, NOW + i);
        const asset = newAsset(anna, { createdAt: NOW + i });
        await store().createAsset({ ...asset, excerpt: `file ${i}` }, SPACE);
      }
      expect(await store().eraseExcerpts(NOW + 3, 2)).toBe(2);
      expect(await store().eraseExcerpts(NOW + 3, 2)).toBe(1);
      expect(await store().eraseExcerpts(NOW + 3, 2)).toBe(0);
      const jobs = (await list(anna)).flatMap(({ names }) => names.excerpt ?? []);
      expect(new Set(jobs)).toEqual(new Set(['job 3', 'job 4']));
      const files = await store().listOwnAssets({ memberId: anna, limit: 10, after: null });
      expect(files.map(({ names }) => names.excerpt)).toEqual([
        'file 4',
        'file 3',
        null,
        null,
        null,
      ]);
    });
  });
}
