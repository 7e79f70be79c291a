/** What goes wrong with an installation or an upgrade: a clear line, and nothing half installed. */
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  utimes,
} from 'node:fs/promises';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { FULL } from '../support/process-stage.js';
import { startProgram } from '../support/program.js';
import { until } from '../support/until.js';
import { newMachine } from './machine.js';
import type { Machine, Ran } from './machine.js';
import { release } from './release-stage.js';

/** Releases, by what they are called here. */
const RELEASES = {
  plain: { version: '1.0.0', key: null },
  newer: { version: '2.0.0', key: null },
  signed: { version: '1.0.0', key: 'key.pem' },
  'signed newer': { version: '2.0.0', key: 'key.pem' },
  'signed by another': { version: '2.0.0', key: 'other.pem' },
} as const;

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  for (const [name, { version, key }] of Object.entries(RELEASES)) {
    await release(join(folder, name), { version, key: key === null ? null : join(folder, key) });
  }
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A machine, and a coordinator that hands out a copy of this release. */
async function stage(name: keyof typeof RELEASES) {
  count += 1;
  const offered = join(folder, `offered-${count}`);
  await cp(join(folder, name), offered, { recursive: true });
  const dataDir = join(folder, `data-${count}`);
  await mkdir(dataDir, { mode: 0o700 });
  const gateway = await startGateway({ downloadsDir: offered, dataDir });
  const pc = await newMachine(join(folder, `pc-${count}`), () => gateway.address);
  return { gateway, offered, pc, file: join(offered, `gateway-agent-${versionOf(name)}.tgz`) };
}

/** One bit; size and time stay, so that the coordinator takes it for the file that it has read. */
async function damage(file: string): Promise<void> {
  const { atime, mtime } = await stat(file);
  const bytes = await readFile(file);
  bytes[1000] = (bytes[1000] ?? 0) ^ 1;
  await writeFile(file, bytes);
  await utimes(file, atime, mtime);
}

/** The same coordinator, which now hands out another release. */
async function offer(gateway: TestGateway, name: keyof typeof RELEASES): Promise<TestGateway> {
  await gateway.stop();
  const { dataDir, address } = gateway;
  const port = Number(new URL(address).port);
  return startGateway({ downloadsDir: join(folder, name), dataDir, port });
}

function versionOf(name: keyof typeof RELEASES): string {
  return RELEASES[name].version;
}

/** Installs without joining: the agent's own token is in the environment, and is never stored. */
const OWN_TOKEN = { GATEWAY_AGENT_TOKEN: 'gwa_test' };

function installed(pc: Machine, url: string): Promise<Ran> {
  return pc.shell(`curl -fsSL ${url}/install.sh | sh -s -- --no-start`, OWN_TOKEN);
}

/** Installs and joins with a join token, which by default is a good one. */
async function joined(pc: Machine, gateway: TestGateway, ...flags: string[]): Promise<Ran> {
  const asked = { owner: gateway.anna.email, name: null, expires_in_s: 600, replace: null };
  const { token } = await gateway.admin('token.create', asked);
  return joinedWith(pc, gateway, { token, flags });
}

function joinedWith(
  pc: Machine,
  { address }: TestGateway,
  { token, flags = [] }: { token: string; flags?: readonly string[] },
): Promise<Ran> {
  const line = `curl -fsSL ${address}/install.sh | sh -s -- --no-start ${flags.join(' ')}`;
  return pc.shell(line, { GATEWAY_AGENT_TOKEN: token });
}

/** Upgrades to what this release's coordinator hands out. */
async function upgrade(pc: Machine, name: keyof typeof RELEASES, ...flags: string[]) {
  const { gateway, file } = await stage(name);
  const line = `exec .local/bin/gateway-agent upgrade ${flags.join(' ')}`;
  const env = { ...OWN_TOKEN, GATEWAY_AGENT_URL: gateway.address };
  return { ran: () => pc.shell(line, env), file };
}

async function versionIn(pc: Machine): Promise<string> {
  return (await pc.agent('version')).stdout.trim();
}

