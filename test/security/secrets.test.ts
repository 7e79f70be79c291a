/** Where a secret must not be found: logs, answers, the process list, the data folder, caches. */
import { newSecret } from '@inference-gateway/shared/ids';
import { callLocal } from '@inference-gateway/shared/program/local-socket';
import { adminSocketPath } from '@inference-gateway/coordinator/operations/admin-socket';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  cookieOf,
  invite,
  joining,
  loggingIn,
  PASSWORD,
  PASSWORD_PATH,
  SAME_ORIGIN,
} from '../api/account-calls.js';
import type { Sent } from '../api/account-calls.js';
import { my } from '../api/console-calls.js';
import { asking, polling } from '../api/device-calls.js';
import type { DeviceLogIn } from '../api/device-calls.js';
import { chat, failureOf, post } from '../api/requests.js';
import { visitAgain, visitorWith } from '../api/visitor.js';
import { answer, reply } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectOk, startProcessGateway } from '../support/process-gateway.js';
import type { ProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const FIRST_PASSWORD = 'correct horse, first battery';
const SECOND_PASSWORD = 'correct horse, second battery';
const GUESS = 'wrong horse, no battery at all';
const METRICS_TOKEN = 'metrics-token-4711-xylophone';
const LOCAL_KEY = 'sk-local-4711-xylophone';
const PROMPT = 'prompt-4711-xylophone';
const OUTPUT = 'output-4711-xylophone';
const EMAIL = 'carla@example.org';

/** All secrets that were handed out, by kind. */
type Secrets = Map<string, string>;

/** As a browser, a machine and a caller use the gateway in their first hour, mistakes included. */
class FirstHour {
  readonly secrets: Secrets = new Map([
    ['the metrics token', METRICS_TOKEN],
    ['the key of the local server', LOCAL_KEY],
    ['a prompt', PROMPT],
    ['an output', OUTPUT],
    ['a wrong password', GUESS],
    ['a password', FIRST_PASSWORD],
    ['another password', SECOND_PASSWORD],
  ]);
  /** Every answer that was to tell no secret. */
  readonly answers: string[] = [];
  readonly #gateway: ProcessGateway;
  #cookie = '';

  constructor(gateway: ProcessGateway) {
    this.#gateway = gateway;
    this.secrets.set('the key of the command line', gateway.key);
  }

  async run(): Promise<void> {
    await this.#join();
    await this.#logIn();
    await this.#changePassword();
    await this.#makeKeys();
    await this.#letMachineIn();
    await this.#call();
    await this.#makeMistakes();
  }

  async #join(): Promise<void> {
    const admin = (command: string, args: object) => administer(this.#gateway, command, args);
    const wanted = { email: EMAIL, admin: false, network: null, expires_in_s: 600 };
    const { secret } = (await admin('user.invite', wanted)) as { secret: string };
    this.secrets.set('an invite', secret);
    const body = { token: secret, name: 'Carla', password: FIRST_PASSWORD, key_name: 'first' };
    const { key } = (await (await this.#send(joining(body))).json()) as { key: string };
    this.secrets.set('the key of an invite', key);
  }

  async #logIn(): Promise<void> {
    await this.#refused(loggingIn(EMAIL, GUESS));
    const loggedIn = await this.#send(loggingIn(EMAIL, FIRST_PASSWORD));
    this.#cookie = cookieOf(loggedIn);
    this.secrets.set('a session', this.#cookie.split('=')[1] ?? '');
  }

  async #changePassword(): Promise<void> {
    const change = (current: string): Sent => ({
      path: PASSWORD_PATH,
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: this.#cookie, ...SAME_ORIGIN },
      body: JSON.stringify({ current, password: SECOND_PASSWORD }),
    });
    await this.#refused(change(GUESS));
    const changed = await this.#send(change(FIRST_PASSWORD));
    this.#cookie = cookieOf(changed);
    this.secrets.set('another session', this.#cookie.split('=')[1] ?? '');
  }

  async #makeKeys(): Promise<void> {
    const visitor = visitorWith({ address: this.#gateway.url }, this.#cookie);
    const made = await my(visitor, 'key.create', { name: 'own', scope: 'any', expires_in_s: null });
    this.secrets.set('a key of the dashboard', made.key);
    const rotated = await my(visitor, 'key.rotate', { key: made.id, overlap_s: 60 });
    this.secrets.set('a rotated key', rotated.key);
    const token = { name: null, expires_in_s: 60, replace: null };
    this.secrets.set('a join token', (await my(visitor, 'token.create', token)).token);
    for (const path of ['my/key.list', 'my/token.list', 'my/user.sessions', 'my/home.show']) {
      this.answers.push(await (await visitor.fetch(`/api/console/v1/${path}`)).text());
    }
  }

  async #letMachineIn(): Promise<void> {
    const asked = await this.#send(asking({ name: 'porch-pc' }));
    const { device_code: code, user_code: shown } = (await asked.json()) as DeviceLogIn;
    this.secrets.set('a device code', code);
    await administer(this.#gateway, 'device.approve', { code: shown, owner: 'Carla' });
    const { token } = (await (await this.#send(polling(code))).json()) as { token: string };
    this.secrets.set('an agent token', token);
    const file = `${this.#gateway.configOf('den-pc')}.token`;
    this.secrets.set('the token of the agent', (await readFile(file, 'utf8')).trim());
  }

  async #call(): Promise<void> {
    const body = chat({ messages: [{ role: 'user', content: PROMPT }] });
    const answered = await post(this.#gateway, body);
    expect(await answered.text()).toContain(OUTPUT);
    expect((await post(this.#gateway, { ...body, stream: true })).status).toBe(200);
  }

  async #makeMistakes(): Promise<void> {
    for (const secret of this.secrets.values()) {
      const authorization = `Bearer ${secret.slice(0, -1).replaceAll(/\s/g, '-')}`;
      const body = `{"password":"${secret}`;
      for (const path of ['/v1/models', '/agent/v1/self', '/metrics']) {
        await this.#refused({ path, headers: { authorization } });
      }
      // A key in the query is a mistake that proxies write down; this program does not.
      await this.#refused({ path: `/v1/models?api_key=${encodeURIComponent(secret)}` });
      const headers = { 'content-type': 'application/json', ...SAME_ORIGIN };
      // The caller sees where it breaks off; the log does not.
      await this.#send({ path: '/api/console/v1/session', method: 'POST', headers, body });
    }
  }

  async #refused(sent: Sent): Promise<void> {
    const response = await this.#send(sent);
    expect(response.status, sent.path).toBe(401);
    this.answers.push(await response.text());
  }

  #send({ path, ...init }: Sent): Promise<Response> {
    return fetch(`${this.#gateway.url}${path}`, init);
  }
}

async function administer(
  { dataDir }: ProcessGateway,
  command: string,
  args: object,
): Promise<unknown> {
  return (await callLocal(adminSocketPath(dataDir), { command, args }))?.result;
}

async function stage() {
  const local = await startFakeOpenAi({ behaviour: answer({ text: OUTPUT }) });
  onTestFinished(() => local.close());
  const { gateway, coordinator } = await startProcessGateway([], {
    GATEWAY_LOG_LEVEL: 'debug',
    GATEWAY_METRICS_TOKEN: METRICS_TOKEN,
  });
  await writeFile(join(gateway.folder, 'local.key'), LOCAL_KEY, { mode: 0o600 });
  const service = { type: 'llm', backend: 'openai', base_url: local.baseUrl };
  const services = [{ ...service, api_key_file: 'local.key' }];
  const config = JSON.stringify({ url: gateway.url, name: 'den-pc', services });
  await writeFile(gateway.configOf('den-pc'), config);
  const agent = gateway.startAgent('den-pc', undefined, { GATEWAY_AGENT_LOG_LEVEL: 'debug' });
  await agent.online;
  return { gateway, coordinator, agent, local };
}

/** Names of the secrets that a text holds. */
function foundIn(text: string, secrets: Secrets): string[] {
  return [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

describe('after the first hour of a gateway', () => {
  it('no secret is in a log, an answer, the process list or a readable file', async () => {
    const { gateway, coordinator, agent } = await stage();
    const hour = new FirstHour(gateway);
    await hour.run();
    const { secrets } = hour;
    expect(secrets.size).toBeGreaterThan(16);
    expect([...secrets].filter(([, secret]) => secret.length < 12)).toEqual([]);
    for (const { child, output } of [coordinator, agent]) {
      expect(foundIn(output.stderr + output.stdout, secrets)).toEqual([]);
      const commandLine = await readFile(`/proc/${child.pid}/cmdline`, 'utf8').catch(() => '');
      expect(foundIn(commandLine, secrets)).toEqual([]);
    }
    expect(foundIn(hour.answers.join('\n'), secrets)).toEqual([]);
    expect(await kept(gateway, secrets)).toEqual([]);
    await expectPrivate(gateway);
    await expectWholeLines(gateway, coordinator.output);
  }, 60_000);
});

/** Secrets that lie as they are in a file of the data folder or of a backup. */
async function kept(gateway: ProcessGateway, secrets: Secrets): Promise<string[]> {
  const backup = join(gateway.folder, 'backup.tar');
  expectOk(await gateway.admin('backup', '-o', backup));
  const files = [...(await filesBelow(gateway.dataDir)), backup];
  const found = files.map(async (file) =>
    foundIn((await readFile(file)).toString('latin1'), secrets).map((name) => `${file}: ${name}`),
  );
  return (await Promise.all(found)).flat();
}

/** Other users of either machine can open nothing. */
async function expectPrivate(gateway: ProcessGateway): Promise<void> {
  expect(await modeOf(gateway.dataDir)).toBe(0);
  const files = [
    adminSocketPath(gateway.dataDir),
    join(gateway.folder, 'backup.tar'),
    `${gateway.configOf('den-pc')}.token`,
  ];
  for (const file of files) expect(await modeOf(file), file).toBe(0);
}

/** What the group and all others may do with it. */
async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o077;
}

/** Callers' text in a path, a header or a name starts no line of its own. */
async function expectWholeLines(
  gateway: ProcessGateway,
  output: { readonly stderr: string },
): Promise<void> {
  const forged = '%0a{"level":30,"msg":"forged"}%0d%0a';
  await gateway.fetch(`/v1/models/${forged}`, { headers: { 'user-agent': `x${forged}` } });
  await post(gateway, chat({ model: 'a\n{"msg":"forged"}\u001b[31m\u2028' }));
  await until(() => output.stderr.includes('u001b[31m'), { what: 'the line of the last request' });
  const lines = output.stderr.trim().split('\n');
  expect(lines.filter((line) => !line.startsWith('{"level":'))).toEqual([]);
  const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(messages).not.toContain('forged');
  expect(output.stderr).not.toContain('\u001b');
}

describe('an answer that contains a secret', () => {
  let gateway: TestGateway;
  let answers: Readonly<Record<string, Response>>;

  beforeAll(async () => {
    gateway = await openGateway();
    answers = await allTold();
  });

  afterAll(() => gateway.stop());

  async function allTold(): Promise<typeof answers> {
    const send = ({ path, ...init }: Sent) => fetch(`${gateway.address}${path}`, init);
    const anna = await visitAgain(gateway, 'anna@example.org');
    const change = (name: string, args: object) =>
      anna.fetch(`/api/console/v1/my/${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(args),
      });
    const token = await invite(gateway);
    const newKey = await change('key.create', { name: 'a', scope: 'any', expires_in_s: null });
    const { id } = (await newKey.clone().json()) as { id: string };
    const newToken = await change('token.create', { name: null, expires_in_s: 60, replace: null });
    const { token: joinToken } = (await newToken.clone().json()) as { token: string };
    const enrolling = {
      path: '/agent/v1/enroll',
      method: 'POST',
      headers: { authorization: `Bearer ${joinToken}`, 'content-type': 'application/json' },
      body: '{}',
    };
    const asked = await send(asking({ name: 'porch-pc' }));
    const device = (await asked.clone().json()) as DeviceLogIn;
    await gateway.admin('device.approve', { code: device.user_code, owner: 'Anna' });
    return {
      'a new key': newKey,
      'a rotated key': await change('key.rotate', { key: id, overlap_s: 0 }),
      'a join token': newToken,
      'the token of an agent': await send(enrolling),
      'a device code': asked,
      'the token of a machine that was let in': await send(polling(device.device_code)),
      'the first key of a member': await send(
        joining({ token, name: 'Visitor', password: PASSWORD, key_name: 'laptop' }),
      ),
    };
  }

  it.each([
    'a new key',
    'a rotated key',
    'a join token',
    'the token of an agent',
    'a device code',
    'the token of a machine that was let in',
    'the first key of a member',
  ])('has Cache-Control: no-store: %s', async (name) => {
    const response = answers[name];
    expect(await response?.text()).toMatch(/gw[kadj]_\w{40}/);
    expect(response?.headers.get('cache-control')).toBe('no-store');
    expect(response?.headers.get('access-control-allow-origin')).toBeNull();
  });
});

it('a key that a local server repeats in an error reaches no caller', async () => {
  const gateway = await startGateway();
  const said = { error: { message: `Incorrect API key provided: ${LOCAL_KEY}` } };
  const local = await startFakeOpenAi({ behaviour: reply(401, said) });
  onTestFinished(() => local.close());
  await gateway.startAgent({ services: [{ baseUrl: local.baseUrl, apiKey: LOCAL_KEY }] });
  const failure = await failureOf(await post(gateway, chat()));
  expect(failure).toMatchObject({ status: 502, code: 'provider_auth_failed' });
  expect(failure.message).not.toContain(LOCAL_KEY);
});

it('a wrong key gets the same answer however much of it is right', async () => {
  const gateway = await startGateway();
  // Only hashes are compared, so that no prefix of a key can be found out by time.
  const { key } = gateway.anna;
  const near = `${key.slice(0, -7)}${newSecret('gwk').slice(-7)}`;
  for (const one of [near, key.slice(0, -1), `${key}0`, key.toUpperCase(), newSecret('gwk')]) {
    const headers = { authorization: `Bearer ${one}` };
    const failure = await failureOf(await gateway.fetch('/v1/models', { headers }));
    expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const shown = failure.message.replace(one.slice(0, 8), '');
    expect(shown).toBe("'…' is not a valid API key. Check that it is whole.");
  }
});
