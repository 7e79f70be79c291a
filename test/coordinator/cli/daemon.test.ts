/**
 * `gateway-coordinator service …` and `logs`, with stand-ins for the tools of systemd, which no
 * test may ask to change the machine. `test/faults/systemd-restart.test.ts` runs the units.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { programFile } from '../../support/bundled-programs.js';
import { fakeTools } from '../../support/fake-tools.js';
import type { Finished } from '../../support/program.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { runAlone, runCoordinator, startCoordinatorProcess } from './run-coordinator.js';

const RUNNING = 'case "$*" in *show*) printf "ActiveState=active\\nSubState=running\\n";; esac';
const STOPPED = 'case "$*" in *show*) printf "ActiveState=inactive\\nSubState=dead\\n";; esac';
const UNIT = /\/systemd\/user\/gateway-coordinator-[0-9a-f]{8}\.service\n$/;

/** A folder with `data` in it, which does not exist yet, and the folder of a user's units. */
async function stage(systemctl = RUNNING) {
  const folder = await temporaryFolder();
  const tools = await fakeTools({ systemctl, loginctl: 'exit 0', journalctl: 'echo a line' });
  const env = { PATH: tools.path, XDG_CONFIG_HOME: folder };
  const data = join(folder, 'data');
  const run = (line: string, more: Record<string, string> = {}): Promise<Finished> =>
    runCoordinator([...line.split(' '), '--data', data], { env: { ...env, ...more } });
  return { folder, data, tools, env, run, units: join(folder, 'systemd', 'user') };
}

async function unitOf({ code, stdout, stderr }: Finished): Promise<string> {
  expect({ code }, stderr).toEqual({ code: 0 });
  expect(stdout).toMatch(UNIT);
  return readFile(stdout.trim(), 'utf8');
}

