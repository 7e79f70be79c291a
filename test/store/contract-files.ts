/** The part of the contract that is about files of the API, and about batches of such a file. */
import {
  MAX_FILES,
  MAX_OPEN_FILE_BATCHES,
} from '@inference-gateway/coordinator/core/jobs/file-batch';
import type {
  ApiFile,
  Batch,
  FedLine,
  FileBatchEnd,
  NewFileBatch,
  OpenFileBatch,
  Store,
} from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';
import {
  BROKEN,
  claimJob,
  failJob,
  finishJob,
  NEWEST_JOBS,
  newItem,
  newSubmission,
  NO_ID,
  ROOMY,
} from './job-rows.js';
import type { StoreHarness } from './store-harness.js';
import { createMember, inCrowds, newAsset, NOW } from './store-rows.js';

const SPACE = { memberBytes: 10_000_000, totalBytes: 10_000_000 };
const HOUR_MS = 3_600_000;
const CHAT = '/v1/chat/completions';
const LINE_BYTES = 100;

function newFile(memberId: string, changes: Partial<ApiFile> = {}, asset = {}): ApiFile {
  return {
    asset: newAsset(memberId, { model: '', endpoint: 'chat', ...asset }),
    purpose: 'batch',
    filename: 'night.jsonl',
    path: CHAT,
    lines: 4,
    ...changes,
  };
}

function fed(count: number, from = 1): FedLine[] {
  return Array.from({ length: count }, (_, i) => {
    return { line: from + i, customId: `line-${from + i}`, made: newItem() };
  });
}

function batchOf(file: ApiFile, changes: Partial<NewFileBatch> = {}): NewFileBatch {
  return {
    ...newSubmission(file.asset.memberId),
    fileId: file.asset.id,
    path: file.path,
    metadata: null,
    windowMs: HOUR_MS,
    outputLifetimeMs: null,
    ...changes,
  };
}

