/** `gateway-agent doctor` against coordinators and local servers with one thing wrong. */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { checkSpool } from '@inference-gateway/agent/checks/files';
import { checkDns } from '@inference-gateway/agent/checks/coordinator';
import { configLocation } from '@inference-gateway/agent/config/file';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answer, reply } from '../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { fakeNvidiaSmi } from '../../support/fake-nvidia-smi.js';
import { fakeTools } from '../../support/fake-tools.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { certificateFile } from '../../support/tls-front.js';
import { deadOrigin, httpServer } from '../cli/agent-program.js';
import { faultyCoordinator, patient } from './doctor-stage.js';

/** Each starts several processes. */
vi.setConfig({ testTimeout: 60_000 });

test('a configuration is told with all its faults, and what builds on it is skipped', async () => {
  const { examine } = await patient('http://gateway.example.org', { slotz: 1 });
  const { code, failed, found, status, stderr } = await examine();
  expect({ code, failed }).toEqual({ code: 9, failed: ['configuration'] });
  expect(found('configuration')).toContain('https://gateway.example.org');
  expect(found('configuration')).toContain('slotz');
  for (const id of ['dns', 'tls', 'coordinator', 'websocket_upgrade', 'clock', 'local_servers']) {
    expect([id, status(id)]).toEqual([id, 'SKIP']);
  }
  expect(found('dns')).toBe('needs "configuration", which failed');
  expect(stderr).toMatch(/^error: 1 of \d+ failed: configuration\.\n$/);
});

test('a machine that is not enrolled is told how to join', async () => {
  const { examine, configFile } = await patient('http://127.0.0.1:9');
  await writeFile(configFile, '{}');
  await rm(`${configFile}.token`);
  const { failed, advice } = await examine();
  expect(failed).toEqual(['configuration', 'token']);
  expect(advice('configuration')).toBe(
    `Join one with: gateway-agent login --config ${configFile} --url <coordinator>`,
  );
  expect(advice('token')).toContain('gateway-agent login');
});

test('a token or a state folder that others can read fails, with how to close it', async () => {
  const { examine, configFile } = await patient(await faultyCoordinator());
  await chmod(`${configFile}.token`, 0o644);
  await mkdir(`${configFile}.state`, { mode: 0o755 });
  const { failed, advice } = await examine();
  expect(failed).toEqual(expect.arrayContaining(['token', 'state_folder']));
  expect(advice('token')).toBe(`Close it with: chmod 600 ${configFile}.token`);
  expect(advice('state_folder')).toBe(`Close it with: chmod 700 ${configFile}.state`);
});

test('where room is short it names what of its own can go, with bytes and command', async () => {
  const file = join(await temporaryFolder(), 'agent.json');
  const location = configLocation(file, true);
  const { stateDir } = location;
  await mkdir(join(stateDir, 'spool'), { recursive: true });
  await writeFile(join(stateDir, 'spool', 'one.data'), Buffer.alloc(300_000));
  await writeFile(join(stateDir, 'agent.log'), Buffer.alloc(200_000));
  await writeFile(join(stateDir, 'proofs.json'), Buffer.alloc(100_000));
  const commands = async (pid: number | null, freeBytes = 0) => {
    const facts = { connection: 'online', reason: null, streams: 0, accepts: 'all', services: [] };
    const running = pid === null ? null : { ...facts, pid };
    const { status, freeable = [] } = await checkSpool(location, running, freeBytes);
    return [status, ...freeable.map(({ bytes, command }) => [bytes, command])];
  };
  const log = [200_000, `: > ${stateDir}/agent.log`];
  expect(await commands(null)).toEqual([
    'FAIL',
    [300_000, `gateway-agent start --config ${file}`],
    log,
    [100_000, `rm ${stateDir}/proofs.json`],
  ]);
  const asked = [300_000, `gateway-agent jobs --config ${file}`];
  expect(await commands(1)).toEqual(['FAIL', asked, log]);
  expect(await commands(1, 100 * 1024 ** 2)).toEqual(['WARN', asked, log]);
  expect(await commands(1, 2 * 1024 ** 3)).toEqual(['PASS']);
});

test.each([
  ['ENOTFOUND', 'no DNS server knows the name (ENOTFOUND)', 'name is right'],
  ['EAI_AGAIN', 'no DNS server answers (EAI_AGAIN)', 'DNS server is there'],
  [undefined, 'no answer within 5 s', 'machine is online'],
])('a look-up that fails with %s says why', async (code, why, advice) => {
  const error = Object.assign(new Error(why), code !== undefined && { code });
  const check = await checkDns('https://gateway.example.org', () => Promise.reject(error));
  expect(check).toMatchObject({
    status: 'FAIL',
    found: `gateway.example.org is not found: ${why}`,
    advice: expect.stringContaining(advice),
  });
  expect(check.advice).toMatch(/: nslookup gateway\.example\.org$/);
});

