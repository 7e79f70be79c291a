import type { Context, RequestState } from '@inference-gateway/coordinator/http/edge/context';
import { web } from '@inference-gateway/coordinator/http/dashboard/web';
import { readWebFiles } from '@inference-gateway/coordinator/http/dashboard/web-files';
import Koa from 'koa';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { IncomingMessage, OutgoingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, gzipSync, brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const SCRIPT = 'document.title = "hello";'.repeat(40);
const PAGE = '<!doctype html><title>hello</title>';
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const HASHED = '/assets/main-B4kXo1.js';

let port: number;
let folder: string;
let server: Server;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  await fill({
    'index.html': PAGE,
    'robots.txt': 'User-agent: *',
    'screens.json': JSON.stringify({
      '/': [HASHED],
      '/jobs/:id': [HASHED, '/assets/style-Zz81.css'],
      '/docs/:part?': ['/assets/style-Zz81.css'],
    }),
    [HASHED]: SCRIPT,
    [`${HASHED}.br`]: brotliCompressSync(SCRIPT),
    [`${HASHED}.gz`]: gzipSync(SCRIPT),
    '/assets/style-Zz81.css': 'body{}',
    '/assets/icons-Aa02.svg': '<svg/>',
    '/assets/strange-Aa03.odd': 'odd',
    '/assets/archive-Aa04.gz': 'no other form of anything',
  });
  await writeFile(join(dirname(folder), 'outside.txt'), 'outside');
  ({ server, port } = await serve(folder));
});

afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
  await rm(join(dirname(folder), 'outside.txt'));
});

async function fill(files: Readonly<Record<string, string | Uint8Array>>, into = folder) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(into, path)), { recursive: true });
    await writeFile(join(into, path), content);
  }
}

const ownOrigins = (): readonly string[] => ['https://gateway.example.net', 'http://[::1]:7070'];

/** Serves only these files; all other paths are 404. */
async function serve(from: string): Promise<{ server: Server; port: number }> {
  const app = new Koa<RequestState>();
  const sessions = { isNamedBy: (ctx: Context) => ctx.get('cookie') === 'session=1' };
  app.use(web({ files: await readWebFiles(from), ownOrigins, sessions }));
  const handle = app.callback();
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { server, port: (server.address() as AddressInfo).port };
}