describe('an installation ends with a clear line and leaves no agent', () => {
  test.each([
    ['on a processor without an executable', 1, 'has no executable for linux-riscv64'],
    ['with a Node that is too old', 1, 'Node v18.20.0 is too old'],
    ['without room on the disk', 1, 'MiB are needed: make room'],
    ['with neither curl nor wget for the file', 1, 'neither curl nor wget'],
  ])('%s', async (fault, code, said) => {
    const { pc, gateway } = await stage('plain');
    const old = 'case "$1" in --version) echo v18.20.0 ;; *) exit 1 ;; esac';
    if (fault.includes('processor')) {
      await pc.setTool('node', null);
      await pc.setTool('uname', 'case "$1" in -m) echo riscv64 ;; *) echo Linux ;; esac');
    }
    if (fault.includes('too old')) await pc.setTool('node', old);
    if (fault.includes('room')) await pc.setTool('df', 'echo x; echo "/dev/x 9 9 100 9% /"');
    const script = await (await fetch(`${gateway.address}/install.sh`)).text();
    await writeFile(join(pc.home, 'install.sh'), script);
    if (fault.includes('neither')) await pc.setTool('curl', null);
    const ran = await pc.shell('sh install.sh --no-start', OWN_TOKEN);
    expect(ran, ran.stderr).toMatchObject({ code, stderr: expect.stringContaining(said) });
    await expectNoAgent(pc);
  });

  test('if the file was changed on its way', async () => {
    const { pc, file, gateway } = await stage('plain');
    await damage(file);
    const ran = await installed(pc, gateway.address);
    expect(ran).toMatchObject({ code: 9, stderr: expect.stringContaining('is expected') });
    await expectNoAgent(pc);
  });

  test('if the download breaks off, and the next try succeeds', async () => {
    const { pc, gateway } = await stage('plain');
    // As curl ends where a connection breaks.
    await pc.setTool('curl', '/usr/bin/curl "$@"; case "$*" in *.tgz*) exit 18 ;; esac');
    const ran = await installed(pc, gateway.address);
    expect(ran).toMatchObject({ code: 5, stderr: expect.stringContaining('Nothing is installed') });
    await expectNoAgent(pc);
    await pc.setTool('curl', 'exec /usr/bin/curl "$@"');
    expect(await installed(pc, gateway.address)).toMatchObject({ code: 0 });
    expect(await versionIn(pc)).toBe('1.0.0');
  });

  test('while another one is under way; the lock of a dead one does not count', async () => {
    const { pc, gateway } = await stage('plain');
    await mkdir(pc.root, { recursive: true });
    await writeFile(join(pc.root, 'lock'), `${process.pid}\n`);
    const ran = await installed(pc, gateway.address);
    expect(ran).toMatchObject({ code: 7, stderr: expect.stringContaining('under way') });
    await writeFile(join(pc.root, 'lock'), '4194304\n');
    expect(await installed(pc, gateway.address)).toMatchObject({ code: 0 });
    expect(await readdir(pc.root)).not.toContain('lock');
  });

  test.each([0.1, 0.4, 0.7, 0.95, 0.999])(
    'if %f of the script arrives, it does nothing',
    async (part) => {
      const { pc, gateway } = await stage('plain');
      const script = await (await fetch(`${gateway.address}/install.sh`)).text();
      const cut = script.slice(0, Math.floor(script.length * part));
      await writeFile(join(pc.home, 'cut.sh'), cut);
      const { stderr } = await pc.shell('sh < cut.sh', OWN_TOKEN);
      expect(stderr).not.toContain('Downloading');
      expect(await readdir(pc.home)).toEqual(['cut.sh']);
    },
  );

  test('if the coordinator hands out nothing, or is not reached over https', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    onTestFinished(() => rm(empty, { recursive: true }));
    const none = await startGateway({ downloadsDir: empty });
    const answer = await fetch(`${none.address}/install.sh`);
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('DOWNLOADS_DIR'),
    ]);
    const plain = await startGateway({ publicUrl: 'http://gateway.example.org' });
    const refused = await fetch(`${plain.address}/install.sh`);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('https')]);
  });

  test('with an option that does not exist, or one without its value', async () => {
    const { pc } = await stage('plain');
    for (const options of ['--what', '--name']) {
      const ran = await pc.install(options);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
    }
    expect((await pc.install('--help')).stdout).toContain('--uninstall');
    expect(await pc.install('--uninstall', '--yes')).toMatchObject({ code: 3 });
    await expectNoAgent(pc);
  });
});

