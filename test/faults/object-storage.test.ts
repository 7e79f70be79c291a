/** An object storage that is killed, slow, broken or set up wrongly. */
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { S3Store } from '@inference-gateway/coordinator/assets/s3-store';
import type { S3StoreParts } from '@inference-gateway/coordinator/assets/s3-store';
import { sweepAssets } from '@inference-gateway/coordinator/assets/sweep';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { describe, expect, onTestFinished, test } from 'vitest';
import { contentOf, listed, put } from '../coordinator/assets/byte-store-contract.js';
import { bucketOf, controlOf, useS3 } from '../support/s3.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** A busy machine may take a second to answer. */
const QUICK = { tries: 3, firstPauseMs: 20, silenceMs: 5_000, pageFiles: 3 };
const SHORT = { ...QUICK, silenceMs: 300 };
const UNAVAILABLE = { code: 'storage_unavailable' };

const s3 = useS3();

async function openStore(parts: Partial<S3StoreParts> & { bucketName?: string } = {}) {
  const { bucketName, ...given } = parts;
  const { filesUrl, credentials } = s3();
  const draftFolder = await temporaryFolder();
  const bucket = bucketOf(filesUrl(bucketName));
  const store = new S3Store({ bucket, credentials, draftFolder, limits: QUICK, ...given });
  onTestFinished(() => store.close());
  return { store, draftFolder };
}

/** Restarts the server even if the test has failed. */
async function killed(): Promise<() => Promise<void>> {
  const { kill, restart } = controlOf(s3());
  await kill();
  let isDown = true;
  const up = async (): Promise<void> => {
    if (isDown) await restart();
    isDown = false;
  };
  onTestFinished(up);
  return up;
}

const isPut = ({ method }: IncomingMessage): boolean => method === 'PUT';
const cutOff = (request: IncomingMessage): true => {
  request.socket.resetAndDestroy();
  return true;
};

describe('an upload', () => {
  test('that is cut in the middle leaves no file, and is sent again', async () => {
    const { store } = await openStore();
    const { fail, requests } = controlOf(s3());
    const bytes = randomBytes(2_000_000);
    let cuts = 0;
    fail(async (request) => {
      if (!isPut(request) || cuts > 0) return false;
      for await (const _ of request) break;
      cuts += 1;
      return cutOff(request);
    });
    const id = await put(store, bytes);
    expect((await contentOf(store, id))?.equals(bytes)).toBe(true);
    expect(requests.filter((one) => one.startsWith('PUT'))).toHaveLength(2);
  });

  test('whose bytes are changed on the way is refused by the storage', async () => {
    const { store, draftFolder } = await openStore();
    controlOf(s3()).fail((request) => {
      // The hash is signed: what has another one is not accepted.
      if (isPut(request)) request.unshift(Buffer.from('x'));
      return false;
    });
    const draft = store.draft();
    await draft.write(Buffer.from('picture'));
    await expect(draft.commit()).rejects.toMatchObject(UNAVAILABLE);
    await draft.discard();
    controlOf(s3()).fail(() => false);
    expect(await listed(store)).toEqual([]);
    expect(await readdir(join(draftFolder, 'drafts'))).toEqual([]);
  });

  test('to a storage that was killed fails, and works when it is back', async () => {
    const { store } = await openStore();
    const up = await killed();
    const draft = store.draft();
    await draft.write(Buffer.from('picture'));
    const cause = { code: 'ECONNREFUSED' };
    await expect(draft.commit()).rejects.toMatchObject({ ...UNAVAILABLE, cause });
    await draft.discard();
    await up();
    expect(await contentOf(store, await put(store, 'picture'))).toEqual(Buffer.from('picture'));
  });

  test.each([
    [507, 'InsufficientStorage', 'storage_full'],
    [403, 'QuotaExceeded', 'storage_full'],
    [403, 'AccessDenied', 'storage_unavailable'],
  ])('that is answered with %i %s tells %s', async (status, code, expected) => {
    const { store } = await openStore();
    controlOf(s3()).fail((request, response) => isPut(request) && refuse(response, status, code));
    const draft = store.draft();
    await draft.write(Buffer.from('picture'));
    await expect(draft.commit()).rejects.toMatchObject({ code: expected });
    await draft.discard();
  });
});

