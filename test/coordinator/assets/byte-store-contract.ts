/** The behaviour of every byte store; `byte-store.test.ts` runs this against each. */
import type { ByteStore, StoredFile } from '@inference-gateway/coordinator/assets/byte-store';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { silentWav } from '../../support/sound.js';

const NOTHING = Readable.from(['no such file']);
const UNKNOWN = 'a'.repeat(22);

export function describeByteStore(open: () => Promise<ByteStore>): void {
  const opened = async (): Promise<ByteStore> => {
    const files = await open();
    onTestFinished(() => files.close());
    return files;
  };

  test('a draft becomes a file of the same bytes, however its pieces are cut', async () => {
    const files = await opened();
    const draft = files.draft();
    const pieces = [1, 196_607, 196_608, 7, 500_000, 0, 3].map((size) => randomBytes(size));
    for (const piece of pieces) void draft.write(piece);
    const whole = Buffer.concat(pieces);
    const committed = await draft.commit();
    expect(committed).toEqual({ bytes: whole.length, sha256: sha256(whole) });
    expect((await contentOf(files, draft.id))?.equals(whole)).toBe(true);
    expect(await files.bytes(draft.id)).toBe(whole.length);
  });

  test('an empty file is a file', async () => {
    const files = await opened();
    const draft = files.draft();
    await draft.commit();
    expect(await files.bytes(draft.id)).toBe(0);
    expect(await contentOf(files, draft.id)).toEqual(Buffer.alloc(0));
  });

  test('a draft is among the files once it is committed, never if it is discarded', async () => {
    const files = await opened();
    const [draft, other] = [files.draft(), files.draft()];
    await Promise.all([draft.write(Buffer.from('half')), other.write(Buffer.from('other'))]);
    expect(await listed(files)).toEqual([]);
    await draft.commit();
    await Promise.all([draft.discard(), other.discard()]);
    expect(await listed(files)).toMatchObject([{ id: draft.id, bytes: 4 }]);
    expect(await files.read(other.id)).toBeNull();
  });

  test('a draft takes its last byte and not one more', async () => {
    const files = await opened();
    const over = files.draft(10);
    await over.write(Buffer.alloc(10));
    await expect(over.write(Buffer.alloc(1))).rejects.toMatchObject({ code: 'storage_full' });
    await expect(over.commit()).rejects.toMatchObject({ code: 'storage_full' });
    await over.discard();
    expect(await listed(files)).toEqual([]);
  });

  test('a WAV is stored with its length, and inspected before anybody can read it', async () => {
    const files = await opened();
    const draft = files.draft();
    void draft.write(silentWav(1, { riffBytes: 0xffffffff, dataBytes: 0xffffffff }));
    const seen: unknown[] = [];
    const { sha256: hash } = await draft.commit(async (localFile) => {
      seen.push(await readFile(localFile), await files.read(draft.id));
    });
    expect(seen).toEqual([silentWav(1), null]);
    expect(await contentOf(files, draft.id)).toEqual(silentWav(1));
    expect(hash).toBe(sha256(silentWav(1)));
  });

  test('a copy has the id that it is given, and replaces what is there', async () => {
    const files = await opened();
    for (const bytes of ['broken', 'whole']) {
      const draft = files.draft(10, UNKNOWN);
      await draft.write(Buffer.from(bytes));
      await draft.commit();
    }
    expect(await contentOf(files, UNKNOWN)).toEqual(Buffer.from('whole'));
  });

  test('files are read whole or in a range', async () => {
    const files = await opened();
    const id = await put(files, '0123456789');
    const end = Number.MAX_SAFE_INTEGER;
    const ranges = [undefined, { start: 2, end: 5 }, { start: 9, end: 10 }, { start: 4, end }];
    const read = ranges.map(async (range) => text((await files.read(id, range)) ?? NOTHING));
    expect(await Promise.all(read)).toEqual(['0123456789', '234', '9', '456789']);
    // A batch that has read all of its input asks for the rest.
    expect(await text((await files.read(id, { start: 10, end })) ?? NOTHING)).toBe('');
  });

  test('a file that is removed is gone, and a second time there is nothing', async () => {
    const files = await opened();
    const id = await put(files, 'x');
    expect(await files.remove(id)).toBe(true);
    expect(await files.remove(id)).toBe(false);
    expect([await files.bytes(id), await files.read(id)]).toEqual([null, null]);
    expect(await listed(files)).toEqual([]);
  });

  test('a reader that leaves early leaves nothing open', async () => {
    const files = await opened();
    const id = await put(files, randomBytes(3_000_000));
    const stream = await files.read(id);
    for await (const piece of stream ?? []) {
      expect((piece as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(stream?.destroyed).toBe(true);
    expect(await files.bytes(id)).toBe(3_000_000);
  });

  test('files are listed with their sizes and times', async () => {
    const files = await opened();
    const before = Date.now();
    const ids = await Promise.all(['a', 'bb', 'ccc'].map((bytes) => put(files, bytes)));
    const found = (await listed(files)).toSorted((a, b) => a.bytes - b.bytes);
    expect(found.map(({ id, bytes }) => [id, bytes])).toEqual(ids.map((id, i) => [id, i + 1]));
    for (const { modifiedAt } of found) {
      // Times of an object storage may be in whole seconds.
      expect(modifiedAt).toBeGreaterThan(before - 2_000);
      expect(modifiedAt).toBeLessThan(Date.now() + 2_000);
    }
  });

  test('no other text than an id names a file', async () => {
    const files = await opened();
    for (const id of ['', '..', '../../etc/passwd', `${'a'.repeat(21)}/`, `${UNKNOWN}\n`]) {
      await expect(async () => files.read(id)).rejects.toThrow('is no id of an asset');
    }
  });

  test('drafts that were left are swept by their age', async () => {
    const files = await opened();
    const draft = files.draft();
    await draft.write(randomBytes(300_000));
    expect(await files.sweepDrafts(Date.now() - 60_000)).toBe(0);
    expect(await files.sweepDrafts(Date.now() + 60_000)).toBe(1);
    await draft.discard();
  });
}

export async function put(files: ByteStore, bytes: string | Buffer): Promise<string> {
  const draft = files.draft();
  await draft.write(Buffer.from(bytes));
  await draft.commit();
  return draft.id;
}

export async function listed(files: ByteStore): Promise<StoredFile[]> {
  const all: StoredFile[] = [];
  for await (const file of files.list()) all.push(file);
  return all;
}

export async function contentOf(files: ByteStore, id: string): Promise<Buffer | null> {
  const stream = await files.read(id);
  return stream && buffer(stream);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