async function expectNoAgent(pc: Machine): Promise<void> {
  const left = await readdir(pc.root).catch(() => []);
  expect(left.filter((name) => !['bin', 'versions', 'made-folders'].includes(name))).toEqual([]);
  expect(await readdir(join(pc.root, 'versions')).catch(() => [])).toEqual([]);
  expect(await readdir(join(pc.home, '.local', 'bin')).catch(() => [])).toEqual([]);
}

// Each installs twice, which takes seconds of CPU time: `npm run test:packages`.
describe.runIf(FULL)('the one line, run again', () => {
  test('after a join that failed, joins without another download', async () => {
    const { pc, gateway } = await stage('plain');
    const refused = { token: 'gwj_wrong' };
    expect(await joinedWith(pc, gateway, refused)).toMatchObject({ code: 4 });
    const forced = await joinedWith(pc, gateway, { ...refused, flags: ['--force'] });
    expect(forced).toMatchObject({ code: 4, stderr: expect.stringContaining('join token') });
    const ran = await joined(pc, gateway);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stderr).not.toContain('Downloading');
    expect(await pc.status()).toMatchObject({ url: gateway.address });
  });

  test('after a join that failed, takes the version that is handed out by then', async () => {
    const { pc, gateway } = await stage('signed');
    expect(await joinedWith(pc, gateway, { token: 'gwj_wrong' })).toMatchObject({ code: 4 });
    const ran = await joined(pc, await offer(gateway, 'signed by another'));
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(await versionIn(pc)).toBe('2.0.0');
  });

  test.each([
    ['is older', 'signed newer', 'signed', '--allow-downgrade'],
    ['has another key', 'signed', 'signed by another', 'is refused'],
  ] as const)('where the release %s, keeps the agent and goes on', async (...row) => {
    const [, before, after, said] = row;
    const { pc, gateway } = await stage(before);
    expect(await joined(pc, gateway)).toMatchObject({ code: 0 });
    const ran = await joined(pc, await offer(gateway, after));
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: expect.stringContaining(said) });
    expect(ran.stderr).toContain('Joined');
    expect(ran.stderr).not.toContain('nothing has changed');
    expect(await versionIn(pc)).toBe(versionOf(before));
  });

  test('upgrades an agent with a token of its own, of which no file holds the URL', async () => {
    const { pc, gateway } = await stage('plain');
    for (const name of ['plain', 'newer'] as const) {
      const { address } = name === 'plain' ? gateway : await offer(gateway, name);
      const ran = await installed(pc, address);
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      expect(await versionIn(pc)).toBe(versionOf(name));
    }
  });

  test('from another coordinator, changes nothing; with --force, takes its release', async () => {
    const { pc, gateway } = await stage('signed');
    expect(await joined(pc, gateway)).toMatchObject({ code: 0 });
    await gateway.stop();
    const other = (await stage('signed by another')).gateway;
    const refused = await joined(pc, other);
    expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining('with --force') });
    expect(await versionIn(pc)).toBe('1.0.0');
    const moved = await joined(pc, other, '--force');
    expect(moved, moved.stderr).toMatchObject({ code: 0 });
    expect(await versionIn(pc)).toBe('2.0.0');
    expect(await pc.status()).toMatchObject({ url: other.address });
  });
});

/** An agent that runs as a service. */
async function runningService(): Promise<Machine> {
  const { pc, gateway } = await stage('plain');
  onTestFinished(() => pc.stop());
  expect(await joined(pc, gateway)).toMatchObject({ code: 0 });
  const service = '--type llm --backend openai --base-url http://127.0.0.1:9';
  for (const line of [`services add ${service}`, 'service install --user']) {
    const ran = await pc.agent(line);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
  }
  await until(async () => (await pc.agent('status')).code === 0);
  return pc;
}

describe('an uninstallation', () => {
  test('removes all of an agent whose Node is gone, and stops its service', async () => {
    const pc = await runningService();
    const { pid } = await pc.status();
    await pc.setTool('node', null);
    const runner = join(pc.root, 'current', 'run');
    await writeFile(runner, (await readFile(runner, 'utf8')).replace(/^node=.*$/m, 'node=/gone'));
    const ran = await pc.install('--uninstall', '--yes');
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(await readdir(pc.home)).toEqual([]);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  test('whose service cannot be removed removes nothing', async () => {
    const pc = await runningService();
    await pc.setTool('systemctl', 'echo "no bus" >&2; exit 1');
    const ran = await pc.install('--uninstall', '--yes');
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('no bus') });
    expect(await pc.status()).toMatchObject({ running: true });
    await pc.setTool('node', null);
    const runner = join(pc.root, 'current', 'run');
    await writeFile(runner, 'exit 1\n');
    const broken = await pc.install('--uninstall', '--yes');
    const unit = join(pc.home, '.config', 'systemd', 'user', 'gateway-agent.service');
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining(unit) });
    const kept = await readdir(join(pc.home, '.config', 'gateway-agent'));
    expect(kept).toEqual(expect.arrayContaining(['config.json', 'config.json.token']));
  });
});

