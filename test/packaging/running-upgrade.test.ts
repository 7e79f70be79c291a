/**
 * Upgrades of an agent that runs, with packages as they are released: what goes wrong between the
 * stop of the service and the start of the next version leads back to an agent that serves. A part
 * of `npm run test:packages`, because each upgrade takes seconds of CPU time.
 */
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hangBeforeHeaders } from '../support/fake-behaviours.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { SERVICE_MANAGER, newMachine } from './machine.js';
import type { Machine } from './machine.js';
import { changedRelease, release } from './release-stage.js';

/** Reports a status that version 1.0.0 does not know. */
const NEWS = '1.2.0-news';

let folder: string;
let local: FakeModelServer;
/** By the version that it hands out. The agents join the one of 1.0.0. */
const gateways = new Map<string, TestGateway>();
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    await release(join(folder, version), { version, key: null });
  }
  await changedRelease(join(folder, NEWS), { version: NEWS, key: null }, async (dist) => {
    const file = join(dist, 'terminal.js');
    const text = await readFile(file, 'utf8');
    const news = text.replace('owner_reason:status.ownerReason', 'owner_reason:{kind:"holiday"}');
    expect(news).not.toBe(text);
    await writeFile(file, news);
  });
  for (const version of ['1.0.0', '1.1.0', '1.2.0', NEWS]) {
    gateways.set(version, await openGateway({ downloadsDir: join(folder, version) }));
  }
  local = await startFakeOpenAi();
});

afterAll(async () => {
  await local.close();
  for (const gateway of gateways.values()) await gateway.stop();
  await rm(folder, { recursive: true, force: true });
});

function handing(version: string): TestGateway {
  const gateway = gateways.get(version);
  if (gateway === undefined) throw new Error(`nobody hands out ${version}`);
  return gateway;
}

/** A machine with agent 1.0.0, enrolled, with one model; nothing runs yet. */
async function installed(): Promise<Machine> {
  count += 1;
  const name = `pc-${count}`;
  const gateway = handing('1.0.0');
  const pc = await newMachine(join(folder, name), () => gateway.address);
  const line = `curl -fsSL ${gateway.address}/install.sh | sh -s -- --no-start`;
  const ran = await pc.shell(line, { GATEWAY_AGENT_TOKEN: 'gwa_test' });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const config = join(pc.home, '.config', 'gateway-agent', 'config.json');
  await mkdir(join(config, '..'), { recursive: true, mode: 0o700 });
  const service = { id: 'llm-1', type: 'llm', backend: 'openai', base_url: local.baseUrl };
  await writeFile(config, JSON.stringify({ url: gateway.address, name, services: [service] }));
  const token = await gateway.anna.enroll(name);
  await writeFile(`${config}.token`, token, { mode: 0o600 });
  return pc;
}

function upgrade(pc: Machine, version: string, ...flags: readonly string[]) {
  const line = `exec .local/bin/gateway-agent upgrade --yes ${flags.join(' ')}`;
  return pc.shell(line, { GATEWAY_AGENT_URL: handing(version).address });
}

/** Before `systemctl` does its work, it runs this script; its arguments are in `$*`. */
function beforeSystemctl(pc: Machine, script: string): Promise<void> {
  return pc.setTool('systemctl', `${script}\nexec sh ${SERVICE_MANAGER} "$@"`);
}

async function expectServing(pc: Machine, version: string): Promise<void> {
  expect(await pc.status()).toMatchObject({ agent_version: version, connection: 'online' });
}

