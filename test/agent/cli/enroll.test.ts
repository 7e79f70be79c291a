import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentHome, deadOrigin, enrolmentServer, httpServer } from './agent-program.js';
import type { Home } from './agent-program.js';

const ENROLLED = { provider_id: '01PROVIDER', name: 'den-pc', token: 'gwa_secret' };

async function enroll(home: Home, url: string, more: readonly string[] = []) {
  const tokenFile = join(home.folder, 'join.txt');
  await writeFile(tokenFile, 'gwj_join\n');
  const { configFile } = home;
  return home.run([
    'enroll',
    '--config',
    configFile,
    '--url',
    url,
    '--token-file',
    tokenFile,
    ...more,
  ]);
}

test('enrolment sends the join token and keeps what it is given', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, ENROLLED);
  const result = await enroll(home, `${origin}/`, ['--name', 'den']);
  expect(result).toMatchObject({ code: 0, stdout: `enrolled as den-pc at ${origin}\n` });
  expect(seen[0]?.url).toBe('/agent/v1/enroll');
  expect(seen[0]?.headers.authorization).toBe('Bearer gwj_join');
  expect(seen[0]?.body).toMatchObject({
    name: 'den',
    os: process.platform,
    agent_version: '0.1.0',
  });
  expect(await home.readConfig()).toEqual({ url: origin, name: 'den-pc' });
  expect(await readFile(`${home.configFile}.token`, 'utf8')).toBe('gwa_secret\n');
  expect(`${result.stdout}${result.stderr}`).not.toMatch(/gwa_|gwj_/);
});

test.each([
  ['is told to whom', { approved: false }, true],
  ['is not spoken of', { approved: true }, false],
  ['is not known to older coordinators', {}, false],
])('that a provider waits for approval %s', async (_, more, isTold) => {
  const home = await agentHome();
  const { origin } = await enrolmentServer(200, { ...ENROLLED, ...more });
  const { code, stderr } = await enroll(home, origin);
  const sentence =
    `It gets no work until an administrator of ${origin} has approved it: ` +
    'gateway-coordinator provider approve 01PROVIDER';
  expect([code, stderr.includes(sentence)]).toEqual([0, isTold]);
});

test('the configuration and the token are readable by their owner alone', async () => {
  const home = await agentHome();
  const { origin } = await enrolmentServer(200, ENROLLED);
  const config = join(home.folder, 'new', 'agent.json');
  await enroll({ ...home, configFile: config }, origin);
  const modes = [config, `${config}.token`, join(home.folder, 'new')].map(async (path) =>
    ((await stat(path)).mode & 0o777).toString(8),
  );
  expect(await Promise.all(modes)).toEqual(['600', '600', '700']);
});

test('enrolment keeps the services, and everything else, that the file has', async () => {
  const home = await agentHome();
  const services = [{ type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:8080/v1' }];
  await writeFile(home.configFile, JSON.stringify({ services, log_level: 'warn' }, null, 4));
  const { origin } = await enrolmentServer(200, ENROLLED);
  await enroll(home, origin);
  const text = await readFile(home.configFile, 'utf8');
  expect(JSON.parse(text)).toEqual({ services, log_level: 'warn', url: origin, name: 'den-pc' });
  expect(text).toContain('\n    "services"');
});

test('the environment and the default place are used where no flag is given', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, ENROLLED);
  const environment = { GATEWAY_AGENT_URL: origin, GATEWAY_AGENT_NAME: 'attic' };
  const agent = home.start(['enroll', '--token-file', '-'], environment);
  agent.child.stdin.end('gwj_piped');
  expect((await agent.finished).code).toBe(0);
  expect(seen[0]?.headers.authorization).toBe('Bearer gwj_piped');
  expect(seen[0]?.body).toMatchObject({ name: 'attic' });
  const file = join(home.folder, 'gateway-agent', 'config.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ url: origin });
});

test.each([
  [401, 4, 'the join token is used up'],
  [403, 4, 'this member is disabled'],
  [409, 7, 'the name den-pc is taken'],
  [400, 2, 'the name is too long'],
  [500, 5, 'something broke'],
])('an answer of %i exits %i with the reason of the coordinator', async (status, code, message) => {
  const home = await agentHome();
  const { origin } = await enrolmentServer(status, { error: { message } });
  const result = await enroll(home, origin);
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(message);
  await expect(stat(`${home.configFile}.token`)).rejects.toThrow('ENOENT');
});

test('a redirect is not followed, for it would carry the token elsewhere', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(307, {});
  const result = await enroll(home, origin);
  expect(result.code).toBe(5);
  expect(result.stderr).toContain('it redirects to /elsewhere');
  expect(seen).toHaveLength(1);
});

