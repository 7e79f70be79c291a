import { AnswerFiles } from '@inference-gateway/coordinator/assets/answer-files';
import type { AnswerFilesOptions } from '@inference-gateway/coordinator/assets/answer-files';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { ApiError } from '@inference-gateway/shared/errors';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { filesBelow, openLibrary } from '../../support/open-library.js';
import type { OpenLibrary } from '../../support/open-library.js';
import { picture } from '../../support/pictures.js';
import { silentWav } from '../../support/sound.js';
import { until } from '../../support/until.js';

const PNG = picture();
const IMAGE: Parameters<AnswerFiles['part']>[0] = { contentType: 'image/png', revisedPrompt: null };
const MIB = 1024 * 1024;

interface Setting extends Partial<AnswerFilesOptions> {
  readonly store?: Partial<Store>;
}

/** The files of one answer of Anna's, by default images. */
async function answer({ store = {}, ...options }: Setting = {}) {
  const open = await openLibrary({ store });
  const files = new AnswerFiles({
    shelf: open.library,
    memberId: open.anna,
    keyId: 'key',
    requestId: 'req_1',
    endpoint: 'images',
    family: 'image',
    most: 4,
    maxBytes: MIB,
    ...options,
  });
  files.begin({ providerId: 'provider-1', model: 'sd' });
  const add = (bytes: Uint8Array, part = IMAGE) => {
    const fault = files.part(part);
    if (fault !== null) throw new Error(String(fault));
    return files.data(bytes);
  };
  return { ...open, files, add };
}

async function expectNothingKept({
  dataDir,
  store,
}: Pick<OpenLibrary, 'dataDir' | 'store'>): Promise<void> {
  await until(async () => (await filesBelow(dataDir)).length === 0, { what: 'no file to be left' });
  expect(await store.listAssets({ memberId: null, limit: 10, after: null })).toEqual([]);
}

describe('the files of an answer', () => {
  test('become assets of the caller, in their order, with what was said of them', async () => {
    const { files, add, library, anna } = await answer();
    add(PNG, { ...IMAGE, revisedPrompt: 'a nice cat' });
    add(picture({ seed: 1 }));
    const kept = await files.end();
    if ('fault' in kept) throw kept.fault;
    expect(kept.map(({ revisedPrompt }) => revisedPrompt)).toEqual(['a nice cat', null]);
    expect(kept[0]?.asset).toMatchObject({
      memberId: anna,
      providerId: 'provider-1',
      requestId: 'req_1',
      model: 'sd',
      endpoint: 'images',
      contentType: 'image/png',
      bytes: PNG.length,
    });
    const written = await Promise.all(kept.map(({ asset }) => buffer(library.read(asset))));
    expect(written).toEqual([PNG, picture({ seed: 1 })]);
  });

  test('are known by their first bytes, whatever they are said to be', async () => {
    const { files } = await answer();
    files.part({ contentType: 'text/html', revisedPrompt: null });
    const intakes = [PNG.subarray(0, 5), PNG.subarray(5, 11), PNG.subarray(11)].map((piece) =>
      files.data(piece),
    );
    const nothing = Buffer.alloc(0);
    expect(intakes).toMatchObject([
      { contentType: null, bytes: nothing },
      { contentType: null, bytes: nothing },
      { contentType: 'image/png', bytes: PNG },
    ]);
    expect(await files.end()).toMatchObject([{ asset: { contentType: 'image/png' } }]);
  });

  test.each(['audio/pcm', 'audio/pcm;rate=24000'])('may be bare samples: %s', async (claimed) => {
    const { files, add } = await answer({ family: 'audio', endpoint: 'speech', most: 1 });
    add(Buffer.alloc(480), { contentType: claimed, revisedPrompt: null });
    expect(await files.end()).toMatchObject([{ asset: { contentType: 'audio/pcm' } }]);
  });

  test('of one provider are dropped when another takes over', async () => {
    const { files, add, dataDir } = await answer();
    add(PNG);
    files.begin({ providerId: 'provider-2', model: 'sd' });
    add(picture({ seed: 1 }));
    const kept = await files.end();
    expect(kept).toMatchObject([{ asset: { providerId: 'provider-2' } }]);
    await until(async () => (await filesBelow(dataDir)).length === 1);
  });

  test('that were too large of one provider do not spoil those of the next', async () => {
    const { files, add } = await answer({ maxBytes: PNG.length });
    add(Buffer.concat([PNG, PNG]));
    files.begin({ providerId: 'provider-2', model: 'sd' });
    const intake = add(PNG);
    if ('fault' in intake) throw intake.fault;
    await intake.written;
    expect(await files.end()).toMatchObject([{ asset: { providerId: 'provider-2' } }]);
  });
});

