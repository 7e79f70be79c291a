import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { dataFolder } from './data-folder.js';
import { until } from '../../support/until.js';
import { runCoordinator, startCoordinatorProcess } from './run-coordinator.js';

test('start prints one line when it is ready, and serves the other commands', async () => {
  const folder = await dataFolder();
  const started = await startCoordinatorProcess(['--data', folder.path]);
  expect((await fetch(`${started.address}/readyz`)).status).toBe(200);
  await folder.output('user create --email anna@example.org');
  const key = await folder.output('key create --user anna --name laptop');
  const models = (): Promise<Response> =>
    fetch(`${started.address}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect((await models()).status).toBe(200);
  await folder.output('key disable anna/laptop');
  const refused = await models();
  expect(refused.status).toBe(401);
  expect(await refused.json()).toMatchObject({ error: { code: 'disabled_api_key' } });
  const [ready, setup] = started.stdout().split('\n');
  expect(ready).toBe(`listening on ${started.address}`);
  expect(setup).toContain(`${started.address}/setup#gwf_`);
  expect(started.stderr()).not.toContain(key.slice(12));
});

test('the flags choose format and level of the log', async () => {
  const folder = await dataFolder();
  const flags = ['--log-format', 'pretty', '--log-level', 'debug'];
  const started = await startCoordinatorProcess(['--data', folder.path, ...flags]);
  await fetch(`${started.address}/v1/models`);
  const line = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z request .*status=401/m;
  await until(() => line.test(started.stderr()));
  expect(started.stderr()).not.toContain('"msg"');
});

test('without flags the log is JSON off a terminal, and a wrong flag exits 2', async () => {
  const folder = await dataFolder();
  const started = await startCoordinatorProcess(['--data', folder.path]);
  await fetch(`${started.address}/v1/models`);
  const line = await until(() => /^\{.*"status":401.*\}$/m.exec(started.stderr()));
  expect(JSON.parse(line[0])).toMatchObject({ msg: 'request' });
  const other = await dataFolder();
  const { code, stderr } = await other.alone('start --port 0 --log-format text --log-level loud');
  expect(code).toBe(2);
  expect(stderr).toContain("--log-format is 'text': allowed is json, pretty.");
  expect(stderr).toContain("--log-level is 'loud': allowed is trace,");
});

test('its log goes to a file where it is told to', async () => {
  const folder = await dataFolder();
  const file = join(folder.path, 'coordinator.log');
  const started = await startCoordinatorProcess(['--data', folder.path, '--log-file', file]);
  expect((await fetch(`${started.address}/v1/models`)).status).toBe(401);
  await until(async () => (await readFile(file, 'utf8')).includes('"path":"/v1/models"'));
  expect(started.stderr()).toBe('');
});

test('a second coordinator on the same folder exits 7 and names it', async () => {
  const folder = await dataFolder();
  await startCoordinatorProcess(['--data', folder.path]);
  const { code, stdout, stderr } = await folder.alone('start --port 0');
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
  expect(stderr).toContain(folder.path);
});

test('a coordinator whose socket cannot be made ends, and listens no more', async () => {
  const folder = await dataFolder();
  await mkdir(join(folder.path, 'admin.sock', 'in the way'), { recursive: true, mode: 0o700 });
  const { code, stdout, stderr } = await folder.alone('start --port 0');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('admin.sock');
});

test('SIGTERM drains: it exits 0 and gives the folder free', async () => {
  const folder = await dataFolder();
  const started = await startCoordinatorProcess(['--data', folder.path]);
  await folder.output('user create --email anna@example.org');
  started.process.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
  expect(started.stderr()).toContain('Draining');
  const store = await openStore(folder.path);
  expect(await store.listMembers()).toHaveLength(1);
  await store.close();
});

test('after SIGKILL, the socket that is left behind is in nobody’s way', async () => {
  const folder = await dataFolder();
  const started = await startCoordinatorProcess(['--data', folder.path]);
  await folder.output('user create --email anna@example.org');
  started.process.kill('SIGKILL');
  await started.ended();
  expect(await folder.json('user list')).toMatchObject([{ name: 'anna' }]);
  const again = await startCoordinatorProcess(['--data', folder.path]);
  expect(await folder.json('user list')).toMatchObject([{ name: 'anna' }]);
  expect(again.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('a port that is taken exits 7 and says what to do', async () => {
  const folder = await dataFolder();
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await folder.alone(`start --port ${port}`);
  expect(code).toBe(7);
  expect(stderr).toContain(`cannot listen on 127.0.0.1 port ${port}`);
  expect(stderr).toContain('--port');
});

test('a wrong configuration exits 2 with every problem, before anything is made', async () => {
  const folder = await dataFolder();
  const { code, stdout, stderr } = await folder.alone('start --port x', {
    env: { GATEWAY_PINGS: '3', GATEWAY_SYNC_WAIT_S: '-1' },
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  for (const named of ['--port', 'GATEWAY_PINGS', 'GATEWAY_SYNC_WAIT_S']) {
    expect(stderr).toContain(named);
  }
  expect((await folder.alone('user list')).code).toBe(3);
});

test('a configuration file that is missing exits 3', async () => {
  const folder = await dataFolder();
  const { code, stderr } = await folder.alone('start --config /nowhere/config.json');
  expect(code).toBe(3);
  expect(stderr).toContain('/nowhere/config.json');
});

test('a folder that another process has, without a socket, exits 7', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  onTestFinished(() => store.close());
  const { code, stderr } = await folder.alone('user list');
  expect(code).toBe(7);
  expect(stderr).toContain(`${folder.path} is in use by another process`);
});

test('a coordinator that starts while a command has the folder waits for it', async () => {
  const folder = await dataFolder();
  const store = await openStore(folder.path);
  // The first attempt is made before this returns.
  const starting = startCoordinator(
    loadConfig({ data: folder.path, port: '0', logLevel: 'silent' }),
    { storeInThread: false },
  );
  await store.close();
  const coordinator = await starting;
  onTestFinished(() => coordinator.drain());
  expect((await fetch(`${coordinator.address}/readyz`)).status).toBe(200);
});

test('two commands at the same time wait for each other', async () => {
  const folder = await dataFolder();
  await folder.output('user create --email anna@example.org');
  const names = ['ben', 'cleo', 'dora'];
  const create = (name: string) => folder.alone(`user create --email ${name}@example.org`);
  for (const run of await Promise.all(names.map(create))) expect(run.code, run.stderr).toBe(0);
  expect(await folder.json('user list')).toHaveLength(4);
});

test('version prints what package.json has', async () => {
  const file = new URL('../../../packages/coordinator/package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  expect(await runCoordinator(['version'])).toEqual({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});

test('without a command it shows the commands; help has an example each', async () => {
  const { code, stdout, stderr } = await runCoordinator([]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('start [options]');
  const help = await runCoordinator(['key', 'create', '--help']);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain('Example:\n  gateway-coordinator key create');
  const token = await runCoordinator(['token', 'create', '--help']);
  expect(token.stdout).toContain('(default: 1h)');
});

test('the data folder comes from the environment where no flag names it', async () => {
  const data = join(await temporaryFolder(), 'data');
  const env = { GATEWAY_DATA: data };
  await runCoordinator(['user', 'create', '--email', 'anna@example.org'], { env });
  const { stdout } = await runCoordinator(['user', 'list', '--data', data]);
  expect(stdout).toContain('anna@example.org');
});