describe.runIf(process.platform === 'linux')('on Linux, of a user', () => {
  test('install writes a unit, enables it and starts it anew', async () => {
    const { data, tools, run } = await stage();
    const installed = await run('service install --user');
    expect(await unitOf(installed)).toContain(`"start" "--data" "${data}"\n`);
    const name = installed.stdout.trim().split('/').at(-1);
    expect(await tools.calls()).toEqual([
      'systemctl --user daemon-reload',
      `systemctl --user enable ${name}`,
      `systemctl --user restart ${name}`,
      'loginctl enable-linger',
    ]);
    expect(installed.stderr).toContain(`${data}/setup-link becomes the admin`);
  });

  test('settings of flags and of the environment are passed on, paths absolute', async () => {
    const { folder, run } = await stage();
    const [file, url] = [join(folder, 'gateway.json'), join(folder, 'database-url')];
    await writeFile(file, '{"drain_s": 90, "log_level": "warn"}');
    const flags = `--port 7171 --public-url https://g.example.org --config ${file}`;
    const variables = {
      GATEWAY_TRUST_PROXY: '1',
      GATEWAY_PORT: '9',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
      GATEWAY_DATABASE_URL_FILE: relative(process.cwd(), url),
    };
    await writeFile(url, 'postgres://gateway:secret@db.example.org/gateway');
    const unit = await unitOf(await run(`service install --user ${flags}`, variables));
    expect(unit).not.toContain('secret');
    const words = ['--config', file, '--port', '7171', '--public-url', 'https://g.example.org'];
    expect(unit).toContain(`${words.map((word) => `"${word}"`).join(' ')}\n`);
    const set = unit.split('\n').filter((line) => line.startsWith('Environment='));
    // The port is given by the flag.
    expect(set.toSorted()).toEqual([
      `Environment="GATEWAY_DATABASE_URL_FILE=${url}"`,
      'Environment="GATEWAY_TRUST_PROXY=1"',
      'Environment="NODE_EXTRA_CA_CERTS=/ca.pem"',
    ]);
    expect(unit).toContain('TimeoutStopSec=105\n');
    expect(unit).toContain('RestartPreventExitStatus=2 3 4 7 10\n');
    expect(unit).toContain('LimitNOFILE=65536\n');
  });

  test('a secret of the environment gets into no unit: it belongs into the file', async () => {
    const { folder, units, run } = await stage();
    const secret = { GATEWAY_METRICS_TOKEN: 'a-secret-of-some-length' };
    const refused = await run('service install --user', secret);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('write it as "metrics_token" into a configuration file');
    expect(existsSync(units)).toBe(false);
    const file = join(folder, 'gateway.json');
    await writeFile(file, JSON.stringify({ metrics_token: secret.GATEWAY_METRICS_TOKEN }));
    const unit = await unitOf(await run(`service install --user --config ${file}`, secret));
    expect(unit).not.toContain('a-secret');
  });

  test('what could not start is not installed: wrong settings 2, a missing file 3', async () => {
    const { tools, run } = await stage();
    expect(await run('service install --user --port 99999')).toMatchObject({ code: 2, stdout: '' });
    const missing = await run('service install --user --config /nowhere.json');
    expect(missing).toMatchObject({ code: 3, stdout: '' });
    const misspelt = await run('service install --user', { GATEWAY_PROT: '1' });
    expect(misspelt).toMatchObject({ code: 2, stderr: expect.stringContaining('GATEWAY_PORT') });
    expect(await tools.calls()).toEqual([]);
  });

  test('a coordinator that runs already is in the way, unless it is the service: 7', async () => {
    const { data, run } = await stage();
    const running = await startCoordinatorProcess(['--data', data]);
    const refused = await run('service install --user');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    running.process.kill('SIGTERM');
    await running.ended();
    await unitOf(await run('service install --user'));
    // The stand-in says that the service runs.
    await startCoordinatorProcess(['--data', data]);
    await unitOf(await run('service install --user'));
  });

  test('a unit that somebody wrote by hand is not replaced: 7', async () => {
    const { run } = await stage();
    const file = (await run('service install --user')).stdout.trim();
    await writeFile(file, '[Service]\nEnvironment=GATEWAY_PUBLIC_URL=https://g.example.org\n');
    const refused = await run('service install --user');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain(`mv ${file} ${file}.before`);
    expect(await readFile(file, 'utf8')).toContain('GATEWAY_PUBLIC_URL');
  });

  test('status, start, stop, logs and uninstall ask systemd; the data stays', async () => {
    const { data, tools, run, env } = await stage();
    await mkdir(data, { mode: 0o700 });
    const file = (await run('service install --user')).stdout.trim();
    const status = await run('service status --json');
    expect(JSON.parse(status.stdout)).toEqual({
      file,
      running: true,
      detail: 'active (running)',
      backup_timer: null,
      backup_detail: null,
    });
    const before = (await tools.calls()).length;
    expect((await run('service start')).code).toBe(0);
    expect((await run('service stop')).code).toBe(0);
    // journalctl writes to the stdout of the process itself.
    const logs = await runAlone(['logs', '-n', '5', '--data', data], { env });
    expect(logs).toMatchObject({ code: 0, stdout: 'a line\n' });
    expect((await run('service uninstall')).code).toBe(0);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    expect(existsSync(data)).toBe(true);
    const unit = file.split('/').at(-1);
    expect((await tools.calls()).slice(before)).toEqual([
      `systemctl --user start ${unit}`,
      `systemctl --user stop ${unit}`,
      `journalctl --user --unit ${unit} --lines 5 --no-pager --output cat`,
      `systemctl --user disable --now ${unit}`,
      'systemctl --user daemon-reload',
    ]);
  });

  test('one that does not run exits 9, and where none is installed, all exit 3', async () => {
    const { run } = await stage(STOPPED);
    for (const line of ['uninstall', 'start', 'stop', 'status'].map((verb) => `service ${verb}`)) {
      expect(await run(line), line).toMatchObject({ code: 3, stdout: '' });
    }
    expect(await run('logs')).toMatchObject({ code: 3, stdout: '' });
    await run('service install --user');
    const status = await run('service status');
    expect(status).toMatchObject({ code: 9, stdout: expect.stringContaining('inactive (dead)') });
  });

  test('what systemd says against it is told, and exits 1', async () => {
    const { run } = await stage('echo "Failed to connect to bus" >&2; exit 1');
    const { code, stderr } = await run('service install --user');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: "systemctl --user daemon-reload" failed: Failed to connect to bus\n',
    });
  });

  test('backups get a timer, which status names and uninstall removes', async () => {
    const { folder, data, tools, run, units } = await stage();
    const copies = join(folder, 'copies');
    const backup = `--backup-folder ${copies} --backup-at 04:15 --backup-keep 3`;
    const installed = await run(`service install --user ${backup}`);
    await unitOf(installed);
    expect(installed.stderr).toContain(`Backups go to ${copies}, every day at 04:15.`);
    const name = /gateway-coordinator-[0-9a-f]{8}/.exec(installed.stdout)?.[0] ?? '';
    const names = [`${name}-backup.service`, `${name}-backup.timer`, `${name}.service`];
    expect((await readdir(units)).toSorted()).toEqual(names);
    const timer = join(units, `${name}-backup.timer`);
    expect(await readFile(timer, 'utf8')).toContain('OnCalendar=*-*-* 04:15:00\n');
    const unit = await readFile(join(units, `${name}-backup.service`), 'utf8');
    const words = ['backup', '--folder', copies, '--keep', '3', '--data', data];
    expect(unit).toContain(`${words.map((word) => `"${word}"`).join(' ')}\n`);
    expect((await stat(copies)).mode & 0o777).toBe(0o700);
    expect((await tools.calls()).slice(-3, -1)).toEqual([
      `systemctl --user enable ${name}-backup.timer`,
      `systemctl --user restart ${name}-backup.timer`,
    ]);
    const status = JSON.parse((await run('service status --json')).stdout) as object;
    expect(status).toMatchObject({ backup_timer: timer, backup_detail: 'active (running)' });

    const again = await run('service install --user');
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--backup-folder') });
    expect((await run('service uninstall')).code).toBe(0);
    expect(await readdir(units)).toEqual([]);
    expect(await tools.calls()).toContain(`systemctl --user disable --now ${name}-backup.timer`);
  });

  test.each([
    ['--backup-at 04:15', '--backup-folder'],
    ['--backup-keep 3', '--backup-folder'],
    ['--backup-folder /copies --backup-at 25:00', 'Write a time of day'],
    ['--backup-folder /copies --backup-keep 0', 'Write a whole number'],
    ['--run-as anna', '--run-as is for a service of the machine'],
    ['--system', '--user'],
  ])('install --user %s exits 2', async (flags, says) => {
    const { run, tools } = await stage();
    const { code, stderr } = await run(`service install --user ${flags}`);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(says) });
    expect(await tools.calls()).toEqual([]);
  });
});

