/** What a coordinator hands out for machines with GPUs, without a key. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { failureOf } from './requests.js';

const FILE = 'gateway-agent-1.2.3.tgz';
const CONTENT = Buffer.from('what is in the package');
const LARGE = 'gateway-agent-linux-x64.gz';
const LARGE_BYTES = 32 * 1024 * 1024;

let folder: string;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const large = Buffer.alloc(LARGE_BYTES, 7);
  await writeFile(join(folder, FILE), CONTENT);
  await writeFile(join(folder, LARGE), large);
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await symlink('/etc/passwd', join(folder, 'passwd'));
  const missing = artifact('gateway-agent-windows-x64.exe.gz', CONTENT, 'windows-x64');
  const artifacts = [artifact(FILE, CONTENT, null), artifact(LARGE, large, 'linux-x64'), missing];
  await writeFile(join(folder, 'release.json'), JSON.stringify({ version: '1.2.3', artifacts }));
  gateway = await openGateway({ downloadsDir: folder });
});

afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

function artifact(file: string, bytes: Buffer, platform: string | null) {
  return {
    file,
    kind: platform === null ? 'package' : 'executable',
    platform,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  };
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return fetch(`${gateway.address}${path}`, { headers, method });
}

describe('a file of the release', () => {
  test('is handed out whole, in part, or not at all if the caller has it', async () => {
    const whole = await get(`/download/${FILE}`);
    expect(whole.headers.get('content-length')).toBe(String(CONTENT.length));
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(CONTENT).digest('hex')}"`);
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(CONTENT);
    const part = await get(`/download/${FILE}`, { range: 'bytes=5-7' });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 5-7/22']);
    expect(await part.text()).toBe('is ');
    const rest = await get(`/download/${FILE}`, { range: 'bytes=15-', 'if-range': etag });
    expect([rest.status, await rest.text()]).toEqual([206, 'package']);
    const changed = await get(`/download/${FILE}`, { range: 'bytes=15-', 'if-range': '"other"' });
    expect([changed.status, (await changed.text()).length]).toEqual([200, CONTENT.length]);
    expect((await get(`/download/${FILE}`, { 'if-none-match': etag })).status).toBe(304);
    expect((await get(`/download/${FILE}`, { range: 'bytes=99-' })).status).toBe(416);
    const head = await get(`/download/${FILE}`, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '22']);
  });

  test('is refused if it was replaced since the start, as its digest is another now', async () => {
    const path = join(folder, FILE);
    const before = await readFile(path);
    const { mtime } = await stat(path);
    try {
      await writeFile(path, before.toString().replace('package', 'pockage'));
      await utimes(path, mtime, new Date(mtime.getTime() + 5_000));
      const replaced = await get(`/download/${FILE}`);
      expect(replaced.status).toBe(409);
      expect(await replaced.text()).toContain('was replaced after this coordinator started');
    } finally {
      await writeFile(path, before);
      await utimes(path, mtime, mtime);
    }
    expect((await get(`/download/${FILE}`)).status).toBe(200);
  });

  test('is in the list that agents read, and in the scripts if it is there', async () => {
    const list = (await (await get('/download/release.json')).json()) as { version: string };
    expect(list.version).toBe('1.2.3');
    for (const name of ['sh', 'ps1']) {
      const answer = await get(`/install.${name}`, { accept: 'text/html' });
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      const script = await answer.text();
      for (const part of [gateway.address, '1.2.3', FILE, LARGE]) expect(script).toContain(part);
      expect(script).not.toContain('windows-x64.exe.gz');
      expect(script).not.toMatch(/@[A-Z]+@/);
      // Of a script that arrives in part nothing runs: all is functions, or one block.
      const [first, ...rest] = script.split('\n').filter((line) => !/^(#|$)/.test(line));
      if (name === 'sh') expect(rest.at(-1)).toBe('main "$@"');
      else expect([first, rest.at(-1)]).toEqual(['& {', '}']);
    }
  });

  test('is handed out to so many at once, and then to others again', async () => {
    const open: IncomingMessage[] = [];
    for (let n = 0; n < 32; n += 1) open.push(await paused(`/download/${LARGE}`));
    expect(open.map(({ statusCode }) => statusCode)).toEqual(Array(32).fill(200));
    expect(await failureOf(await get(`/download/${LARGE}`))).toMatchObject({
      status: 503,
      code: 'capacity_exhausted',
    });
    expect((await get(`/download/release.json`)).status).toBe(200);
    for (const answer of open) answer.destroy();
    await until(async () => (await get(`/download/${FILE}`)).status === 200);
  });
});

/** An answer of which nothing is read. */
function paused(path: string): Promise<IncomingMessage> {
  return new Promise((done, failed) => {
    const sent = request(`${gateway.address}${path}`, { agent: false }, (answer) => done(answer));
    sent.once('error', failed);
    sent.end();
  });
}

describe('no other file of the server is handed out', () => {
  test.each([
    'secret.txt',
    'passwd',
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2fsecret.txt',
    'gateway-agent-windows-x64.exe.gz',
    'SHA256SUMS',
    '__proto__',
  ])('by the name %s', async (name) => {
    const own = await startGateway({ downloadsDir: folder });
    const answer = await fetch(`${own.address}/download/${name}`);
    expect(await failureOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
  });
});

test('a page is told which agent the gateway hands out, and that none is', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const none = await startGateway({ downloadsDir: empty });
  const answer = await fetch(`${none.address}/install.sh`);
  expect(await failureOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
  expect(await failureOf(await fetch(`${none.address}/download/release.json`))).toMatchObject({
    status: 404,
  });
  await rm(empty, { recursive: true });
});
