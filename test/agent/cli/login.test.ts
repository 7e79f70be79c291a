import { readFile, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { agentHome, deadOrigin, enrolmentServer, httpServer } from './agent-program.js';
import type { Home, SeenEnrolment } from './agent-program.js';

const TOLD = {
  device_code: 'gwd_secret',
  user_code: 'BCDF-GHJK',
  expires_in: 60,
  interval: 0.02,
  approve: 'gateway-coordinator device approve BCDF-GHJK --owner <you>',
};
const ENROLLED = { provider_id: '01PROVIDER', name: 'den-pc', token: 'gwa_secret' };

type Answer = readonly [status: number, body: unknown];

const GRANTED: Answer = [200, ENROLLED];
const PENDING: Answer = refusal(400, 'authorization_pending');

function refusal(status: number, code: string, message = code): Answer {
  return [status, { error: { message, code } }];
}

interface Coordinator {
  readonly origin: string;
  readonly seen: readonly SeenEnrolment[];
  /** When each request for the token came, in monotonic ms. */
  readonly polledAt: readonly number[];
}

/** Sends a code, and answers the polls one after the other; the last answer is repeated. */
async function coordinator(polls: readonly Answer[], told: object = TOLD): Promise<Coordinator> {
  const [seen, polledAt]: [SeenEnrolment[], number[]] = [[], []];
  const next = (path: string | undefined): Answer => {
    if (path === '/agent/v1/device') return [200, told];
    polledAt.push(performance.now());
    return polls[Math.min(polledAt.length, polls.length) - 1] ?? PENDING;
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url, headers, socket } = request;
    seen.push({ url, headers, body: await json(request) });
    const [status, body] = next(url);
    if (status === 0) return void socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }
  const origin = await httpServer((request, response) => void answer(request, response));
  return { origin, seen, polledAt };
}

function logIn(home: Home, url: string, more: readonly string[] = []) {
  return home.run(['login', '--config', home.configFile, '--url', url, ...more]);
}

test('it shows the page of a coordinator that has one, and the command beside it', async () => {
  const home = await agentHome();
  const page = 'https://gateway.example.org/device?code=BCDF-GHJK';
  const { origin } = await coordinator([GRANTED], { ...TOLD, verification_uri_complete: page });
  const { code, stderr } = await logIn(home, origin);
  expect(code).toBe(0);
  expect(stderr).toContain(`Within 1 min, open:\n  ${page}\nOr, where ${origin} runs:\n`);
  expect(stderr).toContain(`\n  ${TOLD.approve}\n`);
});

