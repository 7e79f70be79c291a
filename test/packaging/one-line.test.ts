/**
 * From `curl … | sh` to the first chat, and through upgrades and back, with packages as they are
 * released: in a new HOME, outside of the repository, with nothing but Node and a shell.
 */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/process-gateway.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { until } from '../support/until.js';
import { newMachine } from './machine.js';
import type { Machine } from './machine.js';
import { HandingCoordinator, brokenRelease, installCoordinator, release } from './release-stage.js';

const OWNER = 'anna@example.org';
const SERVICE = ['--type', 'llm', '--backend', 'openai', '--base-url'];

let folder: string;
let coordinator: HandingCoordinator;
let local: FakeModelServer;
let apiKey: string;
const at = (...names: string[]): string => join(folder, ...names);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const key = at('key.pem');
  await release(at('r1'), { version: '1.0.0', key, parts: 'agent,coordinator' });
  const program = await installCoordinator(
    at('r1', 'gateway-coordinator-1.0.0.tgz'),
    at('coordinator'),
  );
  coordinator = new HandingCoordinator(program, { home: at('server'), port: await freePort() });
  await mkdir(at('server'));
  await coordinator.offer(at('r1'));
  await coordinator.admin('user', 'create', '--email', OWNER, '--name', 'Anna', '--admin');
  apiKey = await coordinator.admin('key', 'create', '--user', OWNER, '--name', 'test');
  local = await startFakeOpenAi();
});

afterAll(async () => {
  for (const home of machines) await home.stop();
  await coordinator.stop();
  await local.close();
  await rm(folder, { recursive: true, force: true });
});

const machines: Machine[] = [];

async function machine(name: string): Promise<Machine> {
  const made = await newMachine(at(name), () => coordinator.url);
  machines.push(made);
  return made;
}

async function entries(home: string): Promise<readonly string[]> {
  return (await readdir(home, { recursive: true })).toSorted();
}

test('one line installs, joins, and is online; upgrades come and go; nothing stays', async () => {
  const pc = await machine('pc');
  await writeFile(join(pc.home, 'notes.txt'), 'mine');
  const before = await entries(pc.home);

  const installing = pc.install('--name', 'den-pc', '--no-start');
  const code = await until(() => /is ([A-Z]{4}-[A-Z]{4})\./.exec(installing.said())?.[1]);
  await coordinator.admin('device', 'approve', code, '--owner', OWNER, '--yes');
  expect(await installing, installing.said()).toMatchObject({ code: 0 });
  expect(installing.said()).toContain(`enrolled as den-pc at ${coordinator.url}`);
  expect((await pc.agent('version')).stdout).toBe('1.0.0\n');
  expect((await pc.agent('version', '--check')).code).toBe(0);

  const added = await pc.agent('services', 'add', ...SERVICE, local.baseUrl);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const service = await pc.agent('service', 'install', '--user');
  expect(service, service.stderr).toMatchObject({ code: 0 });
  const unit = await readFile(service.stdout.trim(), 'utf8');
  expect(unit).toContain(`ExecStart="${pc.root}/bin/gateway-agent" "start"`);
  expect((await pc.agent('wait')).stdout).toContain('online as den-pc');
  await expectChat();

  // A second time, it is an upgrade to the same version.
  const again = await pc.install();
  expect(again, again.stderr).toMatchObject({ code: 0 });
  expect(again.stderr).toContain('1.0.0 is the version of');
  expect((await pc.agent('upgrade', '--check')).code).toBe(0);

  // With --force, what runs changes its identity, too.
  const token = await coordinator.admin('token', 'create', '--owner', OWNER);
  const forced = await pc.shell(
    `curl -fsSL ${coordinator.url}/install.sh | sh -s -- --force --name other-pc`,
    { GATEWAY_AGENT_TOKEN: token },
  );
  expect(forced, forced.stderr).toMatchObject({ code: 0 });
  expect((await pc.agent('wait')).stdout).toContain('online as other-pc');
  await expectChat();

  await release(at('r2'), { version: '1.1.0', key: at('key.pem') });
  await coordinator.offer(at('r2'));
  expect(await pc.agent('upgrade', '--check')).toMatchObject({ code: 9, stdout: '1.1.0\n' });
  const upgraded = await pc.agent('upgrade');
  expect(upgraded, upgraded.stderr).toMatchObject({ code: 0, stdout: '1.1.0\n' });
  expect(await pc.status()).toMatchObject({ agent_version: '1.1.0', connection: 'online' });
  await expectChat();

  await brokenRelease(at('r3'), '1.2.0', at('key.pem'));
  await coordinator.offer(at('r3'));
  await until(async () => (await pc.status()).connection === 'online');
  const failed = await pc.agent('upgrade');
  expect(failed, failed.stderr).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toContain('1.1.0 runs again.');
  expect(await pc.status()).toMatchObject({ agent_version: '1.1.0', connection: 'online' });
  await expectChat();

  const back = await pc.agent('upgrade', '--rollback');
  expect(back.code).toBe(0);

  const gone = await pc.install('--uninstall', '--yes');
  expect(gone, gone.stderr).toMatchObject({ code: 0 });
  expect(await entries(pc.home)).toEqual(before);
}, 240_000);

async function expectChat(): Promise<void> {
  const client = new OpenAI({ baseURL: `${coordinator.url}/v1`, apiKey, maxRetries: 0 });
  const [model] = (await client.models.list()).data;
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const answer = await client.chat.completions.create({ model: model?.id ?? '', messages });
  expect(answer.choices[0]?.message.content).toBeTruthy();
}
