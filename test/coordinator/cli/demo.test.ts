import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { programFile } from '../../support/bundled-programs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { dataFolder } from './data-folder.js';
import { runAlone, startCoordinatorProcess } from './run-coordinator.js';
import type { StartedCoordinator } from './run-coordinator.js';

/** The commands that the demo prints on stderr for users to paste. */
interface Told {
  readonly agent: string;
  readonly curl: string;
  readonly keyFile: string;
}

async function told(started: StartedCoordinator): Promise<Told> {
  const line = (start: string): string | undefined =>
    started
      .stderr()
      .split('\n')
      .find((one) => one.startsWith(`  ${start}`));
  const curl = await until(() => line('curl'), { what: 'the command with curl' });
  const agent = line('gateway-agent') ?? '';
  return { agent, curl, keyFile: /\$\(cat (\S+)\)/.exec(curl)?.[1] ?? '' };
}

/** Logs in with the printed address and password; returns the session's member. */
async function whoLogsIn({ address, stderr }: StartedCoordinator): Promise<unknown> {
  const said = (name: string): string | undefined =>
    new RegExp(`^  ${name} +(\\S+)$`, 'm').exec(stderr())?.[1];
  expect(said('dashboard')).toBe(`${address}/login`);
  const session = `${address}/api/console/v1/session`;
  const body = JSON.stringify({ email: said('e-mail'), password: said('password') });
  const headers = { origin: address, 'content-type': 'application/json' };
  const entered = await fetch(session, { method: 'POST', headers, body });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  return (await fetch(session, { headers: { cookie } })).json();
}

/** A folder with the agent's program, for a shell's PATH. */
async function programFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), 'bin');
  await mkdir(folder);
  const program = programFile('gateway-agent');
  const script = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  await writeFile(join(folder, 'gateway-agent'), script, { mode: 0o755 });
  return folder;
}

/** Pastes a command into a shell; its processes end with the test. */
function paste(command: string, path: string): { readonly output: () => string } {
  const env = { PATH: `${path}:${process.env['PATH'] ?? ''}` };
  const shell = spawn('sh', ['-c', command], { env, detached: true });
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  onTestFinished(() => {
    if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGKILL');
  });
  return { output: () => output };
}

test('what a demo prints works, and without --data its folder goes with it', async () => {
  const started = await startCoordinatorProcess(['--demo'], { TMPDIR: await temporaryFolder() });
  const { agent, curl, keyFile } = await told(started);
  expect(await whoLogsIn(started)).toMatchObject({ member: { name: 'Anna', role: 'admin' } });
  const path = await programFolder();
  const serving = paste(agent, path);
  await until(() => serving.output().includes('online as demo'), { timeoutMs: 30_000 });
  const asked = paste(curl, path);
  await until(() => asked.output().includes('"finish_reason"'));
  expect(asked.output()).toContain('"chat.completion"');
  expect(started.stdout()).toBe(`listening on ${started.address}\n`);
  expect(existsSync(keyFile)).toBe(true);
  started.process.kill('SIGTERM');
  expect(await started.ended()).toBe(0);
  expect(existsSync(dirname(keyFile))).toBe(false);
}, 60_000);

test('a demo that cannot start leaves no folder', async () => {
  const folder = await temporaryFolder();
  const failed = await runAlone(['start', '--demo', '--host', '192.0.2.1'], {
    env: { TMPDIR: folder },
  });
  expect(failed.code).toBe(7);
  expect(await readdir(folder)).toEqual([]);
});

test('with --data it stays, goes on without --demo, and is no second demo', async () => {
  const path = join(await temporaryFolder(), "anna's data");
  const started = await startCoordinatorProcess(['--demo', '--data', path]);
  await expectSecretsInFiles(path, started);
  started.process.kill('SIGTERM');
  await started.ended();
  const again = await runAlone(['start', '--demo', '--port', '0', '--data', path]);
  expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 7, stdout: '' });
  expect(again.stderr).toContain(`${path} has members already`);
  expect(again.stderr).toContain('Leave --demo out');
  const { address } = await startCoordinatorProcess(['--data', path]);
  const key = (await readFile(join(path, 'demo.key'), 'utf8')).trim();
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`${address}/v1/models`, { headers })).status).toBe(200);
});

/** Nobody else reads the files, and the secrets are said nowhere. */
async function expectSecretsInFiles(path: string, started: StartedCoordinator): Promise<void> {
  const { agent } = await told(started);
  const [keyFile, tokenFile] = [join(path, 'demo.key'), join(path, 'demo.token')];
  const quoted = tokenFile.replace("'", String.raw`'\''`);
  expect(agent).toContain(`--token-file '${quoted}' `);
  for (const [file, prefix] of [
    [keyFile, 'gwk_'],
    [tokenFile, 'gwj_'],
  ] as const) {
    const secret = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(secret).toMatch(new RegExp(`^${prefix}\\w{49}$`));
    expect(started.stderr()).not.toContain(secret);
  }
}

test('a folder that a coordinator runs on exits 7, and gets no member', async () => {
  const folder = await dataFolder();
  await startCoordinatorProcess(['--data', folder.path]);
  const { code, stderr } = await folder.alone('start --demo --port 0');
  expect(code).toBe(7);
  expect(stderr).toContain('in use');
  expect(await folder.json('user list')).toEqual([]);
});

test('a wrong configuration exits 2 before anything is made', async () => {
  const folder = await temporaryFolder();
  const { code } = await runAlone(['start', '--demo', '--port', 'x'], {
    env: { TMPDIR: folder },
  });
  expect(code).toBe(2);
  expect(await readdir(folder)).toEqual([]);
});
