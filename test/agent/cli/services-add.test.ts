import { expect, onTestFinished, test } from 'vitest';
import { bashWithPrograms } from '../../support/completion.js';
import { reply } from '../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { agentHome, deadOrigin } from './agent-program.js';

async function stage() {
  const home = await agentHome();
  await home.writeConfig({ name: 'den' });
  const server = await startFakeOpenAi({ models: ['idle', { id: 'warm', state: 'loaded' }] });
  onTestFinished(() => server.close());
  const add = (baseUrl: string, ...more: string[]) => {
    const flags = ['--type', 'llm', '--backend', 'openai', '--base-url', baseUrl];
    return home.run(['services', 'add', '--config', home.configFile, ...flags, ...more]);
  };
  return { home, server, add };
}

test('what is added is proven first, unless its owner says otherwise', async () => {
  const { home, server, add } = await stage();
  expect((await add(server.baseUrl)).stderr).toContain('It serves idle, warm.');
  await add(server.baseUrl, '--id', 'trusted', '--no-prove');
  const entry = { type: 'llm', backend: 'openai', base_url: server.baseUrl };
  expect((await home.readConfig())['services']).toEqual([
    { ...entry, prove: true },
    { id: 'trusted', ...entry },
  ]);
  expect(server.requests).toEqual([]);
});

test('--check asks a loaded model a tiny question before anything is changed', async () => {
  const { home, server, add } = await stage();
  const { code, stdout } = await add(server.baseUrl, '--check');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^llm-/) });
  expect(server.requests).toHaveLength(1);
  expect(server.lastRequest.body).toMatchObject({ model: 'warm' });
  expect(await home.readConfig()).toHaveProperty('services.length', 1);
});

test('--check exits 9 where the model fails, 6 where nobody answers', async () => {
  const { home, server, add } = await stage();
  server.behave(reply(500, { error: { message: 'out of memory' } }));
  const failed = await add(server.baseUrl, '--check');
  expect(failed).toMatchObject({ code: 9, stdout: '' });
  expect(failed.stderr).toMatch(/warm did not pass its test: .*out of memory.*Nothing was changed/);
  const gone = await add(`${await deadOrigin()}/v1`, '--check');
  expect(gone).toMatchObject({ code: 6, stdout: '' });
  expect(await home.readConfig()).toEqual({ name: 'den' });
});

test('a shell completes the types and the backends', async () => {
  const bash = await bashWithPrograms();
  const agent = 'gateway-agent';
  expect(await bash.offers(agent, 'services', 'add', '--type', 'm')).toEqual(['music']);
  expect(await bash.offers(agent, 'services', 'add', '--backend', 'lla')).toEqual([
    'llama-server',
    'llama-swap',
  ]);
}, 30_000);