describe('nothing is kept', () => {
  test.each([
    ['HTML', Buffer.from('<!doctype html><title>Error</title>')],
    ['text', Buffer.from('There was no GPU to be had.')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['JSON', Buffer.from('{"error": {"message": "no"}}')],
    ['sound', silentWav(1)],
  ])('of an image that is %s', async (_, bytes) => {
    const open = await answer();
    expect(open.add(bytes)).toEqual({ fault: 'it is no image' });
    open.files.discard();
    await expectNothingKept(open);
  });

  test('of an answer without a file', async () => {
    const { files } = await answer();
    expect(await files.end()).toEqual({ fault: 'it holds no file' });
  });

  test('of bytes that belong to no file', async () => {
    const { files } = await answer();
    expect(files.data(PNG)).toEqual({ fault: 'it has bytes before its first file' });
  });

  test('beyond what was asked for', async () => {
    const { files, add } = await answer({ most: 2 });
    add(PNG);
    add(PNG);
    expect(files.part(IMAGE)).toBe('it holds more files than the 2 asked for');
    files.discard();
  });

  test.each([
    ['ends before its type can be told', PNG.subarray(0, 11)],
    ['is empty', Buffer.alloc(0)],
  ])('where one of several %s', async (_, bytes) => {
    const open = await answer();
    open.add(PNG);
    open.add(bytes);
    open.add(PNG);
    expect(await open.files.end()).toEqual({ fault: 'it is no image' });
    open.files.discard();
    await expectNothingKept(open);
  });

  test('where one of several is larger than the space that is left', async () => {
    const open = await answer({ maxBytes: PNG.length });
    open.add(PNG);
    open.add(Buffer.concat([PNG, PNG]));
    open.add(PNG);
    expect(await open.files.end()).toMatchObject({ fault: { code: 'storage_full' } });
    open.files.discard();
    await expectNothingKept(open);
  });

  test('of the bytes that come after a failed write', async () => {
    const { files, add } = await answer({ maxBytes: PNG.length });
    const intake = add(Buffer.concat([PNG, PNG]));
    if ('fault' in intake) throw intake.fault;
    await intake.written;
    expect(files.data(PNG)).toMatchObject({ fault: { code: 'storage_full' } });
  });

  test('where the store has no room for the second', async () => {
    const rows: string[] = [];
    const open = await answer({
      store: { createAsset: async ({ id }) => (rows.push(id) < 2 ? 'created' : 'member_full') },
    });
    for (let i = 0; i < 3; i++) open.add(PNG);
    expect(await open.files.end()).toMatchObject({ fault: { code: 'storage_full' } });
    expect(rows).toHaveLength(2);
  });

  test.each([
    ['an error that callers are told', new ApiError('storage_unavailable', 'not now'), 'fault'],
    ['an error of ours', new Error('no such column'), 'thrown'],
  ])('where the store fails with %s', async (_, error, kind) => {
    const open = await answer({ store: { createAsset: () => Promise.reject(error) } });
    for (let i = 0; i < 3; i++) open.add(PNG);
    const end = open.files.end();
    if (kind === 'fault') expect(await end).toEqual({ fault: error });
    else await expect(end).rejects.toBe(error);
    // The first file may have got its row before the error, so the sweep decides about it. The
    // others are only drafts.
    await until(async () => (await filesBelow(open.dataDir)).length <= 1);
  });
});
