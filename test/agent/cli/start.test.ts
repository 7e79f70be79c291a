import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hangBeforeHeaders } from '../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { until } from '../../support/until.js';
import { agentHome, deadOrigin } from './agent-program.js';
import type { Home } from './agent-program.js';
import { fakeCoordinator } from './fake-coordinator.js';

const SERVICE = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' };

/** A process starts in half a second here, and far later on a busy machine. */
const STARTED_MS = 15_000;

/** Starts the demo agent of an enrolled home and waits until it is registered. */
async function startedDemo(home: Home, origin: string) {
  await home.enrolAt(origin);
  const agent = home.start(['start', '--demo', '--config', home.configFile]);
  await until(() => agent.output.stdout.includes('\n'), { timeoutMs: STARTED_MS });
  return agent;
}

async function statusOf(home: Home) {
  const result = await home.run(['status', '--json', '--config', home.configFile]);
  return { code: result.code, report: JSON.parse(result.stdout) as Record<string, unknown> };
}

test('an agent that is not enrolled exits 4 and says how to enrol', async () => {
  const home = await agentHome();
  const result = await home.run(['start']);
  expect(result).toMatchObject({ code: 4, stdout: '' });
  expect(result.stderr).toContain('gateway-agent enroll --url');
});

test('an agent without services exits 2 and says what to do', async () => {
  const home = await agentHome();
  await home.enrolAt(await deadOrigin());
  const result = await home.run(['start', '--config', home.configFile]);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('services scan --add');
  expect(result.stderr).toContain('start --demo');
});

test('wrong configuration exits 2, whole, and a named file that is missing 3', async () => {
  const home = await agentHome();
  await home.writeConfig({ urll: 1, services: [{ ...SERVICE, type: 'x' }] });
  const wrong = await home.run(['start', '--config', home.configFile]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('has 2 problems');
  const missing = await home.run(['start', '--config', `${home.folder}/none.json`]);
  expect(missing.code).toBe(3);
});

test('one line says that the agent is online, and status tells the rest', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const agent = await startedDemo(home, coordinator.origin);
  expect(agent.output.stdout).toMatch(
    new RegExp(`^online as den-pc at ${coordinator.origin} with \\d+ models?\n$`),
  );
  expect(coordinator.tokens).toEqual(['Bearer gwa_test']);
  expect(coordinator.hellos[0]?.services).toMatchObject([
    { service_id: 'demo', service_type: 'llm', slots: 4 },
    { service_id: 'demo-stt', service_type: 'stt' },
    { service_id: 'demo-tts', service_type: 'tts' },
    { service_id: 'demo-image', service_type: 'image' },
  ]);
  const { code, report } = await statusOf(home);
  expect(code).toBe(0);
  expect(report).toMatchObject({
    running: true,
    pid: agent.child.pid,
    name: 'den-pc',
    url: coordinator.origin,
    connection: 'online',
    streams: 0,
  });
  expect(report['services']).toMatchObject(
    ['demo', 'demo-stt', 'demo-tts', 'demo-image'].map((id) => ({ id, state: 'up', slots: 4 })),
  );
});

test('a second agent on one configuration exits 7, and the first goes on', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const agent = await startedDemo(home, coordinator.origin);
  const second = await home.run(['start', '--demo', '--config', home.configFile]);
  expect(second.code).toBe(7);
  expect(second.stderr).toContain(`process ${agent.child.pid}`);
  expect((await statusOf(home)).report).toMatchObject({ pid: agent.child.pid });
});

test.each([
  ['a new configuration', null],
  ['what a dead agent left behind', '2147483632 x\n'],
])('of four that start at once on %s, one runs and three exit 7', async (_, left) => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  await home.enrolAt(coordinator.origin);
  await mkdir(`${home.configFile}.state`);
  if (left !== null) await writeFile(`${home.configFile}.state/lock`, left);
  const agents = Array.from({ length: 4 }, () =>
    home.start(['start', '--demo', '--config', home.configFile]),
  );
  const ended: (number | null)[] = [];
  for (const { finished } of agents) void finished.then(({ code }) => ended.push(code));
  await until(() => ended.length === 3 && coordinator.hellos.length === 1, {
    timeoutMs: STARTED_MS,
  });
  expect(ended).toEqual([7, 7, 7]);
  expect((await statusOf(home)).code).toBe(0);
});

test('an agent that was killed leaves nothing that holds up the next', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const first = await startedDemo(home, coordinator.origin);
  first.child.kill('SIGKILL');
  await first.finished;
  expect((await statusOf(home)).code).toBe(9);
  const second = await startedDemo(home, coordinator.origin);
  expect((await statusOf(home)).report).toMatchObject({ pid: second.child.pid });
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s drains, says so, and exits 0', async (signal) => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const agent = await startedDemo(home, coordinator.origin);
  agent.child.kill(signal);
  const { code, stderr } = await agent.finished;
  expect(code).toBe(0);
  expect(stderr).toContain('Draining');
  expect((await statusOf(home)).code).toBe(9);
});