test('a name that nobody knows fails, and what stands behind it is not tried', async () => {
  const { examine } = await patient('https://gateway.invalid');
  const { failed, status, found } = await examine();
  expect(failed).toEqual(['dns']);
  expect(found('dns')).toContain('gateway.invalid is not found');
  expect(status('tls')).toBe('SKIP');
  expect(found('websocket_upgrade')).toBe('needs "dns", which failed');
});

test('a coordinator that is gone fails, and so does another server in its place', async () => {
  const gone = await (await patient(await deadOrigin())).examine();
  expect(gone.failed).toEqual(['coordinator']);
  expect(gone.found('coordinator')).toContain('ECONNREFUSED');
  expect(gone.found('clock')).toBe('needs "coordinator", which failed');
  const elsewhere = await faultyCoordinator({ health: 302 });
  const moved = await (await patient(elsewhere)).examine();
  expect(moved.failed).toEqual(['coordinator']);
  expect(moved.found('coordinator')).toContain('it redirects to /elsewhere');
});

test('an upgrade that is refused is told by its status', async () => {
  for (const [upgrade, link, auth, remedy] of [
    [401, 'PASS', 'FAIL', 'gateway-agent login --force'],
    [403, 'PASS', 'FAIL', 'gateway-coordinator user enable'],
    [404, 'FAIL', 'SKIP', 'gateway-coordinator doctor'],
    [426, 'FAIL', 'SKIP', 'gateway-agent version --check'],
    [502, 'FAIL', 'SKIP', 'gateway-coordinator doctor'],
    [503, 'WARN', 'SKIP', 'Try again'],
  ] as const) {
    const { examine } = await patient(await faultyCoordinator({ upgrade }));
    const { status, advice } = await examine();
    const seen = [upgrade, status('websocket_upgrade'), status('authorisation')];
    expect(seen).toEqual([upgrade, link, auth]);
    expect(advice('websocket_upgrade') + advice('authorisation')).toContain(remedy);
  }
});

test('clocks that differ are a warning, and by more than five minutes a failure', async () => {
  for (const [seconds, expected, says] of [
    [0, 'PASS', /agrees/],
    // The header has whole seconds, and on its way time passes.
    [-90, 'WARN', /^(89|9\d) s ahead of/],
    [600, 'FAIL', /^(59\d|600) s behind/],
  ] as const) {
    const url = await faultyCoordinator({ leadMs: seconds * 1_000 });
    const { status, found } = await (await patient(url)).examine();
    expect(status('clock')).toBe(expected);
    expect(found('clock')).toMatch(says);
  }
});

test('a certificate is told by what is wrong with it', async () => {
  const untrusted = await (await patient(await faultyCoordinator({ tls: 'good' }))).examine();
  expect(untrusted.failed).toEqual(['tls', 'coordinator']);
  expect(untrusted.found('tls')).toContain('its certificate is self-signed');
  expect(untrusted.advice('tls')).toContain('NODE_EXTRA_CA_CERTS=');
  for (const [tls, expected, says] of [
    ['good', 'PASS', /^valid for \d+ more days, by Test gateway$/],
    ['expired', 'FAIL', /has expired/],
    ['elsewhere', 'FAIL', /is for another address/],
  ] as const) {
    const { examine } = await patient(await faultyCoordinator({ tls }));
    const { status, found, advice } = await examine({ NODE_EXTRA_CA_CERTS: certificateFile(tls) });
    expect(found('tls')).toMatch(says);
    expect(status('tls')).toBe(expected);
    // Whom to trust is no remedy for a certificate that is over or another's.
    if (expected === 'FAIL') expect(advice('tls')).toMatch(/^The admin of the coordinator renews/);
  }
});

test('a proxy is told by the name of its variable alone', async () => {
  const { examine } = await patient(await faultyCoordinator());
  expect((await examine()).status('proxy')).toBe('PASS');
  const { status, found } = await examine({ https_proxy: 'http://me:secret@proxy:3128' });
  expect(status('proxy')).toBe('WARN');
  expect(found('proxy')).toBe('https_proxy is set, and not used for the link');
});

