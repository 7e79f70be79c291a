import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/process-gateway.js';
import { startProgram } from '../../support/program.js';
import { certificatePair } from '../../support/tls-front.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import type { RunOptions } from './run-coordinator.js';
import { serveAdminOn } from './running-admin.js';

test('a sound installation passes, and what could be better is a warning', async () => {
  const folder = await withStore();
  const { code, checks, stderr } = await examine(folder);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(statuses(checks)).toEqual({
    node_version: 'PASS',
    configuration: 'PASS',
    data_folder: 'PASS',
    free_space: expect.stringMatching(/PASS|WARN/),
    database: 'PASS',
    schema: 'PASS',
    integrity: 'PASS',
    clock: 'PASS',
    coordinator: 'SKIP',
    public_url: 'WARN',
    tls: 'SKIP',
    public_address: 'SKIP',
    agent_links: 'SKIP',
  });
  expect(found(checks, 'coordinator')).toBe('not running');
  expect(found(checks, 'agent_links')).toBe('there is no public url');
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
    status: 'FAIL',
    found: expect.stringContaining('mode 755'),
    advice: `Close it with: chmod 700 ${folder.path}`,
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
  const { checks } = await examine(folder);
  expect(failed(checks)).toEqual(['database']);
  expect(statuses(checks)).toMatchObject({ schema: 'SKIP', integrity: 'SKIP', clock: 'SKIP' });
  expect(found(checks, 'schema')).toBe('needs "database", which failed');
  const { code, stderr } = await folder.alone('user list');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot open the database in .*\n$/);
});

test('a wrong configuration fails with all its problems', async () => {
  const folder = await withStore();
  const env = { GATEWAY_PORT: 'x', GATEWAY_PINGS: '3' };
  const { code, checks } = await examine(folder, { env });
  expect(code).toBe(9);
  expect(found(checks, 'configuration')).toContain('GATEWAY_PORT');
  expect(found(checks, 'configuration')).toContain('GATEWAY_PINGS');
});

test.each([
  ['https://gateway.example.org', 'PASS'],
  ['http://127.0.0.1:7070', 'PASS'],
  ['http://gateway.example.org', 'FAIL'],
])('the public URL %s is %s', async (url, status) => {
  const folder = await withStore();
  const { checks } = await examine(folder, { env: { GATEWAY_PUBLIC_URL: url } });
  expect(statuses(checks)['public_url']).toBe(status);
});

test('a running coordinator is asked whether it is ready, and for its own public URL', async () => {
  const folder = await withStore();
  let status = 200;
  const address = await startServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end('{"error":"disk"}');
  });
  await serveAdminOn(folder.path, { address, publicUrl: 'http://gateway.example.org' });
  const ready = await examine(folder, { env: { GATEWAY_PUBLIC_URL: 'https://other.example.org' } });
  expect(found(ready.checks, 'coordinator')).toBe(`ready on ${address}`);
  expect(failed(ready.checks)).toEqual(['public_url']);
  expect(found(ready.checks, 'public_address')).toBe('needs "public url", which failed');
  status = 503;
  const unready = await examine(folder);
  expect(unready.checks.find(({ id }) => id === 'coordinator')).toMatchObject({
    status: 'FAIL',
    found: expect.stringContaining('answers 503'),
  });
});

test('a public address that leads to the coordinator passes, with its WebSockets', async () => {
  const folder = await dataFolder();
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const args = ['start', '--port', String(port), '--public-url', publicUrl];
  const started = startProgram('gateway-coordinator', [...args, '--data', folder.path]);
  await started.printed(/^listening on (\S+)\n/);
  const { code, checks } = await examine(folder);
  expect({ code, failed: failed(checks) }).toEqual({ code: 0, failed: [] });
  expect(statuses(checks)).toMatchObject({ coordinator: 'PASS', public_url: 'PASS' });
  expect(found(checks, 'public_address')).toBe(`${publicUrl}/healthz answers`);
  expect(found(checks, 'agent_links')).toBe('WebSockets come through');
  expect(found(checks, 'tls')).toBe(`${publicUrl} stays on this machine`);
});

test('a proxy without WebSockets fails, another server, and TLS that nobody trusts', async () => {
  const folder = await withStore();
  const ready = await startServer((_request, response) => response.end('{"status":"ready"}'));
  const proxy = await startServer((request, response) => {
    response.writeHead(request.url === '/healthz' ? 200 : 404).end('{"status":"ok"}');
  });
  const other = await startServer((_request, response) => response.writeHead(404).end('nginx'));
  const untrusted = createTlsServer(certificatePair('good'));
  await new Promise<void>((done) => untrusted.listen(0, '127.0.0.1', done));
  onTestFinished(() => void untrusted.close());
  const facts = { address: ready, publicUrl: proxy };
  await serveAdminOn(folder.path, facts);
  const noUpgrade = await examine(folder);
  expect(failed(noUpgrade.checks)).toEqual(['agent_links']);
  expect(found(noUpgrade.checks, 'agent_links')).toContain('WebSockets do not come through');
  facts.publicUrl = other;
  const elsewhere = await examine(folder);
  expect(failed(elsewhere.checks)).toEqual(['public_address']);
  expect(found(elsewhere.checks, 'public_address')).toContain('that is no coordinator');
  expect(found(elsewhere.checks, 'agent_links')).toBe('needs "public address", which failed');
  facts.publicUrl = `https://localhost:${(untrusted.address() as AddressInfo).port}`;
  const selfSigned = await examine(folder);
  expect(failed(selfSigned.checks)).toEqual(['tls']);
  expect(found(selfSigned.checks, 'tls')).toContain('its certificate is self-signed');
  expect(found(selfSigned.checks, 'public_address')).toBe('needs "tls", which failed');
});

test('a public address that is not reached from here is a warning', async () => {
  const folder = await withStore();
  const ready = await startServer((_request, response) => response.end('{"status":"ready"}'));
  const publicUrl = `http://127.0.0.1:${await freePort()}`;
  await serveAdminOn(folder.path, { address: ready, publicUrl });
  const { code, checks } = await examine(folder);
  expect({ code, status: statuses(checks)['public_address'] }).toEqual({ code: 0, status: 'WARN' });
});

test('the advice of every failure ends with a command', async () => {
  const folder = await dataFolder();
  const { checks } = await examine(folder, { env: { GATEWAY_PORT: 'x' } });
  const failures = checks.filter(({ status }) => status === 'FAIL');
  expect(failures.map(({ id }) => id)).toEqual(['configuration', 'data_folder']);
  for (const { id, advice } of failures) expect(advice, id).toMatch(/: [^.]*\S+ \S+[^.]$/);
});

interface Check {
  readonly id: string;
  readonly status: string;
  readonly found: string;
  readonly advice: string | null;
}

/** Serves until the test ends. Returns its origin. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

function found(checks: readonly Check[], id: string): string | undefined {
  return checks.find((check) => check.id === id)?.found;
}

function failed(checks: readonly Check[]): string[] {
  return checks.filter(({ status }) => status === 'FAIL').map(({ id }) => id);
}
