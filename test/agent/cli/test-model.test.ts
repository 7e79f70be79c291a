/** `gateway-agent test MODEL`, by the running agent and without one. */
import { decodeStatusReport } from '@inference-gateway/agent/cli/reports';
import { askAgent } from '@inference-gateway/agent/state/control';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { answer, hangBeforeHeaders, reply } from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ScriptedCoordinator } from '../link/scripted-coordinator.js';
import { agentHome, deadOrigin } from './agent-program.js';
import type { Home } from './agent-program.js';

/** Each starts several processes. */
vi.setConfig({ testTimeout: 60_000 });

const BROKEN = reply(500, { error: { message: 'out of memory' } });

test('a model that works is told with what came and how long it took', async () => {
  const { home } = await homeWith({ behaviour: answer({ text: 'one two' }) });
  const run = await command(home, 'tiny', '--json');
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(run.stdout)).toEqual({
    model: 'tiny',
    service: 'llm-1',
    type: 'llm',
    ok: true,
    first_byte_ms: expect.any(Number),
    ms: expect.any(Number),
    tokens: 2,
    bytes: expect.any(Number),
    seconds: null,
    reason: null,
    cut: null,
  });
  const readable = await command(home, 'tiny');
  expect(readable.stdout).toMatch(/^model +tiny\nservice +llm-1 \(llm\)\nok +yes\n/);
  expect(readable.stdout).toMatch(/came +2 tokens, \d+ bytes\n/);
});

test('a wrong answer exits 9 with the reason', async () => {
  const { home } = await homeWith({ behaviour: BROKEN });
  const { code, stdout, stderr } = await command(home, 'tiny', '--json');
  expect(code).toBe(9);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, first_byte_ms: expect.any(Number) });
  expect(stderr).toMatch(/^error: tiny of llm-1 did not pass: .*out of memory/);
});

test('an unknown model or service exits 3 with what was meant, and no service at all', async () => {
  const { home } = await homeWith();
  const model = await command(home, 'tinny');
  expect(model).toMatchObject({ code: 3, stdout: '' });
  expect(model.stderr).toBe('error: no model "tinny" here: did you mean tiny?\n');
  const service = await command(home, 'tiny', '--service', 'lm-1');
  expect(service).toMatchObject({ code: 3, stdout: '' });
  expect(service.stderr).toContain('did you mean llm-1?');
  await home.enrolAt('http://127.0.0.1:9', []);
  const none = await command(home, 'tiny');
  expect(none).toMatchObject({ code: 3, stdout: '' });
  expect(none.stderr).toContain('services scan --add');
});

test('a local server that is not there exits 6', async () => {
  const home = await agentHome();
  await home.enrolAt('http://127.0.0.1:9', [service(`${await deadOrigin()}/v1`)]);
  const { code, stdout, stderr } = await command(home, 'tiny');
  expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
  expect(stderr).toMatch(/^error: llm-1 at http:.* does not serve: .*ECONNREFUSED/);
});

test('a model that fails is shown to its owner alone, until it passes a test', async () => {
  const { home, server, coordinator } = await homeWith({ behaviour: BROKEN, prove: true });
  const program = home.start(['start', '--config', home.configFile]);
  await program.printed(/online as (.*)/);
  const link = await coordinator.link(0);
  await until(async () => JSON.stringify(await held(home)).includes('failed'));
  expect(await held(home)).toEqual([
    { id: 'tiny', state: 'failed', reason: expect.stringContaining('out of memory') },
  ]);
  link.open(1);
  expect(await link.lastWord(1)).toMatchObject({ t: 'REJECT', reason: 'no_model' });
  const { stdout } = await home.run(['status', '--config', home.configFile]);
  expect(stdout).toMatch(/tiny failed its test: .*out of memory/);
  server.behave(answer());
  const before = link.all('SERVICES').length;
  expect(await command(home, 'tiny')).toMatchObject({ code: 0 });
  expect(await held(home)).toEqual([]);
  await until(() => link.all('SERVICES').length > before);
  expect(link.all('SERVICES').at(-1)?.services[0]?.models[0]?.id).toBe('tiny');
});

test('a pause keeps models from being proven, and ends what is asked', async () => {
  const { home, server } = await homeWith({ behaviour: hangBeforeHeaders(), prove: true });
  const program = home.start(['start', '--config', home.configFile]);
  await program.printed(/online as (.*)/);
  await until(() => server.requests.length === 1);
  await home.run(['pause', '--config', home.configFile]);
  await until(() => server.aborts.length === 1);
  server.behave(answer());
  expect(await held(home)).toEqual([{ id: 'tiny', state: 'proving', reason: null }]);
  await home.run(['resume', '--config', home.configFile]);
  await until(async () => (await held(home)).length === 0);
});

interface Scene {
  readonly behaviour?: Parameters<FakeModelServer['behave']>[0];
  readonly prove?: boolean;
}

async function homeWith({ behaviour = answer(), prove = false }: Scene = {}) {
  const home = await agentHome();
  const server = await startFakeOpenAi({ behaviour });
  onTestFinished(() => server.close());
  const coordinator = await new ScriptedCoordinator().listen();
  await home.enrolAt(coordinator.origin, [service(server.baseUrl, prove)]);
  return { home, server, coordinator };
}

function service(baseUrl: string, prove = false): object {
  return { id: 'llm-1', type: 'llm', backend: 'openai', base_url: baseUrl, prove };
}

function command(home: Home, ...args: string[]) {
  return home.run(['test', ...args, '--config', home.configFile]);
}

/** The models that the running agent does not offer. */
async function held(home: Home): Promise<object[]> {
  const answer = await askAgent(`${home.configFile}.state`, 'status');
  return decodeStatusReport(answer?.result).services[0]?.held_back ?? [];
}