test('each local server is asked, and one of its models', async () => {
  const good = await localServer();
  const wrong = await localServer(reply(500, { error: { message: 'out of memory' } }));
  const empty = await startFakeOpenAi({ models: [] });
  onTestFinished(() => empty.close());
  const services = [
    service('good', good.baseUrl),
    service('wrong', wrong.baseUrl),
    service('empty', empty.baseUrl),
    service('gone', `${await deadOrigin()}/v1`),
    { ...service('films', good.baseUrl), type: 'video' },
    service('silent', `${await httpServer(() => undefined)}/v1`),
  ];
  const { examine } = await patient(await faultyCoordinator(), { services });
  const { failed, status, found, advice } = await examine();
  expect(failed).toEqual(['authorisation', 'test_call_wrong', 'server_gone', 'server_silent']);
  expect(found('test_call_good')).toMatch(/^tiny answered in \d+ ms$/);
  expect(found('test_call_wrong')).toContain('out of memory');
  expect(advice('test_call_wrong')).toMatch(/gateway-agent test tiny --service wrong$/);
  expect(status('server_empty')).toBe('WARN');
  expect(status('test_call_gone')).toBe('SKIP');
  expect(found('test_call_films')).toContain('gateway-agent test tiny --service films');
  expect(good.requests).toHaveLength(1);
});

test('a card and its driver are told, and while somebody uses it no model is asked', async () => {
  const server = await localServer();
  const services = [service('llm-1', server.baseUrl)];
  const config = { services, game_mode: { enabled: true } };
  const { examine } = await patient(await faultyCoordinator(), config);
  const smi = await fakeNvidiaSmi();
  const environment = { PATH: `${smi.folder}:${process.env['PATH']}` };
  await smi.load(87);
  const busy = await examine(environment);
  expect(busy.found('gpu')).toMatch(/^Fake RTX, 24 GiB, driver 550.54.14; nvidia-smi took \d+ ms$/);
  expect(busy.status('test_call_llm-1')).toBe('SKIP');
  expect(busy.found('test_call_llm-1')).toBe('the graphics card is in use (87 %)');
  expect(server.requests).toEqual([]);
  await smi.load(3);
  expect((await examine(environment)).status('test_call_llm-1')).toBe('PASS');
});

test('a driver that is slow is a warning, and so is a machine without a card', async () => {
  const slow = await fakeTools({
    'nvidia-smi': "sleep 1.1; echo '0, a, Slow, 1024, 1, 0, 550, 8.9'",
  });
  const { examine } = await patient(await faultyCoordinator());
  const { status, advice } = await examine({ PATH: slow.folder });
  expect(status('gpu')).toBe('WARN');
  expect(advice('gpu')).toBe('Keep the driver awake with: sudo nvidia-smi -pm 1');
  const none = await examine({ PATH: await temporaryFolder() });
  expect(none.found('gpu')).toBe('no graphics card is seen');
});

test('ffmpeg need not be there; a named one must run', async () => {
  const server = await localServer(reply(200, { text: '' }));
  const hearing = { services: [{ ...service('stt-1', server.baseUrl), type: 'stt' }] };
  const url = await faultyCoordinator();
  const environment = { PATH: await temporaryFolder() };
  const deaf = await (await patient(url)).examine(environment);
  expect(deaf.found('ffmpeg')).toBe('not installed, not needed');
  const needed = await (await patient(url, hearing)).examine(environment);
  expect(needed.status('ffmpeg')).toBe('PASS');
  expect(needed.found('ffmpeg')).toBe('not installed: sounds are converted by what is built in');
  const named = await (await patient(url, { ffmpeg: './none' })).examine();
  expect(named.failed).toContain('ffmpeg');
  const plain = await fakeTools({ ffmpeg: 'echo ffmpeg version 9.9-test' });
  const silent = await (await patient(url, hearing)).examine({ PATH: plain.folder });
  expect(silent.found('ffmpeg')).toBe('9.9-test, without Opus, which is built in');
});

test('the advice of every failure ends with a command', async () => {
  const services = [service('gone', `${await deadOrigin()}/v1`)];
  const { examine, configFile } = await patient(await deadOrigin(), { services, ffmpeg: './none' });
  await chmod(`${configFile}.token`, 0o644);
  const { failed, advice } = await examine();
  expect(failed).toEqual(['token', 'coordinator', 'server_gone', 'ffmpeg']);
  for (const id of failed)
    expect(advice(id)).toMatch(/: (chmod|gateway-agent|sudo|brew|winget) .*\S$/);
});

async function localServer(behaviour = answer()) {
  const server = await startFakeOpenAi({ behaviour });
  onTestFinished(() => server.close());
  return server;
}

function service(id: string, baseUrl: string): object {
  return { id, type: 'llm', backend: 'openai', base_url: baseUrl };
}
