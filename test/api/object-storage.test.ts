/** A whole gateway whose files are in an object storage. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { picture } from '../support/pictures.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { controlOf, useS3 } from '../support/s3.js';
import { startStudio } from '../support/studio.js';
import { until } from '../support/until.js';
import { ASSETS, bytesOf, draw, listAssets, speak } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { visit } from './visitor.js';

const s3 = useS3();

async function openOn(settings: { filesRedirectMs?: number } = {}) {
  const { filesUrl, credentials } = s3();
  const gateway = await startGateway({
    filesUrl: filesUrl(),
    filesAccessKey: credentials.accessKey,
    filesSecretKey: credentials.secretKey,
    ...settings,
  });
  const { fake } = await startStudio(gateway, { types: ['image', 'tts'] });
  onTestFinished(() => fake.close());
  return gateway;
}

/** Draws, and returns the path of the file and its bytes. */
async function drawn(gateway: TestGateway): Promise<{ path: string; bytes: Buffer }> {
  const response = await draw(gateway);
  const { data } = (await response.json()) as ImageList;
  const path = new URL(data[0]?.url ?? '').pathname;
  const [asset] = await listAssets(gateway);
  return { path, bytes: await bytesOf(await gateway.fetch(`${ASSETS}/${asset?.id}/`)) };
}

const isDown = async (): Promise<() => Promise<void>> => {
  const { kill, restart } = controlOf(s3());
  await kill();
  let up = false;
  const back = async (): Promise<void> => {
    if (!up) await restart();
    up = true;
  };
  onTestFinished(back);
  return back;
};

describe('a file in an object storage', () => {
  it('is stored there alone, and answered whole, in ranges and by its entity tag', async () => {
    const gateway = await openOn();
    const { path, bytes } = await drawn(gateway);
    expect(bytes.subarray(0, 4)).toEqual(picture().subarray(0, 4));
    const id = path.split('/').at(-2) ?? '';
    expect(existsSync(join(gateway.dataDir, 'assets', id.slice(0, 2), id))).toBe(false);
    const ranged = await gateway.fetch(path, { headers: { range: 'bytes=3-9' } });
    expect([ranged.status, ranged.headers.get('content-range')]).toEqual([
      206,
      `bytes 3-9/${bytes.length}`,
    ]);
    expect(await bytesOf(ranged)).toEqual(bytes.subarray(3, 10));
    const head = await gateway.fetch(path, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
    const etag = head.headers.get('etag') ?? '';
    const unchanged = await gateway.fetch(path, { headers: { 'if-none-match': etag } });
    expect(unchanged.status).toBe(304);
  });

  it('is deleted there with its row', async () => {
    const gateway = await openOn();
    const { path } = await drawn(gateway);
    const id = path.split('/').at(-2) ?? '';
    const { requests } = controlOf(s3());
    expect((await gateway.fetch(path, { method: 'DELETE' })).status).toBe(200);
    expect((await gateway.fetch(path)).status).toBe(404);
    expect(requests.filter((one) => one.startsWith('DELETE') && one.endsWith(id))).toHaveLength(1);
  });

  it('is 503 storage_unavailable while the storage is away, and there again with it', async () => {
    const gateway = await openOn();
    const { path, bytes } = await drawn(gateway);
    const back = await isDown();
    const unavailable = { error: { code: 'storage_unavailable', type: 'server_error' } };
    for (const call of [() => gateway.fetch(path), () => draw(gateway)]) {
      const refused = await call();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await refused.json()).toMatchObject(unavailable);
    }
    // A file that was not stored has no row, and takes no space.
    expect(await listAssets(gateway)).toHaveLength(1);
    await back();
    expect(await bytesOf(await gateway.fetch(path))).toEqual(bytes);
    expect((await speak(gateway)).status).toBe(200);
  });
});

describe('a redirect to the storage', () => {
  it('opens the file with its type and name, in ranges, and is not cached', async () => {
    const gateway = await openOn({ filesRedirectMs: 60_000 });
    const { path, bytes } = await drawn(gateway);
    const answer = await gateway.fetch(path, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store']);
    const link = answer.headers.get('location') ?? '';
    expect(link).toContain('X-Amz-Expires=60');
    const opened = await fetch(link);
    expect(opened.status).toBe(200);
    expect(opened.headers.get('content-type')).toBe('image/png');
    expect(opened.headers.get('content-disposition')).toMatch(/^inline; filename="\w{22}\.png"$/);
    expect(await bytesOf(opened)).toEqual(bytes);
    const ranged = await gateway.fetch(path, { headers: { range: 'bytes=3-9' } });
    expect([ranged.status, ranged.redirected]).toEqual([206, true]);
    expect(await bytesOf(ranged)).toEqual(bytes.subarray(3, 10));
  });

  it('is only for those who may fetch the file, and opens no other', async () => {
    const gateway = await openOn({ filesRedirectMs: 60_000 });
    const { path } = await drawn(gateway);
    const { path: other } = await drawn(gateway);
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    expect((await gateway.fetch(path, { headers, redirect: 'manual' })).status).toBe(404);
    expect((await fetch(gateway.address + path, { redirect: 'manual' })).status).toBe(401);
    const link = (await gateway.fetch(path, { redirect: 'manual' })).headers.get('location') ?? '';
    const [id = '', another = ''] = [path, other].map((one) => one.split('/').at(-2));
    expect((await fetch(link.replace(id, another))).status).toBe(403);
    expect((await fetch(link.replace('=60', '=600'))).status).toBe(403);
  });

  it('ends', async () => {
    const gateway = await openOn({ filesRedirectMs: 1_000 });
    const { path } = await drawn(gateway);
    const link = (await gateway.fetch(path, { redirect: 'manual' })).headers.get('location') ?? '';
    expect((await fetch(link)).status).toBe(200);
    await until(async () => (await fetch(link)).status === 403);
  });

  it('is not the answer to HEAD, to conditions, or to a page of the dashboard', async () => {
    const gateway = await openOn({ filesRedirectMs: 60_000 });
    const { path, bytes } = await drawn(gateway);
    const asked = (init: RequestInit) => gateway.fetch(path, { ...init, redirect: 'manual' });
    const head = await asked({ method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    const etag = head.headers.get('etag') ?? '';
    expect((await asked({ headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await asked({ headers: { range: 'bytes=0-1', 'if-range': etag } })).status).toBe(206);
    const anna = await visit(gateway, gateway.anna.email);
    expect((await anna.fetch(path, { redirect: 'manual' })).status).toBe(200);
  });
});

it('a fetch that its caller leaves ends the request to the storage', async () => {
  const gateway = await openOn();
  const { path } = await drawn(gateway);
  let open = false;
  controlOf(s3()).fail((request, response) => {
    if (request.method !== 'GET') return false;
    open = true;
    response.on('close', () => {
      open = false;
    });
    response.writeHead(200, { 'content-length': '1000000' }).write('slow');
    return true;
  });
  const controller = new AbortController();
  const answer = await gateway.fetch(path, { signal: controller.signal });
  expect(answer.status).toBe(200);
  expect(open).toBe(true);
  controller.abort();
  await until(() => !open, { timeoutMs: 5_000 });
});
