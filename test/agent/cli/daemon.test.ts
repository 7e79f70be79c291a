/**
 * `gateway-agent service …` and `logs`, with stand-ins for the tools of systemd, which no test may
 * ask to change the machine; `systemd-units.test.ts` has the real one judge the units.
 */
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { LLM, daemonStage } from './daemon-stage.js';

const URL_SAID = 'http://127.0.0.1:9';
const STOPPED = 'case "$*" in *show*) printf "ActiveState=inactive\\nSubState=dead\\n";; esac';

/** Its name has a hash: the configuration is not the usual one. */
async function unitOf({ stdout }: { stdout: string }): Promise<string> {
  expect(stdout).toMatch(/\/systemd\/user\/gateway-agent-[0-9a-f]{8}\.service\n$/);
  return readFile(stdout.trim(), 'utf8');
}

describe.runIf(process.platform === 'linux')('on Linux', () => {
  test('install writes a unit, enables it and starts it anew', async () => {
    const { home, tools, run } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const installed = await run('service', 'install', '--user');
    expect(installed, installed.stderr).toMatchObject({ code: 0 });
    expect(await unitOf(installed)).toContain(`"start" "--config" "${home.configFile}"`);
    const name = /gateway-agent-[0-9a-f]{8}\.service/.exec(installed.stdout)?.[0];
    expect(await tools.calls()).toEqual([
      'systemctl --user daemon-reload',
      `systemctl --user enable ${name}`,
      `systemctl --user restart ${name}`,
      'loginctl enable-linger',
    ]);
  });

  test('a secret of the environment gets into no unit', async () => {
    const { home, env } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const secret = { ...env, GATEWAY_AGENT_TOKEN: 'gwa_secret', GATEWAY_AGENT_LOG_LEVEL: 'debug' };
    const words = ['service', 'install', '--user', '--config', home.configFile];
    const installed = await home.run(words, secret);
    const unit = await unitOf(installed);
    expect(unit).not.toContain('gwa_secret');
    expect(unit).toContain('GATEWAY_AGENT_LOG_LEVEL=debug');
  });

  test('the usual configuration has the plain name', async () => {
    const { home, env } = await daemonStage();
    const folder = join(home.folder, 'gateway-agent');
    await mkdir(folder);
    const config = { url: URL_SAID, services: [LLM] };
    await writeFile(join(folder, 'config.json'), JSON.stringify(config));
    await writeFile(join(folder, 'config.json.token'), 'gwa_test');
    const { stdout } = await home.run(['service', 'install', '--user'], env);
    expect(stdout).toBe(`${home.folder}/systemd/user/gateway-agent.service\n`);
  });

  test('one is found by each way of naming its configuration', async () => {
    const { home, env, run } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const named = { ...env, GATEWAY_AGENT_CONFIG: home.configFile };
    const installed = await home.run(['service', 'install', '--user'], named);
    await unitOf(installed);
    expect((await run('service', 'status')).code).toBe(0);
  });

  test('one that would have no token is not installed: 4', async () => {
    const { home, env } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    await rm(`${home.configFile}.token`);
    const words = ['service', 'install', '--user', '--config', home.configFile];
    const { code, stderr } = await home.run(words, { ...env, GATEWAY_AGENT_TOKEN: 'gwa_secret' });
    expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('login') });
  });

  test('an update is installed over the service that runs', async () => {
    const { home, run, env } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const { stdout } = await run('service', 'install', '--user');
    const agent = home.start(['start', '--config', home.configFile], env);
    await until(() => agent.output.stderr.includes('not connected'));
    expect(await run('service', 'install', '--user')).toMatchObject({ code: 0, stdout });
  });

  test('a unit that somebody wrote by hand is not replaced: 7', async () => {
    const { home, tools, run } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const file = (await run('service', 'install', '--user')).stdout.trim();
    await writeFile(file, '[Service]\nEnvironment=GATEWAY_AGENT_NAME=den-pc\n');
    const before = await tools.calls();
    const refused = await run('service', 'install', '--user');
    expect(refused).toMatchObject({ code: 7, stdout: '' });
    expect(refused.stderr).toContain(`mv ${file} ${file}.before`);
    expect(await readFile(file, 'utf8')).toContain('GATEWAY_AGENT_NAME');
    expect(await tools.calls()).toEqual(before);
  });

  test('status, start, stop, logs and uninstall ask systemd', async () => {
    const { home, tools, run, env } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const file = (await run('service', 'install', '--user')).stdout.trim();
    const status = await run('service', 'status', '--json');
    expect(JSON.parse(status.stdout)).toEqual({ file, running: true, detail: 'active (running)' });
    expect(status.code).toBe(0);
    const before = (await tools.calls()).length;
    for (const verb of ['start', 'stop']) expect((await run('service', verb)).code).toBe(0);
    // journalctl writes to the stdout of the process itself.
    const logs = ['logs', '-n', '5', '--config', home.configFile];
    expect(await home.start(logs, env).finished).toMatchObject({ code: 0, stdout: 'a line\n' });
    expect((await run('service', 'uninstall')).code).toBe(0);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    const unit = file.split('/').at(-1);
    expect((await tools.calls()).slice(before)).toEqual([
      `systemctl --user start ${unit}`,
      `systemctl --user stop ${unit}`,
      `journalctl --user --unit ${unit} --lines 5 --no-pager --output cat`,
      `systemctl --user disable --now ${unit}`,
      'systemctl --user daemon-reload',
    ]);
  });

  test('one that does not run exits 9', async () => {
    const { home, run } = await daemonStage(STOPPED);
    await home.enrolAt(URL_SAID, [LLM]);
    await run('service', 'install', '--user');
    const status = await run('service', 'status');
    expect(status).toMatchObject({ code: 9, stdout: expect.stringContaining('inactive (dead)') });
  });

  test('what systemd says against it is told, and exits 1', async () => {
    const { home, run } = await daemonStage('echo "Failed to connect to bus" >&2; exit 1');
    await home.enrolAt(URL_SAID, [LLM]);
    const { code, stderr } = await run('service', 'install', '--user');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: "systemctl --user daemon-reload" failed: Failed to connect to bus\n',
    });
  });

  test('what could not start is not installed: not enrolled 4, nothing to serve 2', async () => {
    const { home, tools, run } = await daemonStage();
    await home.writeConfig({ services: [LLM] });
    expect(await run('service', 'install', '--user')).toMatchObject({ code: 4, stdout: '' });
    await home.enrolAt(URL_SAID);
    expect(await run('service', 'install', '--user')).toMatchObject({ code: 2, stdout: '' });
    await rm(home.configFile);
    expect(await run('service', 'install', '--user')).toMatchObject({ code: 3, stdout: '' });
    expect(await tools.calls()).toEqual([]);
  });

  test('an agent that runs already is in the way: 7', async () => {
    const { home, run } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const agent = home.start(['start', '--config', home.configFile]);
    await until(() => agent.output.stderr.includes('not connected'));
    expect(await run('service', 'install', '--user')).toMatchObject({ code: 7, stdout: '' });
  });

  test.each(['uninstall', 'start', 'stop', 'status'])(
    'service %s exits 3 where none is installed, and so does logs',
    async (verb) => {
      const { home, run } = await daemonStage();
      await home.enrolAt(URL_SAID, [LLM]);
      const { code, stderr } = await run('service', verb);
      expect({ code, stderr }).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('install'),
      });
      expect(await run('logs')).toMatchObject({ code: 3, stdout: '' });
    },
  );

  test('one of the machine is installed by root, as the owner of the configuration', async () => {
    const { home, run } = await daemonStage();
    await home.enrolAt(URL_SAID, [LLM]);
    const isRoot = process.getuid?.() === 0;
    const { code, stderr } = await run('service', 'install', '--system');
    expect(code).toBe(isRoot ? 2 : 4);
    expect(stderr).toContain(isRoot ? 'belongs to root' : 'sudo');
    expect((await run('service', 'install', '--system', '--user')).code).toBe(2);
  });

  test('one of the machine could not be spoken to below too long a path: 2', async () => {
    const { home, env } = await daemonStage();
    const config = join(home.folder, 'a'.repeat(80), 'config.json');
    await mkdir(dirname(config));
    await writeFile(config, JSON.stringify({ url: URL_SAID, services: [LLM] }));
    await writeFile(`${config}.token`, 'gwa_test');
    const words = ['service', 'install', '--system', '--config', config];
    const { code, stderr } = await home.run(words, env);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('shorter') });
  });
});
