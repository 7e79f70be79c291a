import { FolderStore, assetsFolder } from '@inference-gateway/coordinator/assets/folder-store';
import type { StoredFile } from '@inference-gateway/coordinator/assets/byte-store';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
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

  test('tells in its commit what went wrong with a piece that nobody waited for', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'assets'), 'a file where the folder should be');
    const draft = new FolderStore(join(folder, 'assets')).draft();
    void draft.write(Buffer.from('x'));
    const failure = { code: 'storage_unavailable', message: expect.stringContaining('Try again') };
    await expect(draft.commit()).rejects.toMatchObject(failure);
    await draft.discard();
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
