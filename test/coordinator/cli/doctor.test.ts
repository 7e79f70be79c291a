import { checkFreeSpace } from '@inference-gateway/coordinator/cli/checks/folder';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startProvider } from '../../support/open-id.js';
import { freePort } from '../../support/process-gateway.js';
import { startProgram } from '../../support/program.js';
import { createMember, newAsset, usageRow } from '../../store/store-rows.js';
import { mountSmallDisk } from '../../support/small-disk.js';
import { certificatePair } from '../../support/tls-front.js';
import { dataFolder } from './data-folder.js';
import type { DataFolder } from './data-folder.js';
import { runCoordinator, startCoordinatorProcess } from './run-coordinator.js';
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

const MIB = 1024 ** 2;
const DAY_MS = 86_400_000;
const PLENTY = { memberBytes: 1024 * MIB, totalBytes: 1024 * MIB };
const RETENTION = { retentionMs: DAY_MS, usageRetentionMs: DAY_MS, auditRetentionMs: DAY_MS };

async function filled(path: string, mebibytes: number, ageMs = 0): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, Buffer.alloc(mebibytes * MIB));
  await utimes(path, Date.now() / 1_000, (Date.now() - ageMs) / 1_000);
}

test('where room is short it names what can go, with bytes and a command that works', async () => {
  const { path } = await withStore();
  const store = await openStore(path);
  const { id } = await createMember(store, 'carla');
  await store.createAsset(newAsset(id, { bytes: 5 * MIB, expiresAt: 1 }), PLENTY);
  const at = Date.now() - 2 * DAY_MS;
  store.recordUsage(Array.from({ length: 500 }, (_, i) => ({ ...usageRow(i), at })));
  await store.usageStats({ by: 'day', since: null, memberId: null });
  await store.close();
  await filled(join(path, 'gateway.db.schema-3.backup'), 4);
  await filled(join(path, 'before-restore-2026', 'gateway.db'), 3);
  await filled(join(path, 'restoring-young', 'gateway.db'), 9);
  await filled(join(path, 'of may.tar.gz.unfinished'), 2, 2 * DAY_MS);
  await filled(`${path}.before-restore-2025/gateway.db`, 1);
  await filled(join(path, 'of may.tar.gz'), 7);
  await filled(join(path, 'uploads', 'one'), 6);
  await filled(join(path, 'assets', 'ab', `ab${'c'.repeat(20)}`), 8, 2 * DAY_MS);
  const patient = { dataDir: path, isRunning: false, retention: RETENTION };
  const look = async (isRunning = false) => {
    const { status, freeable = [] } = await checkFreeSpace({ ...patient, isRunning }, 0);
    expect(status).toBe('FAIL');
    return freeable.map(({ bytes, command }) => [Math.round(bytes / MIB), command]);
  };
  const prune = `gateway-coordinator prune --yes --data ${path}`;
  const uploads = [6, `rm -r ${path}/uploads`];
  const others = [
    [7, `mv '${path}/of may.tar.gz' <another disk>`],
    [4, `rm ${path}/gateway.db.schema-3.backup`],
    [3, `rm -r ${path}/before-restore-2026`],
    [2, `rm -r '${path}/of may.tar.gz.unfinished'`],
    [1, `rm -r ${path}.before-restore-2025`],
  ];
  const pruned = [
    [8, prune],
    [5, prune],
    [0, prune],
  ];
  expect(await look(true)).toEqual([...others, ...pruned]);
  expect(await look()).toEqual([others[0], uploads, ...others.slice(1), ...pruned]);
  const { freeable = [] } = await checkFreeSpace(patient, 0);
  expect(freeable.map(({ what }) => what)).toContain(
    'or so of 0 finished jobs, 500 requests, 0 audit entries whose time is over',
  );
  for (const { command } of freeable) {
    if (command.startsWith('rm ')) execFileSync('/bin/sh', ['-c', command]);
  }
  expect(await look()).toEqual([others[0], ...pruned]);
  expect(await checkFreeSpace(patient, 3 * 1024 * MIB)).not.toHaveProperty('freeable');
});