export function describeFiles(adapter: string, harness: () => StoreHarness): void {
  const store = (): Store => harness().store;

  const keep = async (memberId: string, changes: Partial<ApiFile> = {}, asset = {}) => {
    const file = newFile(memberId, changes, asset);
    expect(await store().createFile(file, SPACE)).toBe('created');
    return file;
  };
  const create = async (file: ApiFile, changes: Partial<NewFileBatch> = {}): Promise<Batch> => {
    const created = await store().createFileBatch(batchOf(file, changes), NOW);
    if (created.kind !== 'created') throw new Error(created.kind);
    return created.value;
  };
  const newBatch = async (lines = 4): Promise<Batch> => {
    const anna = await createMember(store(), 'anna');
    return create(await keep(anna.id, { lines }));
  };
  const feed = (
    batchId: string,
    lines: readonly FedLine[],
    { fromByte = 0, by = store() } = {},
  ) => {
    const toByte = fromByte + lines.length * LINE_BYTES;
    const request = { batchId, fromByte, toByte, lines, maxAttempts: 3 };
    return by.feedFileBatch(request, ROOMY, NOW);
  };
  const open = async (id: string): Promise<OpenFileBatch | undefined> =>
    (await store().openFileBatches()).find((batch) => batch.id === id);
  const jobsOf = async (id: string): Promise<string[]> => {
    const lines = await store().endedLines(id, 0, 100);
    return lines.flatMap(({ jobId }) => jobId ?? []);
  };
  const end = async (id: string, changes: Partial<FileBatchEnd> = {}, limits = SPACE) => {
    const retries = await store().fileBatchRetries(id);
    const counts = { completed: 0, failed: 0 };
    const files = { output: null, errors: null, fault: null };
    return store().endFileBatch(
      { batchId: id, retries, ...counts, ...files, ...changes },
      limits,
      NOW + 9,
    );
  };

  describe(`${adapter}: files`, () => {
    test('a file is found by its member as it was made, and is no asset', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const file = await keep(anna.id);
      const { id } = file.asset;
      expect(await store().findFile(id, anna.id)).toEqual(file);
      expect(await store().findFile(id, ben.id)).toBeNull();
      expect(await store().findAsset(id)).toBeNull();
      expect(await store().findLinkedAsset(id)).toBeNull();
      expect(await store().listAssets({ memberId: null, limit: 9, after: null })).toEqual([]);
      const made = newAsset(anna.id);
      await store().createAsset(made, SPACE);
      expect(await store().findFile(made.id, anna.id)).toBeNull();
      expect(await store().knownAssets([id, made.id, 'x'])).toHaveLength(2);
    });

    test('it counts to the space of its member, and frees it', async () => {
      const anna = await createMember(store(), 'anna');
      const file = await keep(anna.id, {}, { bytes: 600 });
      expect((await store().assetSpace(anna.id)).memberBytes).toBe(600);
      const another = newFile(anna.id, {}, { bytes: 500 });
      const limits = { memberBytes: 1_000, totalBytes: 9_000 };
      expect(await store().createFile(another, limits)).toBe('member_full');
      expect(await store().findFile(another.asset.id, anna.id)).toBeNull();
      expect(await store().deleteFile(file.asset.id, anna.id)).toBe('deleted');
      expect(await store().deleteFile(file.asset.id, anna.id)).toBe('unknown');
      expect((await store().assetSpace(anna.id)).memberBytes).toBe(0);
    });

    test('a member has at most so many', async () => {
      const anna = await createMember(store(), 'anna');
      const outcomes = await inCrowds(MAX_FILES + 2, () =>
        store().createFile(newFile(anna.id, {}, { bytes: 1 }), SPACE),
      );
      expect(outcomes.filter((outcome) => outcome === 'too_many')).toHaveLength(2);
    });

    test('a list is of one member, by purpose and key, in pages either way', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const ids: string[] = [];
      for (let i = 0; i < 4; i++) {
        const purpose = i === 3 ? 'batch_output' : 'batch';
        const file = await keep(anna.id, { purpose }, { createdAt: NOW + i, keyId: `key-${i}` });
        ids.push(file.asset.id);
      }
      await keep(ben.id);
      const list = async (changes: object): Promise<string[]> => {
        const all = { memberId: anna.id, purpose: null, order: 'desc', limit: 10, after: null };
        const files = await store().listFiles({ ...all, ...changes } as never);
        return files.map(({ asset }) => asset.id);
      };
      expect(await list({})).toEqual(ids.toReversed());
      expect(await list({ order: 'asc', limit: 2 })).toEqual(ids.slice(0, 2));
      expect(await list({ order: 'asc', after: ids[1] })).toEqual(ids.slice(2));
      expect(await list({ after: ids[1] })).toEqual(ids.slice(0, 1));
      expect(await list({ purpose: 'batch_output' })).toEqual(ids.slice(3));
      expect(await list({ keyId: 'key-2' })).toEqual([ids[2]]);
      expect(await list({ keyId: 'key-2', after: ids[3] })).toEqual([]);
      expect(await list({ after: 'unknown' })).toEqual([]);
    });
  });

  describe(`${adapter}: batches of files`, () => {
    test('lines that were not read count as queued', async () => {
      const batch = await newBatch(4);
      const none = { PROCESSING: 0, PROCESSED: 0, FAILED: 0, CANCELED: 0 };
      expect(batch.counts).toEqual({ ...none, QUEUED: 4 });
      expect(batch.file).toMatchObject({ lines: 4, path: CHAT, expiresAt: NOW + HOUR_MS });
      expect(await feed(batch.id, fed(2))).toEqual({ kind: 'fed' });
      const refused = { line: 3, customId: 'line-3', made: BROKEN };
      expect(await feed(batch.id, [refused], { fromByte: 2 * LINE_BYTES })).toEqual({
        kind: 'fed',
      });
      const found = await store().findBatch(batch.id, batch.memberId);
      expect(found?.batch.counts).toEqual({ ...none, QUEUED: 3, FAILED: 1 });
      expect(found?.jobs).toEqual([]);
      expect(await open(batch.id)).toMatchObject({ fedLines: 3, fedBytes: 300, openJobs: 2 });
    });

    test('what two coordinators read at once is read once', async () => {
      const batch = await newBatch(4);
      const peers = [store(), harness().peer('other')];
      const feeding = Array.from({ length: 12 }, (_, i) =>
        feed(batch.id, fed(2), { by: peers[i % 2] ?? store() }),
      );
      const kinds = (await Promise.all(feeding)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'fed')).toHaveLength(1);
      expect(await jobsOf(batch.id)).toHaveLength(2);
    });

    test('lines beyond the queue of their member are not read', async () => {
      const batch = await newBatch(4);
      const request = { batchId: batch.id, fromByte: 0, toByte: 1, lines: fed(3), maxAttempts: 3 };
      const full = await store().feedFileBatch(request, { jobs: 2, bytes: 1_000 }, NOW);
      expect(full).toMatchObject({ kind: 'queue_full', limit: 'jobs' });
      expect(await jobsOf(batch.id)).toEqual([]);
      expect(await open(batch.id)).toMatchObject({ fedLines: 0, fedBytes: 0 });
    });

    test('its jobs are jobs of the batch, in the order of the lines', async () => {
      const batch = await newBatch(3);
      await feed(batch.id, fed(3));
      const jobs = (await store().listJobs({ ...NEWEST_JOBS, order: 'asc' })).map((job) => job.id);
      expect(await jobsOf(batch.id)).toEqual(jobs);
      const detail = await store().findJob(jobs[2] ?? '', batch.memberId);
      expect(detail?.job).toMatchObject({ batchId: batch.id, batchIndex: 2, maxAttempts: 3 });
    });

    test('the lines that were read are told with how they ended', async () => {
      const batch = await newBatch(4);
      const refused = { line: 4, customId: 'line-4', made: BROKEN };
      await feed(batch.id, [...fed(3), refused]);
      const [first = '', second = '', third = ''] = await jobsOf(batch.id);
      await finishJob(store(), first);
      await failJob(store(), second);
      const lines = await store().endedLines(batch.id, 0, 10);
      expect(lines).toMatchObject([
        { line: 1, customId: 'line-1', jobId: first, status: 'PROCESSED', error: null },
        { line: 2, jobId: second, status: 'FAILED', error: BROKEN, resultBytes: 0 },
        { line: 3, jobId: third, status: 'QUEUED', error: null },
        { line: 4, jobId: null, status: null, error: BROKEN },
      ]);
      expect(lines[0]?.resultBytes).toBe('{"choices":[]}'.length);
      expect(await store().jobResults([second, first, NO_ID])).toEqual([
        null,
        '{"choices":[]}',
        null,
      ]);
      expect(await store().endedLines(batch.id, 3, 1)).toMatchObject([{ line: 4 }]);
    });

    test('its end is written once nothing of it is left to do', async () => {
      const batch = await newBatch(2);
      await store().finalizeFileBatch(batch.id, NOW);
      expect(await open(batch.id)).toMatchObject({ finalizingAt: null });
      await feed(batch.id, fed(2));
      expect(await end(batch.id)).toBe('changed');
      const [first = '', second = ''] = await jobsOf(batch.id);
      await finishJob(store(), first);
      await failJob(store(), second);
      await store().finalizeFileBatch(batch.id, NOW + 3);
      expect(await open(batch.id)).toMatchObject({ finalizingAt: NOW + 3, openJobs: 0 });
      const output = newFile(batch.memberId, { purpose: 'batch_output' });
      expect(await end(batch.id, { output }, { memberBytes: 1, totalBytes: 9 })).toBe(
        'member_full',
      );
      expect(await end(batch.id, { output, completed: 1, failed: 1 })).toBe('ended');
      expect(await end(batch.id, { output, completed: 1, failed: 1 })).toBe('changed');
      expect(await store().findFile(output.asset.id, batch.memberId)).toEqual(output);
      const found = await store().findBatch(batch.id, null);
      expect(found?.batch.file).toMatchObject({ endedAt: NOW + 9, outputFileId: output.asset.id });
      expect(found?.batch.counts).toMatchObject({ PROCESSED: 1, FAILED: 1, QUEUED: 0 });
    });

    test('a job that is retried while its files are written keeps it from ending', async () => {
      const batch = await newBatch(1);
      await feed(batch.id, fed(1));
      const [job = ''] = await jobsOf(batch.id);
      await failJob(store(), job);
      const retries = await store().fileBatchRetries(batch.id);
      await store().retryJob(job, null, ROOMY, NOW + 3);
      await finishJob(store(), job, { now: NOW + 4 });
      expect(await end(batch.id, { retries })).toBe('changed');
      expect(await end(batch.id, { completed: 1 })).toBe('ended');
      expect(await store().retryJob(job, null, ROOMY, NOW + 5)).toMatchObject({
        kind: 'not_retryable',
      });
    });

    test('jobs of one that has ended are deleted a few at a time, and then its lines', async () => {
      const batch = await newBatch(3);
      await feed(batch.id, fed(3));
      const jobs = await jobsOf(batch.id);
      for (const job of jobs) await finishJob(store(), job);
      expect(await store().clearFileBatch(batch.id, 2)).toBe(0);
      await end(batch.id, { completed: 3 });
      expect(await store().clearFileBatch(batch.id, 2)).toBe(2);
      expect(await store().clearFileBatch(batch.id, 2)).toBe(1);
      expect(await open(batch.id)).toMatchObject({ openJobs: 0 });
      expect(await store().clearFileBatch(batch.id, 9)).toBe(3);
      expect(await store().clearFileBatch(batch.id, 9)).toBe(0);
      expect(await open(batch.id)).toBeUndefined();
      expect((await store().findBatch(batch.id, null))?.batch.counts.PROCESSED).toBe(3);
    });

    test.each(['cancelBatch', 'expireFileBatch'] as const)(
      'after %s no line is read, and running jobs are named',
      async (how) => {
        const batch = await newBatch(4);
        await feed(batch.id, fed(2));
        const [running = ''] = await jobsOf(batch.id);
        const claimId = await claimJob(store(), running);
        const canceled =
          how === 'cancelBatch'
            ? (await store().cancelBatch(batch.id, batch.memberId, NOW + 2))?.canceled
            : await store().expireFileBatch(batch.id, NOW + 2);
        expect(new Set(canceled?.map((one) => one.claimId))).toEqual(new Set([claimId, null]));
        expect(await feed(batch.id, fed(1, 3), { fromByte: 2 * LINE_BYTES })).toEqual({
          kind: 'stale',
        });
        const at = how === 'cancelBatch' ? 'cancellingAt' : 'expiredAt';
        expect(await open(batch.id)).toMatchObject({ [at]: NOW + 2, openJobs: 0 });
        expect(await end(batch.id)).toBe('ended');
        const found = await store().findBatch(batch.id, null);
        expect(found?.batch.counts).toMatchObject({ CANCELED: 4, QUEUED: 0 });
      },
    );

    test('its file is neither deleted nor expired before it has ended', async () => {
      const anna = await createMember(store(), 'anna');
      const file = await keep(anna.id, { lines: 1 }, { expiresAt: NOW + 1 });
      const batch = await create(file);
      expect(await store().deleteFile(file.asset.id, anna.id)).toBe('in_use');
      expect(await store().takeExpiredAssets(NOW + 2, 9)).toEqual([]);
      await store().cancelBatch(batch.id, anna.id, NOW);
      await end(batch.id);
      expect(await store().takeExpiredAssets(NOW + 2, 9)).toEqual([file.asset.id]);
    });

    test('a member has at most so many open ones, of files of their own', async () => {
      const [anna, ben] = [await createMember(store(), 'anna'), await createMember(store(), 'ben')];
      const file = await keep(anna.id);
      const foreign = batchOf(file, { memberId: ben.id });
      expect(await store().createFileBatch(foreign, NOW)).toEqual({ kind: 'no_file' });
      const output = await keep(anna.id, { purpose: 'batch_output' });
      expect(await store().createFileBatch(batchOf(output), NOW)).toEqual({ kind: 'no_file' });
      const creating = Array.from({ length: MAX_OPEN_FILE_BATCHES + 3 }, () =>
        store().createFileBatch(batchOf(file), NOW),
      );
      const refused = (await Promise.all(creating)).filter(({ kind }) => kind === 'too_many');
      expect(refused).toHaveLength(3);
    });

    test('with one idempotency key there is one', async () => {
      const anna = await createMember(store(), 'anna');
      const once = batchOf(await keep(anna.id), { idempotencyKey: 'once' });
      const [first, second] = [
        await store().createFileBatch(once, NOW),
        await store().createFileBatch(once, NOW),
      ];
      expect([first.kind, second.kind]).toEqual(['created', 'replayed']);
      expect(second).toMatchObject({ value: { id: 'value' in first && first.value.id } });
    });

    test('retention leaves the jobs of an open one, and deletes an old one whole', async () => {
      const batch = await newBatch(1);
      await feed(batch.id, fed(1));
      const [job = ''] = await jobsOf(batch.id);
      await finishJob(store(), job);
      expect(await store().deleteOldJobs(NOW + 1_000, 9)).toBe(0);
      await end(batch.id, { completed: 1 });
      while ((await store().clearFileBatch(batch.id, 9)) > 0);
      await store().deleteOldJobs(NOW + 5, 9);
      expect(await store().findBatch(batch.id, null)).not.toBeNull();
      await store().deleteOldJobs(NOW + 1_000, 9);
      expect(await store().findBatch(batch.id, null)).toBeNull();
    });

    test('it is told of once, when it has ended', async () => {
      const anna = await createMember(store(), 'anna');
      const webhook = { url: 'https://example.org/hook', secret: 'whsec_x' };
      const batch = await create(await keep(anna.id, { lines: 2 }), { webhook });
      await feed(batch.id, fed(1));
      const [job = ''] = await jobsOf(batch.id);
      await finishJob(store(), job);
      const due = async (): Promise<number> => (await store().dueWebhooks(NOW + 100, 9)).length;
      expect(await due()).toBe(0);
      await store().cancelBatch(batch.id, anna.id, NOW + 3);
      await end(batch.id, { completed: 1 });
      expect(await due()).toBe(1);
    });

    test('a member that is deleted takes files and batches along', async () => {
      const batch = await newBatch(2);
      await feed(batch.id, fed(2));
      await createMember(store(), 'zoe');
      await store().cancelBatch(batch.id, null, NOW + 1);
      expect(await store().deleteMember(batch.memberId, NOW + 2)).toMatchObject({
        kind: 'deleted',
      });
      expect(await store().openFileBatches()).toEqual([]);
    });
  });
}
