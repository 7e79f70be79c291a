import { FolderStore, assetsFolder } from '@inference-gateway/coordinator/assets/folder-store';
import type { StoredFile } from '@inference-gateway/coordinator/assets/byte-store';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { silentWav } from '../../support/sound.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR_MS = 3_600_000;

async function openFiles(): Promise<{ files: FolderStore; folder: string }> {
  const folder = assetsFolder(await temporaryFolder());
  return { folder, files: new FolderStore(folder) };
}

async function listed(files: FolderStore): Promise<StoredFile[]> {
  const all: StoredFile[] = [];
  for await (const file of files.list()) all.push(file);
  return all;
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

describe('a draft', () => {
  test('becomes a file of the same bytes in its place, and leaves nothing behind', async () => {
    const { files, folder } = await openFiles();
    const draft = files.draft();
    const pieces = Array.from({ length: 20 }, () => randomBytes(10_000));
    // The writes are not awaited one by one.
    for (const piece of pieces) void draft.write(piece);
    const whole = Buffer.concat(pieces);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    expect(await draft.commit()).toEqual({ bytes: 200_000, sha256 });
    expect(await readFile(files.path(draft.id))).toEqual(whole);
    expect(files.path(draft.id)).toBe(join(folder, draft.id.slice(0, 2), draft.id));
    expect(await readdir(join(folder, 'drafts'))).toEqual([]);
  });

  test('keeps its bytes in order, however large its pieces are', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    const pieces = [1, 196_607, 196_608, 7, 500_000, 0, 3].map((size) => randomBytes(size));
    for (const piece of pieces) await draft.write(piece);
    const { sha256 } = await draft.commit();
    const whole = Buffer.concat(pieces);
    expect(await readFile(files.path(draft.id))).toEqual(whole);
    expect(sha256).toBe(createHash('sha256').update(whole).digest('hex'));
  });

  test('is not among the files before it is committed', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    await draft.write(Buffer.from('half'));
    expect(await listed(files)).toEqual([]);
    await draft.commit();
    expect(await listed(files)).toMatchObject([{ id: draft.id, bytes: 4 }]);
  });

  test('that is discarded leaves nothing, however often and whenever that is said', async () => {
    const { files, folder } = await openFiles();
    const draft = files.draft();
    await draft.write(randomBytes(1_000_000));
    expect(await readdir(join(folder, 'drafts'))).toEqual([draft.id]);
    void draft.write(randomBytes(1_000_000));
    await Promise.all([draft.discard(), draft.discard()]);
    await draft.write(Buffer.from('late'));
    await draft.discard();
    expect(await readdir(join(folder, 'drafts'))).toEqual([]);
    await files.draft().discard();
  });

  test('that is discarded after it was committed keeps its file', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    await draft.write(Buffer.from('kept'));
    await draft.commit();
    await draft.discard();
    expect(await files.bytes(draft.id)).toBe(4);
  });

  test('takes its last byte and not one more', async () => {
    const { files } = await openFiles();
    const full = files.draft(10);
    await full.write(Buffer.alloc(4));
    await full.write(Buffer.alloc(6));
    expect(await full.commit()).toMatchObject({ bytes: 10 });
    const over = files.draft(10);
    await over.write(Buffer.alloc(10));
    await expect(over.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'storage_full' });
    await expect(over.write(Buffer.alloc(0))).rejects.toMatchObject({ code: 'storage_full' });
    await expect(over.commit()).rejects.toMatchObject({ code: 'storage_full' });
    await over.discard();
    expect(await listed(files)).toHaveLength(1);
  });

  test('tells in its commit what went wrong with a piece that nobody waited for', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'assets'), 'a file where the folder should be');
    const draft = new FolderStore(join(folder, 'assets')).draft();
    void draft.write(Buffer.from('x'));
    const failure = { code: 'storage_unavailable', message: expect.stringContaining('Try again') };
    await expect(draft.commit()).rejects.toMatchObject(failure);
    await draft.discard();
  });

  test('of a WAV without its length gets a header that tells it, and a hash of that', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    const streamed = silentWav(1, { riffBytes: 0xffffffff, dataBytes: 0xffffffff });
    for (let at = 0; at < streamed.length; at += 7) void draft.write(streamed.subarray(at, at + 7));
    const { sha256 } = await draft.commit();
    const whole = silentWav(1);
    expect(await readFile(files.path(draft.id))).toEqual(whole);
    expect(sha256).toBe(createHash('sha256').update(whole).digest('hex'));
  });

  test('is inspected with its final bytes, before anybody can read it', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    void draft.write(silentWav(1, { riffBytes: 0xffffffff, dataBytes: 0xffffffff }));
    const seen: unknown[] = [];
    await draft.commit(async (localFile) => {
      seen.push(await readFile(localFile), await files.read(draft.id));
    });
    expect(seen).toEqual([silentWav(1), null]);
  });

  test.skipIf(process.platform === 'win32')('and its folders are nobody else’s', async () => {
    const { files, folder } = await openFiles();
    const draft = files.draft();
    await draft.write(Buffer.from('x'));
    await draft.commit();
    expect(await modeOf(folder)).toBe(0o700);
    expect(await modeOf(join(folder, draft.id.slice(0, 2)))).toBe(0o700);
    expect(await modeOf(files.path(draft.id))).toBe(0o600);
  });
});