test.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'on a disk without room for another byte it does so, with the server stopped and running',
  async () => {
    const disk = await mountSmallDisk(16);
    if (disk === null) throw new Error('the disk is not mounted');
    const path = join(disk.folder, 'data');
    await (await openStore(path)).close();
    await filled(join(path, 'gateway.db.schema-3.backup'), 2);
    await disk.fill();
    const looked = async () => {
      const args = ['doctor', '--json', '--data', path];
      const { code, stdout } = await runCoordinator(args);
      expect(code).toBe(9);
      return JSON.parse(stdout) as (Check & { freeable?: unknown })[];
    };
    const expected = {
      status: 'FAIL',
      found: '0.0 GiB',
      freeable: [
        {
          what: 'of a copy of the database from before a migration',
          bytes: 2 * MIB,
          command: `rm ${path}/gateway.db.schema-3.backup`,
        },
      ],
    };
    const stopped = await looked();
    expect(stopped.find(({ id }) => id === 'free_space')).toMatchObject(expected);
    // SQLite cannot read its log on a full disk; that is no reason to restore a backup.
    const database = stopped.find(({ id }) => id === 'database');
    expect(database?.advice ?? 'read').toMatch(/^read$|Free space first/);
    await disk.empty();
    await startCoordinatorProcess(['--data', path]);
    await disk.fill();
    const running = await looked();
    expect(running.find(({ id }) => id === 'free_space')).toMatchObject(expected);
    execFileSync('/bin/sh', ['-c', expected.freeable[0]?.command ?? '']);
    // The disk is too small to pass, but the coordinator can write again.
    expect(failed(await looked())).toEqual(['free_space']);
  },
);

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
  let unready = '{"error":{"message":"The database takes no writes.","code":"x"}}';
  const address = await startServer((request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end(unready);
  });
  await serveAdminOn(folder.path, { address, publicUrl: 'http://gateway.example.org' });
  const ready = await examine(folder, { env: { GATEWAY_PUBLIC_URL: 'https://other.example.org' } });
  expect(found(ready.checks, 'coordinator')).toBe(`ready on ${address}`);
  expect(failed(ready.checks)).toEqual(['public_url']);
  expect(found(ready.checks, 'public_address')).toBe('needs "public url", which failed');
  status = 503;
  const { checks } = await examine(folder);
  expect(checks.find(({ id }) => id === 'coordinator')).toMatchObject({
    status: 'FAIL',
    found: `${address}/readyz answers 503: The database takes no writes.`,
  });
  [status, unready] = [200, '{"status":"ready","details":["Its clock is wrong.","So is that."]}'];
  expect((await examine(folder)).checks.find(({ id }) => id === 'coordinator')).toMatchObject({
    status: 'WARN',
    found: `ready on ${address}. Its clock is wrong. So is that.`,
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

/** Serves until the test ends; returns the server's origin. */
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

test('an OpenID provider answers under its own name, or the check fails', async () => {
  const folder = await withStore();
  const provider = await startProvider('http://127.0.0.1:9');
  const env = {
    GATEWAY_PUBLIC_URL: 'http://127.0.0.1:9',
    GATEWAY_OIDC_ISSUER: provider.issuer,
    GATEWAY_OIDC_CLIENT_ID: 'gateway',
  };
  const sound = await examine(folder, { env });
  expect(found(sound.checks, 'openid_provider')).toBe(`${provider.issuer} answers`);
  const other = { ...env, GATEWAY_OIDC_ISSUER: provider.issuer.replace('127.0.0.1', 'localhost') };
  expect(failed((await examine(folder, { env: other })).checks)).toContain('openid_provider');
  await provider.close();
  const silent = await examine(folder, { env });
  expect(silent.code).toBe(9);
  expect(failed(silent.checks)).toContain('openid_provider');
  const document = `${provider.issuer}/.well-known/openid-configuration`;
  expect(found(silent.checks, 'openid_provider')).toContain(document);
});

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