test('it shows the code, waits until that is approved, and keeps what it is given', async () => {
  const home = await agentHome();
  const { origin, seen } = await coordinator([PENDING, PENDING, GRANTED]);
  const result = await logIn(home, `${origin}/`, ['--name', 'den']);
  expect(result).toMatchObject({ code: 0, stdout: `enrolled as den-pc at ${origin}\n` });
  expect(result.stderr).toContain('BCDF-GHJK. Within 1 min');
  expect(result.stderr).toContain(`\n  ${TOLD.approve}\n`);
  expect(result.stderr).toContain('Next: gateway-agent start --yes');
  expect(seen.map(({ url }) => url)).toEqual([
    '/agent/v1/device',
    ...Array.from({ length: 3 }, () => '/agent/v1/device/token'),
  ]);
  expect(seen[0]?.body).toEqual({ name: 'den', host: hostname().slice(0, 64) });
  expect(seen[1]?.body).toEqual({ device_code: 'gwd_secret' });
  expect(seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
  expect(await home.readConfig()).toEqual({ url: origin, name: 'den-pc' });
  expect(await readFile(`${home.configFile}.token`, 'utf8')).toBe('gwa_secret\n');
  const { mode } = await stat(`${home.configFile}.token`);
  expect((mode & 0o777).toString(8)).toBe('600');
  expect(`${result.stdout}${result.stderr}`).not.toMatch(/gw[ad]_/);
});

test('with services configured, what comes next is start', async () => {
  const home = await agentHome();
  const services = [{ type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:8080/v1' }];
  await home.writeConfig({ services });
  const { origin } = await coordinator([GRANTED]);
  const { code, stderr } = await logIn(home, origin);
  expect([code, stderr.includes('Next: gateway-agent start.')]).toEqual([0, true]);
  expect(await home.readConfig()).toEqual({ services, url: origin, name: 'den-pc' });
});

test.each([
  ['expired_token', 400, 8],
  ['access_denied', 400, 4],
  ['name_taken', 409, 7],
  ['invalid_value', 400, 2],
])('%s (%i) exits %i with the reason of the coordinator', async (code, status, exit) => {
  const home = await agentHome();
  const { origin } = await coordinator([PENDING, refusal(status, code, 'that is why')]);
  const result = await logIn(home, origin);
  expect(result).toMatchObject({ code: exit, stdout: '' });
  expect(result.stderr).toContain('that is why');
  await expect(stat(`${home.configFile}.token`)).rejects.toThrow('ENOENT');
});

test('it gives up when its time is over, whatever the coordinator says', async () => {
  const { origin } = await coordinator([PENDING], { ...TOLD, expires_in: 0.3 });
  const result = await logIn(await agentHome(), origin);
  expect(result).toMatchObject({ code: 8, stdout: '' });
  expect(result.stderr).toContain('nobody approved BCDF-GHJK in time. Log in again.');
});

test('a coordinator that is away for a moment ends nothing', async () => {
  const lost: Answer = [0, null];
  const busy = refusal(503, 'shutting_down');
  const polls = [lost, busy, lost, busy, PENDING, lost, busy, lost, busy, GRANTED];
  const { origin, polledAt } = await coordinator(polls);
  expect(await logIn(await agentHome(), origin)).toMatchObject({ code: 0 });
  expect(polledAt).toHaveLength(10);
});

test('one that stays away ends it with exit 5', async () => {
  const { origin, polledAt } = await coordinator([[0, null]]);
  const result = await logIn(await agentHome(), origin);
  expect(result).toMatchObject({ code: 5, stdout: '' });
  expect(result.stderr).toContain(`${origin} cannot be reached`);
  expect(polledAt).toHaveLength(5);
});

test('told to slow down, it asks no more than once before its time is over', async () => {
  const { origin, polledAt } = await coordinator([refusal(400, 'slow_down'), PENDING], {
    ...TOLD,
    expires_in: 0.5,
  });
  expect(await logIn(await agentHome(), origin)).toMatchObject({ code: 8 });
  // A timer may fire a little early, and at the usual pace it would be 25.
  expect(polledAt.length).toBeLessThanOrEqual(3);
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends the waiting with exit 130', async (signal) => {
  const home = await agentHome();
  const { origin, polledAt } = await coordinator([PENDING]);
  const args = ['login', '--config', home.configFile, '--url', origin];
  const agent = home.start(args);
  await until(() => polledAt.length > 1, { what: 'it to wait' });
  agent.child.kill(signal);
  const { code, stderr } = await agent.finished;
  expect([code, stderr.includes('interrupted: this machine is not enrolled.')]).toEqual([
    130,
    true,
  ]);
});

test.each([
  [404, 5, 'no coordinator takes log-ins'],
  [429, 5, 'takes no log-in now'],
  [503, 5, 'takes no log-in now'],
  [400, 2, 'refuses the log-in (400): the name is too long'],
  [307, 5, 'it redirects to /elsewhere'],
])('an answer of %i to the first request exits %i', async (status, code, named) => {
  const { origin, seen } = await enrolmentServer(status, {
    error: { message: 'the name is too long' },
  });
  const result = await logIn(await agentHome(), origin);
  expect(result).toMatchObject({ code, stdout: '' });
  expect(result.stderr).toContain(named);
  expect(seen).toHaveLength(1);
});

test('a code that would steer the terminal is none', async () => {
  const { origin, seen } = await coordinator([GRANTED], { ...TOLD, user_code: '\u001b[2J' });
  const result = await logIn(await agentHome(), origin);
  expect(result.code).toBe(5);
  expect(result.stderr).toContain('its answer holds no code');
  expect(seen).toHaveLength(1);
});

test('nobody there exits 5; enrolled already exits 7, unless it is forced', async () => {
  const home = await agentHome();
  const dead = await deadOrigin();
  const away = await logIn(home, dead);
  expect(away).toMatchObject({ code: 5, stdout: '' });
  expect(away.stderr).toContain(`${dead} cannot be reached`);
  const { origin, seen } = await coordinator([GRANTED]);
  await home.enrolAt(origin);
  const again = await logIn(home, origin);
  expect([again.code, again.stderr.includes('--force'), seen.length]).toEqual([7, true, 0]);
  expect(await logIn(home, origin, ['--force'])).toMatchObject({ code: 0 });
});

test('nobody is asked where nothing can be written, or no --url is known', async () => {
  const home = await agentHome();
  const { origin, seen } = await coordinator([GRANTED]);
  await writeFile(join(home.folder, 'file'), '');
  const nowhere = { ...home, configFile: join(home.folder, 'file', 'a.json') };
  expect((await logIn(nowhere, origin)).code).not.toBe(0);
  expect((await home.run(['login'])).code).toBe(2);
  expect((await logIn(home, 'http://gateway.example.org')).code).toBe(2);
  expect(seen).toHaveLength(0);
});