test('a server that is no coordinator is told apart', async () => {
  const home = await agentHome();
  const origin = await httpServer((_request, response) => response.end('<html>hello</html>'));
  const result = await enroll(home, origin);
  expect(result.code).toBe(5);
  expect(result.stderr).toContain(`no coordinator takes enrolments at ${origin}`);
});

test('a coordinator that does not answer exits 5', async () => {
  const home = await agentHome();
  const origin = await deadOrigin();
  const result = await enroll(home, origin);
  expect(result.code).toBe(5);
  expect(result.stderr).toContain(`${origin} cannot be reached`);
});

test('a second enrolment exits 7, and --force replaces the first', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, ENROLLED);
  expect((await enroll(home, origin)).code).toBe(0);
  const second = await enroll(home, origin);
  expect(second.code).toBe(7);
  expect(second.stderr).toContain('--force');
  expect(seen).toHaveLength(1);
  expect((await enroll(home, origin, ['--force'])).code).toBe(0);
  expect(seen).toHaveLength(2);
});

test('an API key given by mistake stays on this machine', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, ENROLLED);
  const agent = home.start(['enroll', '--url', origin, '--token-file', '-']);
  agent.child.stdin.end('gwk_abcdef');
  const result = await agent.finished;
  expect(result.code).toBe(4);
  expect(result.stderr).toContain('this is an API key (gwk_…)');
  expect(result.stderr).not.toContain('abcdef');
  expect(seen).toHaveLength(0);
});

test('a join token is not spent where the configuration cannot be written', async () => {
  const home = await agentHome();
  const { origin, seen } = await enrolmentServer(200, ENROLLED);
  await writeFile(join(home.folder, 'file'), '');
  const result = await enroll({ ...home, configFile: join(home.folder, 'file', 'a.json') }, origin);
  expect(result.code).not.toBe(0);
  expect(seen).toHaveLength(0);
});

test.each([
  ['http://gateway.example.org', 'only to this machine may the link be unencrypted'],
  ['https://gateway.example.org/v1', 'it must be https://gateway.example.org alone'],
  ['gateway.example.org', 'it must be the address of the coordinator'],
])('the coordinator %s is refused with exit 2', async (url, message) => {
  const result = await enroll(await agentHome(), url);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(`--url is "${url}": `);
  expect(result.stderr).toContain(message);
});

test('a missing token file exits 3, an empty one and a missing --url exit 2', async () => {
  const home = await agentHome();
  const missing = ['enroll', '--url', 'http://127.0.0.1:1', '--token-file'];
  expect((await home.run([...missing, join(home.folder, 'none')])).code).toBe(3);
  await mkdir(join(home.folder, 'gateway-agent'), { recursive: true });
  await writeFile(join(home.folder, 'empty'), '\n');
  expect((await home.run([...missing, join(home.folder, 'empty')])).code).toBe(2);
  const noUrl = await home.run(['enroll', '--token-file', join(home.folder, 'empty')]);
  expect(noUrl.code).toBe(2);
  expect(noUrl.stderr).toContain('--url');
});