test.each([
  ['tried', true, 'No model is offered yet: each is tried first. See "gateway-agent status".'],
  ['there', false, 'No model is offered yet: there is a reason for each.'],
])('a start without a model that is %s says why', async (_, isThere, says) => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const server = await startFakeOpenAi({ behaviour: hangBeforeHeaders() });
  onTestFinished(() => server.close());
  const service = { ...SERVICE, prove: true, ...(isThere && { base_url: server.baseUrl }) };
  await home.enrolAt(coordinator.origin, [service]);
  const agent = home.start(['start', '--yes', '--config', home.configFile]);
  await until(() => agent.output.stdout.includes('\n'), { timeoutMs: STARTED_MS });
  expect(agent.output.stdout).toContain('with 0 models');
  await until(() => agent.output.stderr.includes(says));
});

test('an agent waits for a coordinator that is away, and says so in status', async () => {
  const home = await agentHome();
  await home.enrolAt(await deadOrigin(), [SERVICE]);
  const agent = home.start(['start', '--config', home.configFile]);
  await until(async () => typeof (await statusOf(home)).report['reason'] === 'string', {
    timeoutMs: STARTED_MS,
  });
  expect((await statusOf(home)).report).toMatchObject({
    connection: 'connecting',
    services: [{ state: 'down', base_url: SERVICE.base_url, models: [] }],
  });
  await until(() => agent.output.stderr.includes('\n'));
  for (const line of agent.output.stderr.split('\n').slice(0, -1)) {
    expect(JSON.parse(line)).toHaveProperty('msg');
  }
  agent.child.kill('SIGTERM');
  expect((await agent.finished).code).toBe(0);
});

test('with --once a coordinator that is away exits 5', async () => {
  const home = await agentHome();
  await home.enrolAt(await deadOrigin());
  const result = await home.run(['start', '--demo', '--once', '--config', home.configFile]);
  expect(result.code).toBe(5);
});

test('with --once the agent ends when its link does', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  await home.enrolAt(coordinator.origin);
  const agent = home.start(['start', '--demo', '--once', '--config', home.configFile]);
  await until(() => agent.output.stdout.includes('online'), { timeoutMs: STARTED_MS });
  coordinator.links[0]?.close(1012, 'restart');
  const { code, stderr } = await agent.finished;
  expect(code).not.toBe(0);
  expect(stderr).toContain('1012');
});

test('a refused token exits 4, with or without --once', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator(401);
  await home.enrolAt(coordinator.origin);
  const result = await home.run(['start', '--demo', '--config', home.configFile]);
  expect(result.code).toBe(4);
});

test('a second copy of this agent on another machine makes this one exit 7', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const agent = await startedDemo(home, coordinator.origin);
  coordinator.links[0]?.close(4008, 'duplicate');
  expect((await agent.finished).code).toBe(7);
});

test('the token may come from the environment alone, without any file', async () => {
  const home = await agentHome();
  const coordinator = await fakeCoordinator();
  const agent = home.start(['start', '--demo'], {
    GATEWAY_AGENT_URL: coordinator.origin,
    GATEWAY_AGENT_TOKEN: 'gwa_environment',
  });
  await until(() => agent.output.stdout.includes('online as den-pc'), { timeoutMs: STARTED_MS });
  expect(coordinator.tokens).toEqual(['Bearer gwa_environment']);
});

test('its log goes to a file where it is told to', async () => {
  const home = await agentHome();
  const { origin } = await fakeCoordinator();
  await home.enrolAt(origin);
  const file = join(home.folder, 'logs', 'agent.log');
  const words = ['start', '--demo', '--log-file', file, '--config', home.configFile];
  const agent = home.start(words);
  await until(() => agent.output.stdout.includes('\n'), { timeoutMs: STARTED_MS });
  await until(async () => (await readFile(file, 'utf8')).includes('"msg":"connected"'));
  expect(agent.output.stderr).not.toContain('"msg"');
});

test('flags choose format and level of the log, whatever the configuration says', async () => {
  const home = await agentHome();
  const { origin } = await fakeCoordinator();
  await home.enrolAt(origin);
  await home.writeConfig({ ...(await home.readConfig()), log_format: 'json', log_level: 'error' });
  const file = join(home.folder, 'agent.log');
  const flags = ['--log-format', 'pretty', '--log-level', 'info', '--log-file', file];
  home.start(['start', '--demo', ...flags, '--config', home.configFile]);
  const line = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z connected/m;
  await until(async () => line.test(await readFile(file, 'utf8').catch(() => '')), {
    timeoutMs: STARTED_MS,
  });
});

test('an unknown format or level of the log exits 2, and the values are named', async () => {
  const home = await agentHome();
  for (const [flag, value, allowed] of [
    ['--log-format', 'text', 'json, pretty'],
    ['--log-level', 'loud', 'trace, debug'],
  ] as const) {
    const { code, stderr } = await home.run(['start', flag, value]);
    expect(code).toBe(2);
    expect(stderr).toContain(allowed);
  }
});
