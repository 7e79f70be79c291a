import { assetsFolder } from '@inference-gateway/coordinator/assets/folder-store';
import { ApiError } from '@inference-gateway/shared/errors';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { DAY_MS, factsOf, filesBelow, keepBytes, openLibrary } from '../../support/open-library.js';
import { silentWav } from '../../support/sound.js';
import { until } from '../../support/until.js';

const HOUR_MS = 3_600_000;

describe('a file that is kept', () => {
  test('is found, listed and read by its owner, with all that is known of it', async () => {
    const open = await openLibrary();
    const before = Date.now();
    const asset = await keepBytes(open, factsOf(open.anna), 'a picture');
    expect(asset).toMatchObject({ ...factsOf(open.anna), bytes: 9, seconds: null });
    expect(asset.createdAt).toBeGreaterThanOrEqual(before);
    expect(asset.expiresAt).toBe(asset.createdAt + DAY_MS);
    expect(await open.library.find(asset.id, open.anna)).toEqual(asset);
    expect(await open.library.find(asset.id, null)).toEqual(asset);
    const names = { excerpt: null, customId: null, batchLabel: null };
    const listed = await open.library.list(open.anna, { limit: 10, after: null });
    expect(listed).toEqual([{ ...asset, names }]);
    expect(String(await buffer(open.library.read(asset)))).toBe('a picture');
  });

  test('is measured where it is sound, by its bytes and not by its header', async () => {
    const open = await openLibrary();
    const facts = factsOf(open.anna, { endpoint: 'speech', contentType: 'audio/wav' });
    const streamed = silentWav(3, { riffBytes: 0, dataBytes: 0 });
    expect(await keepBytes(open, facts, streamed)).toMatchObject({ seconds: 3 });
    expect(await keepBytes(open, facts, 'no sound at all')).toMatchObject({ seconds: null });
  });

  test('is read in pieces', async () => {
    const open = await openLibrary();
    const asset = await keepBytes(open, factsOf(open.anna), Buffer.alloc(200_000));
    const sizes: number[] = [];
    for await (const piece of open.library.read(asset)) sizes.push(piece.length);
    expect(sizes).toEqual([196_608, 3_392]);
  });

  test('is nothing to another member', async () => {
    const open = await openLibrary();
    const asset = await keepBytes(open, factsOf(open.anna), 'x');
    expect(await open.library.find(asset.id, open.ben)).toBeNull();
    expect(await open.library.list(open.ben, { limit: 10, after: null })).toEqual([]);
    expect(await open.library.remove(asset.id, open.ben)).toBe(false);
    expect(await open.files.bytes(asset.id)).toBe(1);
  });

  test('is gone, row and file, once its owner removes it', async () => {
    const open = await openLibrary();
    const asset = await keepBytes(open, factsOf(open.anna), 'x');
    expect(await open.library.remove(asset.id, open.anna)).toBe(true);
    expect(await open.library.remove(asset.id, open.anna)).toBe(false);
    expect(await open.library.find(asset.id, open.anna)).toBeNull();
    expect(await filesBelow(open.dataDir)).toEqual([]);
  });

  test('cannot be asked for by an id that is none', async () => {
    const { library } = await openLibrary();
    for (const id of ['', '..', '../../gateway.db', 'a'.repeat(22)]) {
      expect(await library.find(id, null)).toBeNull();
    }
  });
});

describe('a list', () => {
  test('is told newest first, a page at a time', async () => {
    const open = await openLibrary();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await keepBytes(open, factsOf(open.anna), `${i}`)).id);
    const list = (after: string | null) => open.library.list(open.anna, { limit: 2, after });
    const first = await list(null);
    const second = await list(first.at(-1)?.id ?? null);
    const third = await list(second.at(-1)?.id ?? null);
    const listed = [...first, ...second, ...third].map(({ id }) => id);
    expect([first.length, second.length, third.length]).toEqual([2, 2, 1]);
    expect(listed.toSorted()).toEqual(made.toSorted());
  });

  test('leaves out what is over, and still fills its page', async () => {
    const open = await openLibrary();
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const draft = open.files.draft();
      await draft.write(Buffer.from('x'));
      const file = await draft.commit();
      const createdAt = Date.now() - 1000 + i;
      const expiresAt = i < 2 ? Date.now() + DAY_MS : Date.now() - 1;
      const row = { id: draft.id, ...factsOf(open.anna), ...file, seconds: null };
      const limits = { memberBytes: 100, totalBytes: 100 };
      await open.store.createAsset({ ...row, createdAt, expiresAt }, limits);
      ids.push(draft.id);
    }
    const listed = await open.library.list(open.anna, { limit: 2, after: null });
    expect(listed.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
  });
});