function refuse(response: ServerResponse, status: number, code: string): true {
  response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`);
  return true;
}

describe('a request', () => {
  test.each([500, 503, 429])('that is answered with %i is repeated', async (status) => {
    const { store } = await openStore();
    const id = await put(store, 'picture');
    const { fail, requests } = controlOf(s3());
    requests.splice(0);
    let failures = 0;
    fail((_, response) => ++failures <= 2 && refuse(response, status, 'SlowDown'));
    expect(await store.bytes(id)).toBe(7);
    expect(requests).toHaveLength(3);
  });

  test('that is refused is not repeated', async () => {
    const { store } = await openStore();
    const { fail, requests } = controlOf(s3());
    fail((_, response) => refuse(response, 403, 'AccessDenied'));
    await expect(store.read('a'.repeat(22))).rejects.toMatchObject(UNAVAILABLE);
    expect(requests).toHaveLength(1);
  });

  test('that is not answered ends in time', async () => {
    const { store } = await openStore({ limits: SHORT });
    controlOf(s3()).fail(() => true);
    const cause = { code: 'ETIMEDOUT' };
    await expect(store.bytes('a'.repeat(22))).rejects.toMatchObject({ ...UNAVAILABLE, cause });
  });

  test('with a wrong secret, or for a bucket that is not there, says so', async () => {
    const { credentials } = s3();
    const wrong = await openStore({ credentials: { ...credentials, secretKey: 'guessed' } });
    const signature = { code: 'SignatureDoesNotMatch' };
    await expect(put(wrong.store, 'x')).rejects.toMatchObject({ cause: signature });
    const elsewhere = await openStore({ bucketName: 'no-such-bucket' });
    const missing = { code: 'NoSuchBucket' };
    await expect(put(elsewhere.store, 'x')).rejects.toMatchObject({ cause: missing });
    await expect(elsewhere.store.read('a'.repeat(22))).rejects.toMatchObject({ cause: missing });
  });
});

/** Sends a part of the file, and then this happens. */
function breakOnce(after: (request: IncomingMessage) => void): void {
  let broken = false;
  controlOf(s3()).fail((request, response) => {
    if (request.method !== 'GET' || broken) return false;
    broken = true;
    const write = response.write.bind(response) as (piece: Buffer) => boolean;
    let sent = 0;
    const first = (piece: Buffer): boolean => {
      sent += piece.length;
      if (sent <= 400_000) return write(piece);
      after(request);
      return true;
    };
    response.write = first as typeof response.write;
    return false;
  });
}

/** Sent without a short time limit, and read with one. */
async function storeWith(size: number) {
  const { filesUrl, credentials } = s3();
  const parts = { bucket: bucketOf(filesUrl()), credentials };
  const bytes = randomBytes(size);
  const id = await put((await openStore(parts)).store, bytes);
  return { id, bytes, ...(await openStore({ ...parts, limits: SHORT })) };
}

describe('a download', () => {
  test('that breaks off is continued where it ended', async () => {
    const { store } = await openStore();
    const bytes = randomBytes(1_500_000);
    const id = await put(store, bytes);
    breakOnce(cutOff);
    expect((await contentOf(store, id))?.equals(bytes)).toBe(true);
    breakOnce(cutOff);
    const range = await store.read(id, { start: 100_000, end: 1_400_000 });
    const part = range && (await buffer(range));
    expect(part?.equals(bytes.subarray(100_000, 1_400_000))).toBe(true);
  });

  test('that falls silent is continued, too', async () => {
    const { store, id, bytes } = await storeWith(1_500_000);
    breakOnce(() => {});
    expect((await contentOf(store, id))?.equals(bytes)).toBe(true);
  });

  test('of a storage that was killed meanwhile ends in an error', async () => {
    const { store } = await openStore();
    const id = await put(store, randomBytes(8_000_000));
    const stream = await store.read(id);
    if (stream === null) throw new Error('the file is there');
    const up = await killed();
    await expect(buffer(stream)).rejects.toMatchObject(UNAVAILABLE);
    await up();
    expect((await contentOf(store, id))?.length).toBe(8_000_000);
  });

  test('by a reader who is slower than the time limit is not ended', async () => {
    const { store, id, bytes } = await storeWith(12_000_000);
    const { requests } = controlOf(s3());
    requests.splice(0);
    const stream = await store.read(id);
    if (stream === null) throw new Error('the file is there');
    // The limit passes a few times while nobody reads; that is what is tested.
    await setTimeout(3 * SHORT.silenceMs);
    expect((await buffer(stream)).equals(bytes)).toBe(true);
    expect(requests).toHaveLength(1);
  });
});

describe('a list', () => {
  test('of more files than fit a page names each once, and no others', async () => {
    const { filesUrl, credentials } = s3();
    const bucket = bucketOf(filesUrl());
    const draftFolder = await temporaryFolder();
    const store = new S3Store({ bucket, credentials, draftFolder, limits: QUICK });
    // Its prefix begins with the other's.
    const longer = { ...bucket, prefix: `${bucket.prefix}more/` };
    const other = new S3Store({ bucket: longer, credentials, draftFolder, limits: QUICK });
    onTestFinished(() => [store, other].forEach((one) => one.close()));
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push(await put(store, `file ${i}`));
    await put(other, 'not listed');
    const { requests } = controlOf(s3());
    requests.splice(0);
    const found = await listed(store);
    expect(found.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(requests.length).toBeGreaterThan(2);
  });
});

test('a sweep goes on in a later round after the storage was killed', async () => {
  const { store } = await openStore();
  const ids = [await put(store, 'expired'), await put(store, 'orphan'), await put(store, 'kept')];
  const [expired = '', , kept = ''] = ids;
  const rows = new Set([expired, kept]);
  const takeExpiredAssets = async (): Promise<readonly string[]> =>
    rows.delete(expired) ? [expired] : [];
  const knownAssets = async (asked: readonly string[]) => asked.filter((id) => rows.has(id));
  const parts = {
    files: store,
    store: { takeExpiredAssets, knownAssets } as never,
    now: () => Date.now() + 2 * 3_600_000,
    logger: createLogger('silent'),
  };
  const up = await killed();
  await sweepAssets(parts);
  await up();
  expect(await listed(store)).toHaveLength(3);
  await until(async () => {
    await sweepAssets(parts);
    return (await listed(store)).length === 1;
  });
  expect(await contentOf(store, kept)).toEqual(Buffer.from('kept'));
});