describe.runIf(FULL)('an upgrade of a service', () => {
  let pc: Machine;
  let version = '1.0.0';

  // One machine for all of them: each installation costs three seconds of CPU time.
  beforeAll(async () => {
    pc = await installed();
    const service = await pc.agent('service', 'install', '--user');
    expect(service, service.stderr).toMatchObject({ code: 0 });
    expect((await pc.agent('wait')).code).toBe(0);
  });

  afterAll(() => pc.stop());

  test.each([
    ['interrupted', '', 130],
    ['too late', '--drain-timeout 3s', 8],
  ])('that is %s while it drains leaves the agent as it was, and its pause', async (...row) => {
    const [fault, flags, code] = row;
    await using _call = await heldCall();
    expect((await pc.agent('pause', '--for', '1h')).code).toBe(0);
    const paused = await pc.status();
    expect(paused).toMatchObject({ accepts: 'own' });
    const upgrading = upgrade(pc, '1.1.0', flags);
    await until(async () => (await pc.status()).accepts === 'none');
    if (fault === 'interrupted') upgrading.kill('SIGINT');
    const ran = await upgrading;
    expect(ran, ran.stderr).toMatchObject({ code, stderr: expect.stringMatching(/has changed/) });
    const { accepts, paused_until } = paused;
    expect(await pc.status()).toMatchObject({ agent_version: version, accepts, paused_until });
    expect((await pc.agent('resume')).code).toBe(0);
  });

  test('that is too late leaves the drain of the owner', async () => {
    await using _call = await heldCall();
    expect((await pc.agent('drain', '--timeout', '1s')).code).toBe(8);
    expect((await upgrade(pc, '1.1.0', '--drain-timeout', '1s')).code).toBe(8);
    expect(await pc.status()).toMatchObject({ accepts: 'none' });
    expect((await pc.agent('resume')).code).toBe(0);
  });

  test('goes back if the link to the current version cannot be written', async () => {
    await mkdir(join(pc.root, 'current.new'));
    const ran = await upgrade(pc, '1.1.0');
    expect(ran, ran.stderr).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toContain(`${version} runs again.`);
    await expectServing(pc, version);
    await rmdir(join(pc.root, 'current.new'));
  });

  test('ignores signals until a version runs, and only warns of a failed clean-up', async () => {
    await mkdir(join(pc.root, 'previous.new'));
    // The parent of this tool is the command itself.
    const signals = ['INT', 'TERM', 'HUP', 'INT', 'TERM'].map((name) => `kill -${name} $PPID`);
    await beforeSystemctl(
      pc,
      `case "$*" in *stop*) sh ${SERVICE_MANAGER} "$@"; ${signals.join('; ')} ;; esac`,
    );
    const ran = await upgrade(pc, '1.1.0');
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: '1.1.0\n' });
    expect(ran.stderr).toMatch(/warning: .*previous\.new/);
    version = '1.1.0';
    await expectServing(pc, version);
    await rmdir(join(pc.root, 'previous.new'));
  });

  test('goes on after a Ctrl-C that ends a tool, and one that does not answer', async () => {
    const [started, asked] = ['$SERVICE_MANAGER/started', '$SERVICE_MANAGER/asked'];
    await beforeSystemctl(
      pc,
      `case "$*" in
        *start*) [ -e "${started}" ] || { touch "${started}"; kill -INT 0; } ;;
        *show*) [ -e "${started}" ] && [ ! -e "${asked}" ] && { touch "${asked}"; exit 1; } ;;
      esac`,
    );
    const ran = await upgrade(pc, NEWS);
    expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: `${NEWS}\n` });
    const manager = await readdir(join(pc.home, '..', 'manager'));
    expect(manager).toEqual(expect.arrayContaining(['started', 'asked']));
    // Its status is one that the version before does not know.
    expect((await pc.agent('status', '--json')).stderr).toContain('answers as another version');
    expect(await readlink(join(pc.root, 'current'))).toBe(`versions/${NEWS}`);
    expect(await readlink(join(pc.root, 'previous'))).toBe(`versions/${version}`);
  });
});

/** A call that runs on the only machine that is online, until it is disposed of. */
async function heldCall(): Promise<AsyncDisposable> {
  local.once(hangBeforeHeaders());
  const [leave, before] = [new AbortController(), local.requests.length];
  const [model] = (await handing('1.0.0').client.models.list()).data;
  const chat = { model: model?.id ?? '', messages: [{ role: 'user' as const, content: 'Hello' }] };
  const { signal } = leave;
  const call = handing('1.0.0')
    .client.chat.completions.create(chat, { signal })
    .catch(() => null);
  await until(() => local.requests.length > before);
  return {
    async [Symbol.asyncDispose]() {
      leave.abort();
      await call;
    },
  };
}

test.runIf(FULL)(
  'two upgrades keep the version that an agent in a terminal still runs',
  async () => {
    const pc = await installed();
    const agent = pc.shell('exec .local/bin/gateway-agent start');
    onTestFinished(async () => {
      agent.kill('SIGTERM');
      await agent;
    });
    expect((await pc.agent('wait')).code).toBe(0);
    for (const version of ['1.1.0', '1.2.0']) {
      const ran = await upgrade(pc, version);
      expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: `${version}\n` });
      expect(ran.stderr).toContain('The agent that runs is still 1.0.0: restart it');
    }
    const kept = await readdir(join(pc.root, 'versions'));
    expect(kept.toSorted()).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    await expectServing(pc, '1.0.0');
  },
);
