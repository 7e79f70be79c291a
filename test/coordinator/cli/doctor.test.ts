import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import type { RunOptions } from './run-coordinator.js';
import { serveAdminOn } from './running-admin.js';

test('a sound installation passes, and what could be better is a warning', async () => {
  const folder = await withStore();
  const { code, checks, stderr } = await examine(folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(statuses(checks)).toEqual({
    node_version: 'ok',
    configuration: 'ok',
    data_folder: 'ok',
    free_space: expect.stringMatching(/ok|warning/),
    schema: 'ok',
    integrity: 'ok',
    clock: 'ok',
    coordinator: 'ok',
    public_url: 'warning',
  });
  expect(checks.find(({ id }) => id === 'coordinator')?.found).toBe('not running');
  expect((await folder.output('doctor')).split('\n')).toHaveLength(checks.length);
});

test('a folder that does not exist fails, and is not made', async () => {
  const folder = await dataFolder();
  for (let i = 0; i < 2; i++) {
    const { code, checks, stderr } = await examine(folder);
    expect(code).toBe(9);
    expect(failed(checks)).toEqual(['data_folder']);
    expect(stderr).toContain('data folder');
  }
});

test('a folder that is open to other users fails', async () => {
  const folder = await withStore();
  await chmod(folder.path, 0o755);
  const { code, checks } = await examine(folder);
  expect(code).toBe(9);
  expect(checks.find(({ id }) => id === 'data_folder')).toMatchObject({
    status: 'failed',
    found: expect.stringContaining('mode 755'),
    advice: `chmod 700 ${folder.path}`,
  });
});

test('a clock that is behind what was written fails', async () => {
  const folder = await withStore();
  const store = await openStore(folder.path);
  const inAnHour = Date.now() + 3_600_000;
  const ben = {
    email: 'ben@example.org',
    name: 'ben',
    role: 'member',
    passwordHash: null,
  } as const;
  await store.createMember(ben, inAnHour);
  await store.close();
  expect(failed((await examine(folder)).checks)).toEqual(['clock']);
});

test('a schema newer than the program fails', async () => {
  const folder = await withStore();
  const database = openDatabase(join(folder.path, 'gateway.db'));
  database.pragma('user_version = 99');
  database.close();
  expect(failed((await examine(folder)).checks)).toEqual(['schema']);
  expect((await folder.alone('user list')).code).toBe(10);
});

test('a file that is no database fails, and other commands say so without a stack', async () => {
  const folder = await withStore();
  for (const file of ['gateway.db', 'gateway.db-wal']) {
    await writeFile(join(folder.path, file), 'x'.repeat(5_000));
  }
  expect(failed((await examine(folder)).checks)).toEqual(['database']);
  const { code, stderr } = await folder.alone('user list');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot open the database in .*\n$/);
});

test('a wrong configuration fails with all its problems', async () => {
  const folder = await withStore();
  const env = { GATEWAY_PORT: 'x', GATEWAY_PINGS: '3' };
  const { code, checks } = await examine(folder, { env });
  expect(code).toBe(9);
  const found = checks.find(({ id }) => id === 'configuration')?.found;
  expect(found).toContain('GATEWAY_PORT');
  expect(found).toContain('GATEWAY_PINGS');
});

test.each([
  ['https://gateway.example.org', 'ok'],
  ['http://127.0.0.1:7070', 'ok'],
  ['http://gateway.example.org', 'failed'],
])('the public URL %s is %s', async (url, status) => {
  const folder = await withStore();
  const { checks } = await examine(folder, { env: { GATEWAY_PUBLIC_URL: url } });
  expect(statuses(checks)['public_url']).toBe(status);
});

test('a running coordinator is asked whether it is ready, and for its own public URL', async () => {
  const folder = await withStore();
  let status = 200;
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end('{"error":"disk"}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await serveAdminOn(folder.path, { address, publicUrl: 'http://gateway.example.org' });
  const ready = await examine(folder, { env: { GATEWAY_PUBLIC_URL: 'https://other.example.org' } });
  expect(ready.checks.find(({ id }) => id === 'coordinator')?.found).toBe(`ready on ${address}`);
  expect(failed(ready.checks)).toEqual(['public_url']);
  status = 503;
  const unready = await examine(folder);
  expect(unready.checks.find(({ id }) => id === 'coordinator')).toMatchObject({
    status: 'failed',
    found: expect.stringContaining('answers 503'),
  });
});

interface Check {
  readonly id: string;
  readonly status: string;
  readonly found: string;
}

async function withStore(): Promise<DataFolder> {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  await store.close();
  return folder;
}

async function examine(folder: DataFolder, options: RunOptions = {}) {
  const { code, stdout, stderr } = await folder.run('doctor --json', options);
  return { code, stderr, checks: JSON.parse(stdout) as Check[] };
}

function statuses(checks: readonly Check[]): Record<string, string> {
  return Object.fromEntries(checks.map(({ id, status }) => [id, status]));
}

function failed(checks: readonly Check[]): string[] {
  return checks.filter(({ status }) => status === 'failed').map(({ id }) => id);
}