describe('files', () => {
  test.each([
    '',
    '../../../../etc/passwd',
    '..',
    'a'.repeat(21),
    'a'.repeat(23),
    `${'a'.repeat(21)}/`,
    `${'a'.repeat(21)}.`,
    `${'a'.repeat(22)}\n`,
    `${'a'.repeat(21)}ä`,
    `${'a'.repeat(21)}\0`,
  ])('have no path for the id %j', async (id) => {
    const { files } = await openFiles();
    expect(() => files.path(id)).toThrow('is no id of an asset');
  });

  test('are read whole or in a range, also after they were removed', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    await draft.write(Buffer.from('0123456789'));
    await draft.commit();
    const range = await files.read(draft.id, { start: 2, end: 5 });
    const whole = await files.read(draft.id);
    expect(await files.remove(draft.id)).toBe(true);
    if (range === null || whole === null) throw new Error('the file was there');
    expect([await text(range), await text(whole)]).toEqual(['234', '0123456789']);
    expect(await files.read(draft.id)).toBeNull();
  });

  test('that are removed are gone, and a second time there is nothing', async () => {
    const { files } = await openFiles();
    const draft = files.draft();
    await draft.write(Buffer.from('x'));
    await draft.commit();
    expect(await files.remove(draft.id)).toBe(true);
    expect(await files.remove(draft.id)).toBe(false);
    expect(await files.bytes(draft.id)).toBeNull();
  });

  test('of others in the folder are neither listed nor touched', async () => {
    const { files, folder } = await openFiles();
    await mkdir(join(folder, 'ab'), { recursive: true });
    await writeFile(join(folder, 'ab', 'notes.txt'), 'mine');
    await writeFile(join(folder, 'README'), 'mine');
    expect(await listed(files)).toEqual([]);
  });

  test('are none where there is no folder yet', async () => {
    const { files } = await openFiles();
    expect(await listed(files)).toEqual([]);
    expect(await files.sweepDrafts(0)).toBe(0);
  });

  test('that were drafts too long ago are swept, and the others stay', async () => {
    const { files, folder } = await openFiles();
    const [old, young] = [files.draft(), files.draft()];
    await Promise.all([old.write(Buffer.from('x')), young.write(Buffer.from('x'))]);
    const then = (Date.now() - HOUR_MS) / 1000 - 1;
    await utimes(join(folder, 'drafts', old.id), then, then);
    expect(await files.sweepDrafts(Date.now() - HOUR_MS)).toBe(1);
    expect(await readdir(join(folder, 'drafts'))).toEqual([young.id]);
    await Promise.all([old.discard(), young.discard()]);
  });
});