const PROGRAM = programFile('gateway-coordinator');
const UNITS = '/etc/systemd/system';

/** With units and users of its own, which nobody else sees. */
const MACHINE = `
  set -e
  mkdir -p ${UNITS}
  mount -t tmpfs tmpfs ${UNITS}
  mount --bind "$FILES/passwd" /etc/passwd
  mount --bind "$FILES/group" /etc/group
  eval "$STEPS"
`;

const SERVICE_UID = 64_321;

async function machine() {
  const top = await temporaryFolder();
  await chmod(top, 0o755);
  const tools = await fakeTools({ systemctl: RUNNING });
  for (const [name, row] of [
    ['passwd', `gateway:x:${SERVICE_UID}:${SERVICE_UID}::/:/usr/sbin/nologin`],
    ['group', `gateway:x:${SERVICE_UID}:`],
  ] as const) {
    await writeFile(join(top, name), `${await readFile(`/etc/${name}`, 'utf8')}${row}\n`);
  }
  const data = join(top, 'gateway');
  const install = `"$NODE" "$PROGRAM" service install --data "$DATA"`;
  const run = (flags: string, steps = ''): Promise<Finished> => {
    const words = { STEPS: `${steps}\n${install} ${flags}; cat ${UNITS}/*.*`, DATA: data };
    const env = { PATH: tools.path, NODE: process.execPath, PROGRAM, FILES: top, ...words };
    return new Promise((done) => {
      execFile('unshare', ['--mount', 'bash', '-c', MACHINE], { env }, (error, stdout, stderr) =>
        done({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  };
  return { top, data, tools, run };
}

describe.runIf(canUnshare())('on Linux, of the machine', () => {
  test('a new folder is made for the user, who runs the service', async () => {
    const { data, tools, run } = await machine();
    const { code, stdout, stderr } = await run('--run-as gateway');
    expect(code, stderr).toBe(0);
    const name = /gateway-coordinator-[0-9a-f]{8}\.service/.exec(stdout)?.[0];
    expect(stdout).toContain(`${UNITS}/${name}\n`);
    expect(stdout).toContain('\nUser=gateway\n');
    expect(stdout).toContain(`\nReadWritePaths="${data}"\n`);
    expect(stdout).toContain('\nPrivateDevices=true\n');
    expect(stdout).not.toMatch(/^MemoryDenyWriteExecute/m);
    const { uid, gid, mode } = await stat(data);
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({
      uid: SERVICE_UID,
      gid: SERVICE_UID,
      mode: 0o700,
    });
    expect((await tools.calls()).slice(1)).toEqual([
      `systemctl enable ${name}`,
      `systemctl restart ${name}`,
    ]);
  });

  test('the owner of the usual folder runs it, under the plain name', async () => {
    const { run } = await machine();
    const usual = '/var/lib/gateway';
    const made = `mkdir ${usual}; chown gateway: ${usual}; DATA=${usual}`;
    const steps = `mount -t tmpfs tmpfs /var/lib; ${made}`;
    const { code, stdout, stderr } = await run('--backup-folder /var/lib/copies', steps);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`${UNITS}/gateway-coordinator.service\n`);
    expect(stdout.match(/^User=gateway$/gm)).toHaveLength(2);
    expect(stdout).toContain('\nReadWritePaths="/var/lib/copies"\n');
  });

  test.each([
    ['no user is named', '', '', 2, '--run-as USER. To create one: useradd --system --home-dir'],
    ['the user is root', '--run-as root', '', 2, 'must not run as root'],
    ['the user does not exist', '--run-as ghost', '', 3, '--shell /usr/sbin/nologin ghost'],
    ['the name is an option', '--run-as=-a', '', 3, "there is no user '-a'"],
    [
      'the folder is full of files of root',
      '--run-as gateway',
      'mkdir "$DATA"; touch "$DATA/x"',
      2,
      'chown -R gateway: ',
    ],
    [
      'the folder belongs to another user',
      '--run-as gateway',
      'mkdir "$DATA"; chown 65534 "$DATA"',
      2,
      'omit --run-as',
    ],
    [
      'the folder above is missing',
      '--run-as gateway',
      'DATA=/nowhere/data',
      3,
      'no folder /nowhere',
    ],
    [
      'the user may not read the configuration',
      '--run-as gateway --config "$FILES/secret.json"',
      'echo {} > "$FILES/secret.json"; chmod 600 "$FILES/secret.json"',
      4,
      'may not read',
    ],
    [
      'the user may not write the backups',
      '--run-as gateway --backup-folder "$FILES/copies"',
      'mkdir "$FILES/copies"',
      4,
      'gateway, who makes the backups, may not write to',
    ],
  ])('it is not installed if %s', async (...[, flags, steps, code, says]) => {
    const { run, tools } = await machine();
    const refused = await run(`${flags} || exit $?`, steps);
    expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(says) });
    expect((await tools.calls()).filter((call) => call.startsWith('systemctl'))).toEqual([]);
  });
});

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return process.getuid?.() === 0 && process.platform === 'linux';
  } catch {
    return false;
  }
}