/** Sends the path as written: no client normalises it, adds headers or decodes the answer. */
async function get(path: string, headers: OutgoingHttpHeaders = {}, method = 'GET') {
  const sent = request({ port, host: '127.0.0.1', path, headers, method, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
}

describe('a hashed file', () => {
  it('is kept for ever, and is what it says', async () => {
    const { status, headers, bytes } = await get(HASHED);
    expect([status, bytes.toString()]).toEqual([200, SCRIPT]);
    expect(headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(SCRIPT.length),
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0.1, gzip', 'gzip', gunzipSync],
  ])('to who takes "%s" it is sent as %s', async (accepted, encoding, unpack) => {
    const { headers, bytes } = await get(HASHED, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(headers.vary).toBe('Accept-Encoding');
    expect(unpack(bytes).toString()).toBe(SCRIPT);
  });

  it.each([
    ['/assets/style-Zz81.css', 'text/css; charset=utf-8'],
    ['/assets/icons-Aa02.svg', 'image/svg+xml'],
    ['/assets/strange-Aa03.odd', 'application/octet-stream'],
    ['/assets/archive-Aa04.gz', 'application/octet-stream'],
  ])('%s is %s', async (path, type) => {
    const { status, headers } = await get(path, { 'accept-encoding': 'br, gzip' });
    expect([status, headers['content-type']]).toEqual([200, type]);
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('of another form has a tag of its own, and each confirms itself alone', async () => {
    const forms = ['identity', 'gzip', 'br'].map((form) => ({ 'accept-encoding': form }));
    const tags = await Promise.all(forms.map(async (as) => (await get(HASHED, as)).headers.etag));
    expect(new Set(tags).size).toBe(3);
    for (const [i, as] of forms.entries()) {
      for (const [j, tag] of tags.entries()) {
        const { status, bytes } = await get(HASHED, { ...as, 'if-none-match': tag });
        expect(status).toBe(i === j ? 304 : 200);
        expect(bytes.length === 0).toBe(i === j);
      }
    }
  });

  it.each(['W/%', '"other", %', '*'])('is not sent again to who has %s', async (pattern) => {
    const { etag = '' } = (await get(HASHED)).headers;
    const { status, headers } = await get(HASHED, { 'if-none-match': pattern.replace('%', etag) });
    expect(status).toBe(304);
    expect(headers).toMatchObject({ etag, vary: 'Accept-Encoding' });
    expect(headers['cache-control']).toContain('immutable');
    expect(headers['content-type']).toBeUndefined();
  });

  it('HEAD tells the same without the bytes', async () => {
    const as = { 'accept-encoding': 'br' };
    const [got, head] = [await get(HASHED, as), await get(HASHED, as, 'HEAD')];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    const { date: _, ...headers } = got.headers;
    expect(head.headers).toMatchObject(headers);
  });

  it.each([`${HASHED}.br`, `${HASHED}.gz`, '/assets/main-0ld.js', '/assets/', '/assets'])(
    'there is none at %s, also for a browser',
    async (path) => {
      expect((await get(path, HTML)).status).toBe(404);
    },
  );
});

it('a file without a hash in its name is asked for again each time', async () => {
  expect((await get('/robots.txt')).headers['cache-control']).toBe('no-cache');
});

it.each([
  '/../outside.txt',
  '/assets/../../outside.txt',
  '/%2e%2e/outside.txt',
  '/assets/%2e%2e%2f%2e%2e%2foutside.txt',
  '/assets/..%5c..%5coutside.txt',
  '//etc/passwd',
  '/assets/%00',
])('%s leads nowhere outside', async (path) => {
  const { status, bytes } = await get(path);
  expect(status).toBe(404);
  expect(bytes.toString()).not.toContain('outside');
});

describe('the page', () => {
  const script = `<${HASHED}>; rel=modulepreload; crossorigin`;
  const style = '</assets/style-Zz81.css>; rel=preload; as=style; crossorigin';
  const session = '</api/console/v1/session>; rel=preload; as=fetch; crossorigin';

  it.each([
    ['/', [session, script]],
    ['/jobs/01J', [session, script, style]],
    ['/jobs/01J/', [session, script, style]],
    ['/docs', [session, style]],
    ['/docs/errors', [session, style]],
  ])('at %s names what its screen needs, to a browser with a session', async (path, links) => {
    const { headers } = await get(path, { ...HTML, cookie: 'session=1' });
    expect(headers.link).toBe(links.join(', '));
    expect((await get(path, HTML)).headers).not.toHaveProperty('link');
  });

  it.each(['/jobs', '/jobs/01J/x', '/docs/errors/x', '/else'])(
    'at %s names nothing',
    async (path) => {
      const { headers } = await get(path, { ...HTML, cookie: 'session=1' });
      expect(headers).not.toHaveProperty('link');
    },
  );

  it('tells the browser what to refuse, and to come by https from now on', async () => {
    const { headers } = await get('/queue', HTML);
    expect(headers['content-security-policy']).toBe(
      "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; " +
        "frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'self'; " +
        "connect-src 'self' wss://gateway.example.net ws://[::1]:7070",
    );
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
  });

  it('is not sent for another method', async () => {
    expect((await get('/queue', HTML, 'POST')).status).toBe(404);
  });
});

it('where nothing is built, the page says how to, and the rest is as it was', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  onTestFinished(() => rm(empty, { recursive: true }));
  expect(await readWebFiles(join(empty, 'none'))).toBeNull();
  const other = await serve(empty);
  onTestFinished(() => void other.server.close());
  const page = await fetch(`http://127.0.0.1:${other.port}/`, { headers: HTML });
  expect([page.status, page.headers.get('content-type')]).toEqual([
    503,
    'text/plain; charset=utf-8',
  ]);
  expect(await page.text()).toMatch(/has not been built.+"npm run build".+\/v1 works without/);
  expect((await fetch(`http://127.0.0.1:${other.port}/`)).status).toBe(404);
});

it('a folder that is no dashboard is not read into memory', async () => {
  const large = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  onTestFinished(() => rm(large, { recursive: true }));
  await fill({ 'index.html': PAGE, film: Buffer.alloc(65 * 1024 * 1024) }, large);
  await expect(readWebFiles(large)).rejects.toThrow('more than 2000 files or 64 MiB');
});
