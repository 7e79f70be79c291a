import { randomId } from '@inference-gateway/shared/ids';
import { once } from 'node:events';
import { readdir, readlink, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PICTURE, PUBLIC_URL, startAssetServer } from '../support/asset-server.js';
import type { AssetServer } from '../support/asset-server.js';
import { silentWav } from '../support/sound.js';
import { until } from '../support/until.js';

const LIST = '/api/inference/assets';
const LARGE = Buffer.alloc(20_000_000);
const A = { bytes: PICTURE };
const SOUND = silentWav(2);
const SPEECH = { endpoint: 'speech', contentType: 'audio/wav', bytes: SOUND } as const;

describe('GET /api/inference/assets/<id>/', () => {
  test('answers the bytes of the file with headers under which nothing in it can run', async () => {
    const server = await startAssetServer();
    const [asset] = server.assets;
    const response = await server.fetch(server.path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      etag: `"${asset?.sha256}"`,
      'last-modified': new Date(asset?.createdAt ?? 0).toUTCString(),
      'cache-control': expect.stringMatching(/^private, max-age=863\d\d, immutable$/),
      'content-disposition': `inline; filename="${asset?.id}.png"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      vary: 'Cookie, Authorization, X-Api-Key',
      'access-control-allow-origin': '*',
    });
    expect(await bytesOf(response)).toEqual(PICTURE);
  });

  test('works with and without the slash at its end', async () => {
    const server = await startAssetServer();
    expect((await server.fetch(server.path.slice(0, -1))).status).toBe(200);
  });

  test('names a sound file after what it is', async () => {
    const server = await startAssetServer({ files: [{ ...SPEECH, contentType: 'audio/mp4' }] });
    const { headers } = await server.fetch(server.path);
    expect(headers.get('content-type')).toBe('audio/mp4');
    expect(headers.get('content-disposition')).toMatch(/^inline; filename="\w{22}\.m4a"$/);
  });

  test('tells HEAD the same without the bytes', async () => {
    const server = await startAssetServer();
    const response = await server.fetch(server.path, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('1000');
    expect(await bytesOf(response)).toHaveLength(0);
  });

  test('counts against no rate limit', async () => {
    const server = await startAssetServer({ settings: { rateLimitRequests: 1 } });
    for (let i = 0; i < 3; i++) {
      expect((await server.fetch(server.path)).status).toBe(200);
      expect((await server.fetch(LIST)).status).toBe(200);
    }
  });

  test('is cut off where its caller leaves, and serves the next one', async () => {
    const server = await startAssetServer({ files: [{ bytes: LARGE }] });
    const departure = new AbortController();
    const response = await server.fetch(server.path, { signal: departure.signal });
    await response.body?.getReader().read();
    departure.abort();
    expect(await bytesOf(await server.fetch(server.path))).toHaveLength(LARGE.length);
  });

  test.runIf(process.platform === 'linux')(
    'does not hold the file open for ever for a caller that reads nothing',
    async () => {
      const settings = { stallMs: 200 };
      const server = await startAssetServer({ files: [{ bytes: LARGE }], settings });
      const path = server.files.path(server.assets[0]?.id ?? '');
      const socket = send(server, server.path).pause();
      await until(() => isOpen(path));
      await until(async () => !(await isOpen(path)));
      socket.destroy();
    },
  );
});

describe('a copy that is already there', () => {
  test('is confirmed by its ETag or its time, without a byte', async () => {
    const server = await startAssetServer();
    const { headers } = await server.fetch(server.path);
    const etag = headers.get('etag') ?? '';
    const modified = headers.get('last-modified') ?? '';
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const response = await server.fetch(server.path, { headers: condition });
      expect(response.status).toBe(304);
      expect(response.headers.get('etag')).toBe(etag);
      expect(await bytesOf(response)).toHaveLength(0);
    }
    const other = await server.fetch(server.path, { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
  });

  test('and must match is 412 where it does not', async () => {
    const server = await startAssetServer();
    const response = await server.fetch(server.path, { headers: { 'if-match': '"other"' } });
    expect(response.status).toBe(412);
    expect(await errorOf(response)).toMatchObject({ code: 'invalid_value', param: 'If-Match' });
  });
});

describe('what is not to be had is 404, and looks the same', () => {
  test("whether it is another member's, unknown or no id at all", async () => {
    const server = await startAssetServer();
    const id = server.assets[0]?.id ?? '';
    const ids = [id, randomId(), 'x', '..%2F..%2Fgateway.db', '%zz', `${id}%00`, `${id}x`];
    const answers = new Set<string>();
    for (const asked of ids) {
      const response = await server.fetch(`${LIST}/${asked}`, { key: server.benKey });
      expect(response.status).toBe(404);
      const { code, message } = await errorOf(response);
      expect(code).toBe('asset_not_found');
      answers.add(message.replace(/'.*?'/s, ''));
    }
    expect(answers.size).toBe(1);
  });

  test('even where a path is written by hand that leaves the folder', async () => {
    const server = await startAssetServer();
    for (const path of [`${LIST}/../../../etc/passwd`, `${LIST}/..`, `${LIST}/../gateway.db`]) {
      const socket = send(server, path).setEncoding('latin1');
      let answer = '';
      socket.on('data', (text: string) => (answer += text));
      await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1.1 404 /);
    }
  });

  test('once it has expired', async () => {
    const server = await startAssetServer({ retentionMs: 500 });
    const expiresAt = server.assets[0]?.expiresAt ?? Infinity;
    await until(() => Date.now() >= expiresAt);
    const response = await server.fetch(server.path);
    expect(response.status).toBe(404);
    expect(await errorOf(response)).toMatchObject({ code: 'asset_not_found' });
    expect(await (await server.fetch(LIST)).json()).toMatchObject({ data: [], has_more: false });
  });

  test('where its file has gone', async () => {
    const server = await startAssetServer();
    await rm(server.files.path(server.assets[0]?.id ?? ''));
    const response = await server.fetch(server.path);
    expect(response.status).toBe(404);
    expect(response.headers.get('etag')).toBeNull();
    expect(await errorOf(response)).toMatchObject({ code: 'asset_not_found' });
  });
});

describe('without a key', () => {
  test('everything is 401', async () => {
    const server = await startAssetServer();
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      expect((await server.fetch(server.path, { method, key: null })).status).toBe(401);
    }
    expect((await server.fetch(LIST, { key: null })).status).toBe(401);
  });

  test('the setting that would open it is named', async () => {
    const server = await startAssetServer({ settings: { assetsAccess: 'link' } });
    const failure = await errorOf(await server.fetch(server.path, { key: null }));
    expect(failure).toMatchObject({ code: 'missing_api_key' });
    expect(failure).toMatchObject({
      message: expect.stringContaining('GATEWAY_ASSETS_ACCESS=link') as string,
    });
  });
});

/** The path and query of the newest file's link. */
async function linkOf(server: AssetServer): Promise<string> {
  const { data } = (await (await server.fetch(LIST)).json()) as { data: { url: string }[] };
  const { pathname, search } = new URL(data[0]?.url ?? '');
  return pathname + search;
}

describe('the holder of a link', () => {
  const settings = { assetsAccess: 'link', assetsLinkMs: 3_600_000 } as const;

  test('fetches that one file, and does nothing else', async () => {
    const server = await startAssetServer({ settings, files: [A, A] });
    const link = await linkOf(server);
    for (const key of [null, 'gwk_wrong', server.benKey, server.annaKey]) {
      const response = await server.fetch(link, { key });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': expect.stringMatching(/^private, max-age=3[56]\d\d, immutable$/) as string,
      });
      expect(await bytesOf(response)).toEqual(PICTURE);
    }
    const asked = { key: null, headers: { range: 'bytes=10-19' } };
    const part = await server.fetch(link, asked);
    expect([part.status, await bytesOf(part)]).toEqual([206, PICTURE.subarray(10, 20)]);
    expect((await server.fetch(link, { method: 'HEAD', key: null })).status).toBe(200);
    expect((await server.fetch(link, { method: 'DELETE', key: null })).status).toBe(401);
    const query = new URL(link, PUBLIC_URL).search;
    expect((await server.fetch(`${LIST}/${query}`, { key: null })).status).toBe(401);
    expect((await server.fetch(`/v1/models${query}`, { key: null })).status).toBe(401);
    const other = server.assets.find(({ id }) => !link.includes(id))?.id;
    expect((await server.fetch(`${LIST}/${other}/${query}`, { key: null })).status).toBe(401);
  });

  test('is told that it was changed, or is over, and not whether there is a file', async () => {
    const server = await startAssetServer({ settings: { ...settings, assetsLinkMs: 1_000 } });
    const link = await linkOf(server);
    const id = server.assets[0]?.id ?? '';
    const changed = link.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
    const told = await Promise.all(
      [changed, changed.replace(id, randomId())].map(async (path) =>
        errorOf(await server.fetch(path, { key: null })),
      ),
    );
    expect(told[0]).toMatchObject({ code: 'invalid_asset_link', type: 'not_authenticated' });
    expect(told[1]).toEqual(told[0]);
    const over = await until(async () => {
      const response = await server.fetch(link, { key: null });
      return response.status === 401 ? response : null;
    });
    expect(await errorOf(over)).toMatchObject({ code: 'expired_asset_link' });
    // With a key the link is not needed.
    for (const path of [link, changed]) expect((await server.fetch(path)).status).toBe(200);
    expect((await server.fetch(link, { key: server.benKey })).status).toBe(404);
  });

  test('holds it still after the next start', async () => {
    const server = await startAssetServer({ settings });
    const link = await linkOf(server);
    const again = await server.restart();
    expect((await again.fetch(link, { key: null })).status).toBe(200);
  });
});

describe('GET /api/inference/assets', () => {
  test("lists the caller's own, newest first, with all that there is to know", async () => {
    const server = await startAssetServer({
      files: [
        { ...SPEECH, model: 'kokoro' },
        { bytes: PICTURE, owner: 'ben' },
      ],
    });
    const [sound] = server.assets;
    const response = await server.fetch(`${LIST}/`);
    expect(await response.json()).toEqual({
      object: 'list',
      data: [
        {
          id: sound?.id,
          object: 'asset',
          url: `${PUBLIC_URL}/api/inference/assets/${sound?.id}/`,
          content_type: 'audio/wav',
          bytes: SOUND.length,
          sha256: sound?.sha256,
          seconds: 2,
          model: 'kokoro',
          endpoint: '/v1/audio/speech',
          created: Math.floor((sound?.createdAt ?? 0) / 1000),
          expires_at: Math.floor((sound?.expiresAt ?? 0) / 1000),
        },
      ],
      has_more: false,
    });
  });

  test('goes on after an id, and says whether there is more', async () => {
    const server = await startAssetServer({ files: [A, A, A, A, A] });
    const seen: string[] = [];
    const more: boolean[] = [];
    for (let after = ''; more.at(-1) !== false; after = `&after=${seen.at(-1)}`) {
      const response = await server.fetch(`${LIST}?limit=2${after}`);
      const page = (await response.json()) as { data: { id: string }[]; has_more: boolean };
      seen.push(...page.data.map(({ id }) => id));
      more.push(page.has_more);
    }
    expect(more).toEqual([true, true, false]);
    expect(seen.toSorted()).toEqual(server.assets.map(({ id }) => id).toSorted());
  });

  test('is empty after an id that is not there', async () => {
    const server = await startAssetServer();
    for (const after of ['unknown', randomId()]) {
      const response = await server.fetch(`${LIST}?after=${after}`);
      expect(await response.json()).toEqual({ object: 'list', data: [], has_more: false });
    }
  });

  test('takes a limit from 1 to 500, and refuses any other with 400 invalid_value', async () => {
    const server = await startAssetServer();
    for (const limit of ['1', '500']) {
      expect((await server.fetch(`${LIST}?limit=${limit}`)).status).toBe(200);
    }
    for (const limit of ['0', '501', '-1', '1.5', 'x', '', '1e2', '9999999999']) {
      const response = await server.fetch(`${LIST}?limit=${limit}`);
      expect(response.status).toBe(400);
      expect(await errorOf(response)).toMatchObject({ code: 'invalid_value', param: 'limit' });
    }
  });
});

describe('DELETE /api/inference/assets/<id>/', () => {
  test('removes it, once', async () => {
    const server = await startAssetServer();
    const id = server.assets[0]?.id ?? '';
    const response = await server.fetch(server.path, { method: 'DELETE' });
    expect(await response.json()).toEqual({ id, object: 'asset', deleted: true });
    expect((await server.fetch(server.path)).status).toBe(404);
    expect((await server.fetch(server.path, { method: 'DELETE' })).status).toBe(404);
    expect(await server.files.bytes(id)).toBeNull();
  });

  test("leaves another member's alone", async () => {
    const server = await startAssetServer();
    const init = { method: 'DELETE', key: server.benKey };
    expect((await server.fetch(server.path, init)).status).toBe(404);
    expect((await server.fetch(server.path)).status).toBe(200);
  });
});

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return ((await response.json()) as { error: { code: string; message: string } }).error;
}

/** Sends a request with exactly this path, which no HTTP client would send. */
function send(server: AssetServer, path: string): Socket {
  const { port, hostname } = new URL(server.address);
  const socket = connect(Number(port), hostname).on('error', () => {});
  const authorization = `Authorization: Bearer ${server.annaKey}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\nConnection: close\r\n\r\n`);
  return socket;
}

/** Whether this process, which includes the coordinator, has the file open. */
async function isOpen(path: string): Promise<boolean> {
  const folder = '/proc/self/fd';
  const open = await Promise.allSettled(
    (await readdir(folder)).map((fd) => readlink(join(folder, fd))),
  );
  return open.some((one) => one.status === 'fulfilled' && one.value === path);
}