describe('space', () => {
  test('is a tenth of the whole for a member, up to its last byte', async () => {
    const open = await openLibrary({ maxBytes: 1_000 });
    expect(await open.library.requireSpace(open.anna)).toBe(100);
    await keepBytes(open, factsOf(open.anna), Buffer.alloc(99));
    expect(await open.library.requireSpace(open.anna)).toBe(1);
    await keepBytes(open, factsOf(open.anna), Buffer.alloc(1));
    const full = {
      code: 'storage_full',
      message: expect.stringContaining('all of the 100 bytes that a member may keep. Delete some'),
    };
    await expect(open.library.requireSpace(open.anna)).rejects.toMatchObject(full);
    expect(await open.library.requireSpace(open.ben)).toBe(100);
  });

  test('ends for a draft where it ended for the member', async () => {
    const open = await openLibrary({ maxBytes: 1_000 });
    const draft = open.library.draft(await open.library.requireSpace(open.anna));
    await draft.write(Buffer.alloc(100));
    await expect(draft.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'storage_full' });
    const failure = open.library.keep(draft, factsOf(open.anna));
    await expect(failure).rejects.toMatchObject({ code: 'storage_full' });
    expect(await filesBelow(open.dataDir)).toEqual([]);
  });

  test('of all is told apart from that of a member', async () => {
    const full = { memberBytes: 0, totalBytes: 1_000 };
    const open = await openLibrary({
      maxBytes: 1_000,
      store: { assetSpace: () => Promise.resolve(full) },
    });
    const message = expect.stringContaining('GATEWAY_ASSETS_MAX_GB');
    const failure = { code: 'storage_full', message };
    await expect(open.library.requireSpace(open.anna)).rejects.toMatchObject(failure);
  });

  test('is given to one of many writers, and the files of the others are removed', async () => {
    const open = await openLibrary({ maxBytes: 1_000 });
    const kept = await Promise.allSettled(
      Array.from({ length: 5 }, () => keepBytes(open, factsOf(open.anna), Buffer.alloc(60))),
    );
    expect(kept.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = kept.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as ApiError).code)).toEqual(
      Array.from({ length: 4 }, () => 'storage_full'),
    );
    expect(await filesBelow(open.dataDir)).toHaveLength(1);
  });

  test('is free again once something is removed', async () => {
    const open = await openLibrary({ maxBytes: 1_000 });
    const asset = await keepBytes(open, factsOf(open.anna), Buffer.alloc(100));
    await open.library.remove(asset.id, open.anna);
    expect(await open.library.requireSpace(open.anna)).toBe(100);
  });
});

describe('a sweep', () => {
  test('removes what is over, row and file, and what is not found even before', async () => {
    const open = await openLibrary({ retentionMs: 1 });
    const asset = await keepBytes(open, factsOf(open.anna), 'x');
    await until(() => Date.now() > asset.expiresAt);
    expect(await open.library.find(asset.id, open.anna)).toBeNull();
    await open.library.sweep();
    expect(await open.store.findAsset(asset.id)).toBeNull();
    expect(await filesBelow(open.dataDir)).toEqual([]);
  });

  test('takes more than one batch', async () => {
    const open = await openLibrary({ retentionMs: 1 });
    for (let i = 0; i < 21; i++) {
      await Promise.all(Array.from({ length: 10 }, () => keepBytes(open, factsOf(open.anna), 'x')));
    }
    await until(async () => {
      await open.library.sweep();
      return (await filesBelow(open.dataDir)).length === 0;
    });
    expect(await open.store.assetSpace(open.anna)).toEqual({ memberBytes: 0, totalBytes: 0 });
  });

  test('removes a file without a row once it is an hour old, and not before', async () => {
    const open = await openLibrary();
    const kept = await keepBytes(open, factsOf(open.anna), 'kept');
    const [old, young] = [open.files.draft(), open.files.draft()];
    for (const draft of [old, young]) {
      await draft.write(Buffer.from('orphan'));
      await draft.commit();
    }
    await age(open.files.path(old.id));
    await age(open.files.path(kept.id));
    await open.library.sweep();
    expect((await filesBelow(open.dataDir)).toSorted()).toEqual([young.id, kept.id].toSorted());
  });

  test('removes a draft that nobody has written to for an hour', async () => {
    const open = await openLibrary();
    const draft = open.library.draft();
    await draft.write(Buffer.from('left behind'));
    await age(join(assetsFolder(open.dataDir), 'drafts', draft.id));
    await open.library.sweep();
    expect(await filesBelow(open.dataDir)).toEqual([]);
    await draft.discard();
  });

  test('survives a database that is away', async () => {
    const failure = new ApiError('storage_unavailable', 'away');
    const open = await openLibrary({ store: { takeExpiredAssets: () => Promise.reject(failure) } });
    await expect(open.library.sweep()).resolves.toBeUndefined();
  });
});

test('where the row may or may not be written, the file stays until the sweep knows', async () => {
  const failure = new ApiError('storage_unavailable', 'away');
  const open = await openLibrary({ store: { createAsset: () => Promise.reject(failure) } });
  const kept = keepBytes(open, factsOf(open.anna), 'x');
  await expect(kept).rejects.toMatchObject({ code: 'storage_unavailable' });
  const [id = ''] = await filesBelow(open.dataDir);
  await age(open.files.path(id));
  await open.library.sweep();
  expect(await filesBelow(open.dataDir)).toEqual([]);
});

async function age(path: string): Promise<void> {
  const then = (Date.now() - HOUR_MS) / 1000 - 1;
  await utimes(path, then, then);
}

test('a file that may be in the folder of another coordinator is 503 with the remedy', async () => {
  const open = await openLibrary({ isPrivate: true });
  const asset = await keepBytes(open, factsOf(open.anna), 'x');
  await open.files.remove(asset.id);
  const remedy = { code: 'storage_unavailable', message: expect.stringContaining('_FILES_URL') };
  await expect(open.library.stream(asset)).rejects.toMatchObject(remedy);
  // Deleted in between.
  await open.store.deleteAsset(asset.id, open.anna);
  expect(await open.library.stream(asset)).toBeNull();
  const alone = await openLibrary();
  const lost = await keepBytes(alone, factsOf(alone.anna), 'x');
  await alone.files.remove(lost.id);
  expect(await alone.library.stream(lost)).toBeNull();
});