describe('an upgrade', () => {
  test('of a release without a signature needs a yes, and is told what it is', async () => {
    const { pc, gateway } = await stage('plain');
    expect(await installed(pc, gateway.address)).toMatchObject({ code: 0 });
    const unasked = await (await upgrade(pc, 'newer')).ran();
    expect(unasked).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/SHA-256 [0-9a-f]{64}/),
    });
    expect(await versionIn(pc)).toBe('1.0.0');
    const wanted = await (await upgrade(pc, 'newer', '--yes')).ran();
    expect(wanted, wanted.stderr).toMatchObject({ code: 0, stdout: '2.0.0\n' });
    expect(await versionIn(pc)).toBe('2.0.0');
    const older = await (await upgrade(pc, 'plain', '--yes')).ran();
    expect(older).toMatchObject({ code: 7, stderr: expect.stringContaining('--allow-downgrade') });
    const allowed = await (await upgrade(pc, 'plain', '--yes', '--allow-downgrade')).ran();
    expect(allowed, allowed.stderr).toMatchObject({ code: 0, stdout: '1.0.0\n' });
    // The last can come back.
    expect((await readdir(join(pc.root, 'versions'))).toSorted()).toEqual(['1.0.0', '2.0.0']);
    const back = await (await upgrade(pc, 'plain', '--rollback')).ran();
    expect(back, back.stderr).toMatchObject({ code: 0, stdout: '2.0.0\n' });
    expect(await versionIn(pc)).toBe('2.0.0');
  });

  test('of an agent of a signed release takes releases of that key alone', async () => {
    const { pc, gateway } = await stage('signed');
    expect(await installed(pc, gateway.address)).toMatchObject({ code: 0 });
    for (const name of ['newer', 'signed by another'] as const) {
      const refused = await (await upgrade(pc, name, '--yes')).ran();
      expect(refused, name).toMatchObject({
        code: 4,
        stderr: expect.stringContaining('is refused'),
      });
    }
    expect(await versionIn(pc)).toBe('1.0.0');
    const taken = await (await upgrade(pc, 'signed newer')).ran();
    expect(taken, taken.stderr).toMatchObject({ code: 0, stdout: '2.0.0\n' });
  });

  test('that arrives damaged, or while another is under way, changes nothing', async () => {
    const { pc, gateway } = await stage('plain');
    expect(await installed(pc, gateway.address)).toMatchObject({ code: 0 });
    const { ran, file } = await upgrade(pc, 'newer', '--yes');
    await damage(file);
    expect(await ran()).toMatchObject({ code: 9, stderr: expect.stringContaining('SHA-256') });
    await writeFile(join(pc.root, 'lock'), `${process.pid}\n`);
    expect(await ran()).toMatchObject({ code: 7 });
    await rm(join(pc.root, 'lock'));
    await appendFile(file, 'more');
    expect((await ran()).code).not.toBe(0);
    expect(await versionIn(pc)).toBe('1.0.0');
    expect(await readdir(join(pc.root, 'versions'))).toEqual(['1.0.0']);
  });

  test('of a program that the one line has not installed says what does it', async () => {
    const { gateway } = await stage('newer');
    const home = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const env = { ...OWN_TOKEN, GATEWAY_AGENT_URL: gateway.address, HOME: home };
    const ran = await startProgram('gateway-agent', ['upgrade', '--yes'], { env }).finished;
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('git pull') });
    const nobody = { ...OWN_TOKEN, GATEWAY_AGENT_URL: 'http://127.0.0.1:9', HOME: home };
    const unreachable = await startProgram('gateway-agent', ['upgrade', '--check'], { env: nobody })
      .finished;
    expect(unreachable).toMatchObject({ code: 5, stdout: '' });
  });
});
