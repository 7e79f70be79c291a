import { INDEX, readWebFiles } from '@inference-gateway/coordinator/http/dashboard/web-files';
import type { WebFiles } from '@inference-gateway/coordinator/http/dashboard/web-files';
import { WEB_FOLDER } from '@inference-gateway/coordinator/own-files';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { failureOf } from './requests.js';

const HTML = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const SHELL_BYTES = 15 * 1024;
const HOME_BYTES = 45 * 1024;

let gateway: TestGateway;
let files: WebFiles;
let index: string;

beforeAll(async () => {
  gateway = await openGateway();
  files = (await readWebFiles(WEB_FOLDER)) ?? new Map();
  index = files.get(INDEX)?.plain.toString() ?? '';
});

afterAll(() => gateway.stop());

function open(path: string, headers: Readonly<Record<string, string>> = HTML): Promise<Response> {
  return fetch(`${gateway.address}${path}`, { headers });
}

describe('a browser gets the page', () => {
  it.each([
    '/',
    '/login',
    '/queue',
    '/jobs/01J',
    '/settings/token',
    '/docs/errors',
    '/join',
    '/x/',
  ])('at %s', async (path) => {
    const response = await open(path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'x-request-id': expect.stringMatching(/^req_/) as string,
      vary: 'Accept, Accept-Encoding',
    });
    expect(response.headers.get('permissions-policy')).toMatch(
      /^microphone=\(self\), .*camera=\(\)/,
    );
    expect(await response.text()).toBe(index);
  });

  it('which may load only what is the gateway’s, and be shown in no other page', async () => {
    const { headers } = await open('/queue');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; " +
        "frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'self'; " +
        `connect-src 'self' ${gateway.address.replace('http', 'ws')}`,
    );
    expect(headers.get('strict-transport-security')).toBeNull();
  });

  it('and over https is told to come by it from now on', async () => {
    const own = await startGateway({ publicUrl: 'https://gateway.example.net' });
    const { headers } = await fetch(own.address, { headers: HTML });
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(headers.get('content-security-policy')).toContain(' wss://gateway.example.net');
  });

  it('and not again while it is the same', async () => {
    const etag = (await open('/queue')).headers.get('etag') ?? '';
    const again = await open('/jobs', { ...HTML, 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('content-security-policy')).toContain("default-src 'self'");
  });
});

describe('a program gets what it always did', () => {
  it.each<[string, Readonly<Record<string, string>>]>([
    ['nothing named', {}],
    ['anything', { accept: '*/*' }],
    ['JSON', { accept: 'application/json' }],
    ['JSON before HTML', { accept: 'application/json, text/html;q=0.9' }],
  ])('asking for %s', async (_, headers) => {
    expect(await (await open('/', headers)).json()).toMatchObject({ api: '/v1' });
    expect(await failureOf(await open('/queue', headers))).toMatchObject({
      status: 404,
      code: 'unknown_url',
    });
  });

  it.each([
    ['/v1/models', 401],
    ['/v1', 401],
    ['/api/console/v1/session', 401],
    ['/api/nothing', 404],
    ['/agent/v1/connect', 404],
    ['/assets/main-0ld.js', 404],
    ['/metrics', 404],
  ])('at %s also a browser, with status %s', async (path, status) => {
    expect(await failureOf(await open(path))).toMatchObject({ status });
  });

  it.each(['/healthz', '/readyz', '/openapi.json'])('at %s, too', async (path) => {
    expect((await open(path)).headers.get('content-type')).toContain('application/json');
  });
});

describe('what is built', () => {
  it('is served as it was built, packed or not', async () => {
    for (const [path, { plain, compressed }] of files) {
      if (path === INDEX) continue;
      const served = await (await open(path, { accept: '*/*' })).arrayBuffer();
      expect({ path, isSame: plain.equals(Buffer.from(served)) }).toEqual({ path, isSame: true });
      for (const { encoding, bytes } of compressed) {
        const unpacked = encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes);
        const isSame = plain.equals(unpacked);
        expect({ path, encoding, isSame }).toEqual({ path, encoding, isSame: true });
      }
    }
    expect(files.size).toBeGreaterThan(2);
  });

  it('has an app shell of 15 KB at most, and of 45 KB with all that Home needs', () => {
    const shell = [INDEX, ...shellOf(index)];
    expect(gzipBytes(shell)).toBeLessThanOrEqual(SHELL_BYTES);
    expect(gzipBytes([...shell, ...(screens()['/'] ?? [])])).toBeLessThanOrEqual(HOME_BYTES);
  });

  it('lists the files of each screen, and none that its page names already', () => {
    const inPage = shellOf(index);
    expect(Object.keys(screens()).length).toBeGreaterThan(15);
    for (const [route, listed] of Object.entries(screens())) {
      expect({ route, missing: listed.filter((path) => !files.has(path)) }).toEqual({
        route,
        missing: [],
      });
      expect(listed.filter((path) => inPage.includes(path))).toEqual([]);
      expect(new Set(listed).size).toBe(listed.length);
      expect(listed.some((path) => path.startsWith('/assets/parts-'))).toBe(true);
    }
  });

  it('has no script and no style inside its page', () => {
    expect(index).toContain('<script type="module"');
    for (const [script] of index.matchAll(/<script[^>]*>[^]*?<\/script>/g)) {
      expect(script).toMatch(/^<script [^>]*src="\/assets\/[^"]+"[^>]*><\/script>$/);
    }
    expect(index).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
  });

  it('loads nothing from anywhere else', () => {
    for (const [, address = ''] of index.matchAll(/\s(?:src|href)="([^"]*)"/g)) {
      expect([...files.keys()]).toContain(address);
    }
    for (const [path, { plain, contentType }] of files) {
      const loads = LOADS.filter(({ type }) => contentType.startsWith(type)).flatMap(({ how }) =>
        [...plain.toString().matchAll(how)].map(([found]) => found),
      );
      expect([path, loads]).toEqual([path, []]);
    }
  });
});

function screens(): Readonly<Record<string, string[]>> {
  return JSON.parse(files.get('/screens.json')?.plain.toString() ?? '{}') as Record<
    string,
    string[]
  >;
}

function gzipBytes(paths: readonly string[]): number {
  const sizes = paths.map((path) => gzipSync(files.get(path)?.plain ?? '', { level: 9 }).length);
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** How files of each type can load others from elsewhere. */
const LOADS = [
  { type: 'text/css', how: /(?:@import|url\()\s*["']?(?:https?:)?\/\/[^)"']+/g },
  {
    type: 'text/javascript',
    how: /(?:import|fetch|Worker|WebSocket)\(\s*["'`](?:https?:|wss?:)?\/\/[^)]+/g,
  },
  { type: 'text/javascript', how: /from\s*["'](?:https?:)?\/\/[^"']+/g },
  { type: 'image/svg+xml', how: /(?:href|src)="(?:https?:)?\/\/[^"]+/g },
];

/** The files that a browser needs before it can draw: scripts and styles, without the icon. */
function shellOf(html: string): string[] {
  const tags = [...html.matchAll(/<(?:script|link)[^>]*>/g)].map(([tag]) => tag);
  const needed = tags.filter((tag) => /<script|rel="(?:stylesheet|modulepreload)"/.test(tag));
  return needed.map((tag) => /(?:src|href)="([^"]+)"/.exec(tag)?.[1] ?? '');
}
