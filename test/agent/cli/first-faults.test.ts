/** Faults on a new owner's machine are reported in a sentence with a remedy, without a stack. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../support/program.js';
import { agentHome, deadOrigin, enrolmentServer, httpServer } from './agent-program.js';

const SERVICE = { id: 'chat', type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' };
const STACK = /^\s+at /m;

describe("an agent's token that is more than a word", () => {
  test.each([
    ['start', 4],
    ['services share chat --network friends', 4],
    ['doctor', 9],
  ])('ends %s with a sentence and %i', async (line, code) => {
    const home = await agentHome();
    await home.enrolAt(await deadOrigin(), [SERVICE]);
    await writeFile(`${home.configFile}.token`, 'gwa_one\ngwa_two\n', { mode: 0o600 });
    const run = await home.run([...line.split(' '), '--config', home.configFile]);
    const told = `${run.stdout}${run.stderr}`;
    expect(run.code, told).toBe(code);
    expect(told).toContain(`${home.configFile}.token holds something else than an agent's token`);
    expect(told).toContain('Join again with: gateway-agent login --force');
    expect(told).not.toMatch(STACK);
  });

  test('is told of the environment as well', async () => {
    const home = await agentHome();
    await home.enrolAt(await deadOrigin(), [SERVICE]);
    const environment = { GATEWAY_AGENT_TOKEN: 'gwa_one gwa_two' };
    const { code, stderr } = await home.run(['start', '--config', home.configFile], environment);
    expect(code, stderr).toBe(4);
    expect(stderr).toMatch(/^error: GATEWAY_AGENT_TOKEN holds something else/);
  });
});

test.each([
  ['two lines', Buffer.from('gwj_one\ngwj_two\n')],
  ['UTF-16, as PowerShell writes it', Buffer.from('\uFEFFgwj_one\r\n', 'utf16le')],
])('a join token in a file of %s stays here, and the remedy is told', async (_, content) => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, {});
  const file = join(home.folder, 'join.txt');
  await writeFile(file, content);
  const where = ['--url', origin, '--config', home.configFile];
  const { code, stderr } = await home.run(['enroll', '--token-file', file, ...where]);
  expect(code, stderr).toBe(2);
  expect(stderr).toContain('a join token is one word (gwj_…)');
  expect(seen).toEqual([]);
});

test('a configuration that an editor of Windows has written is read', async () => {
  const home = await agentHome();
  await writeFile(home.configFile, `\uFEFF${JSON.stringify({ services: [SERVICE] })}`);
  const list = await home.run(['services', 'list', '--config', home.configFile]);
  expect(list.code, list.stderr).toBe(0);
  expect(list.stdout).toMatch(/^chat\t/);
});

describe('a folder that may not be written', () => {
  test('keeps a service from being added', async () => {
    const flags = ['--type', 'llm', '--backend', 'openai', '--base-url', SERVICE.base_url];
    const { code, stderr, folder } = await asSomebodyElse('services', 'add', ...flags);
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(`error: cannot write ${folder}`);
    expect(stderr).toContain('name another file with --config');
    expect(stderr).not.toMatch(STACK);
  });

  test('keeps an agent from starting', async () => {
    const { code, stderr, folder } = await asSomebodyElse('start', '--demo');
    expect(code, stderr).toBe(1);
    expect(stderr).toContain(`error: cannot write to ${folder}`);
    expect(stderr).not.toMatch(STACK);
  });
});

test.each([
  ['nobody answers', deadOrigin, 'cannot reach the local server (ECONNREFUSED). Is it running?\n'],
  ['it wants a key', keyed, 'answered 401. Set its key with api_key_file.\n'],
])('a server of which %s is told with one remedy', async (_, origin, end) => {
  const home = await agentHome();
  await home.writeConfig({});
  const flags = ['--type', 'llm', '--backend', 'openai', '--base-url', `${await origin()}/v1`];
  const where = ['--config', home.configFile];
  const { code, stderr } = await home.run(['services', 'add', ...flags, ...where]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(end);
});

function keyed(): Promise<string> {
  return httpServer((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
  });
}

test.each([
  ['names no zone', { TZ: '' }],
  ['is a path', { TZ: ':/nowhere/zoneinfo' }],
])('hours are those of the clock here where TZ %s', async (_, environment) => {
  const home = await agentHome();
  await home.writeConfig({ services: [SERVICE] });
  const limit = ['services', 'limit', 'chat', '--hours', '22:00-07:00', '--foreign', 'yes'];
  const run = await home.run([...limit, '--config', home.configFile], environment);
  expect(run.code, run.stderr).toBe(0);
  const list = await home.run(['services', 'list', '--config', home.configFile], environment);
  expect(list.stdout.split('\t')).toContain('22:00-07:00');
});

/** With a configuration of their own in a folder that is only to be read. */
async function asSomebodyElse(...words: readonly string[]) {
  const home = await agentHome();
  const folder = join(home.folder, 'theirs');
  await mkdir(folder);
  // Root may write everywhere: the script gives that up.
  await chmod(home.folder, 0o755);
  await chmod(folder, 0o555);
  onTestFinished(() => chmod(folder, 0o755));
  const file = new URL('../../support/as-nobody.js', import.meta.url);
  const env = {
    XDG_CONFIG_HOME: folder,
    GATEWAY_AGENT_URL: 'http://127.0.0.1:9',
    GATEWAY_AGENT_TOKEN: 'gwa_x',
  };
  const run = await runProgram('gateway-agent', words, {
    script: { file, args: ['agent'] },
    env,
  });
  return { ...run, folder };
}
