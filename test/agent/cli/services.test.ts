import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { agentHome, deadOrigin, httpServer } from './agent-program.js';
import type { Home } from './agent-program.js';

/** A home with an empty configuration, and commands of `services` run in it. */
async function homeWith(config: unknown = {}) {
  const home = await agentHome();
  await home.writeConfig(config);
  const services = (...args: string[]) => {
    const [command = '', ...rest] = args;
    return home.run(['services', command, '--config', home.configFile, ...rest]);
  };
  return { home, services };
}

function add(home: Home, baseUrl: string, more: readonly string[] = []) {
  const flags = ['--type', 'llm', '--backend', 'openai', '--base-url', baseUrl];
  return home.run(['services', 'add', '--config', home.configFile, ...flags, ...more]);
}

/** A server that any OpenAI client could use; with a key, it wants that one. */
function modelServer(key: string | null = null): Promise<string> {
  return httpServer((request, response) => {
    const { authorization } = request.headers;
    const isAllowed = key === null || authorization === `Bearer ${key}`;
    const status = !isAllowed ? 401 : request.url === '/v1/models' ? 200 : 404;
    response.writeHead(status, { 'content-type': 'application/json' });
    const model = { id: 'tiny', object: 'model', created: 0, owned_by: 'somebody' };
    response.end(JSON.stringify(status === 200 ? { object: 'list', data: [model] } : {}));
  });
}

test('add prints the id, and list shows the service', async () => {
  const { home, services } = await homeWith();
  const origin = await modelServer();
  const added = await add(home, `${origin}/v1`, ['--slots', '2', '--slot-group', 'gpu0']);
  expect(added.code).toBe(0);
  expect(added.stdout).toMatch(/^llm-[0-9a-f]{8}\n$/);
  expect(added.stderr).toContain('It serves tiny.');
  expect(added.stderr).toContain('restarted');
  const list = JSON.parse((await services('list', '--json')).stdout) as unknown;
  expect(list).toEqual([
    {
      id: added.stdout.trim(),
      type: 'llm',
      backend: 'openai',
      base_url: `${origin}/v1`,
      slots: 2,
      slot_group: 'gpu0',
      api_key_file: null,
      models: null,
      workflows: null,
      prove: true,
      foreign: true,
      drop_fields: [],
      hours: null,
      shared_with: null,
      shares: null,
    },
  ]);
  expect((await services('list')).stdout.split('\t').slice(0, 3)).toEqual([
    added.stdout.trim(),
    'llm',
    'openai',
  ]);
});

test('add writes only what was given, and keeps the rest of the file', async () => {
  const { home } = await homeWith({ name: 'den', url: 'https://x.example' });
  await add(home, 'http://127.0.0.1:9/v1', ['--id', 'mine', '--model', 'a', 'b']);
  expect(await home.readConfig()).toEqual({
    name: 'den',
    url: 'https://x.example',
    services: [
      {
        id: 'mine',
        type: 'llm',
        backend: 'openai',
        base_url: 'http://127.0.0.1:9/v1',
        models: [{ id: 'a' }, { id: 'b' }],
        prove: true,
      },
    ],
  });
  expect((await stat(home.configFile)).mode & 0o777).toBe(0o600);
});

test('a server that does not answer is added with a warning', async () => {
  const { home } = await homeWith();
  const result = await add(home, `${await deadOrigin()}/v1`);
  expect(result.code).toBe(0);
  expect(result.stderr).toMatch(/^warning: http:.* does not answer as openai/m);
  expect(await home.readConfig()).toHaveProperty('services.0.type', 'llm');
});

test('with --check a server that does not answer exits 6 and changes nothing', async () => {
  const { home } = await homeWith({ name: 'den' });
  const result = await add(home, `${await deadOrigin()}/v1`, ['--check']);
  expect(result).toMatchObject({ code: 6, stdout: '' });
  expect(await home.readConfig()).toEqual({ name: 'den' });
});

test('the server is asked with its own key, from a file beside the configuration', async () => {
  const { home } = await homeWith();
  const origin = await modelServer('sk-local');
  const keyFile = join(home.folder, 'local.key');
  await writeFile(keyFile, 'sk-local\n');
  const result = await add(home, `${origin}/v1`, ['--api-key-file', keyFile]);
  expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('It serves tiny.') });
  expect(await home.readConfig()).toHaveProperty('services.0.api_key_file', 'local.key');
  expect(await readFile(home.configFile, 'utf8')).not.toContain('sk-local');
});

test('a key file that is missing exits 3', async () => {
  const { home } = await homeWith();
  const result = await add(home, 'http://127.0.0.1:9', ['--api-key-file', '/nowhere/x.key']);
  expect(result.code).toBe(3);
  expect(result.stderr).toContain('/nowhere/x.key');
});

test('all that is wrong with the flags is told at once, with exit 2', async () => {
  const { services } = await homeWith();
  const flags = ['--type', 'lm', '--backend', 'opnai', '--base-url', 'x', '--slots', 'many'];
  const result = await services('add', ...flags);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('the new service has 4 problems');
  expect(result.stderr).toContain('type is "lm"');
  expect(result.stderr).toContain('slots is "many": it must be a whole number');
});

test('the same server twice exits 2 and names the other', async () => {
  const { home } = await homeWith();
  await add(home, 'http://127.0.0.1:9/v1');
  const again = await add(home, 'http://127.0.0.1:9/v1/');
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('like that of services[0]');
});

test('remove takes a service out by its id, but only with --yes', async () => {
  const { home, services } = await homeWith();
  const id = (await add(home, 'http://127.0.0.1:9/v1')).stdout.trim();
  await add(home, 'http://127.0.0.1:9/v1', ['--id', 'other']);
  const unsure = await services('remove', id);
  expect(unsure.code).toBe(2);
  expect(unsure.stderr).toContain('--yes');
  expect((await services('remove', id, '--yes')).code).toBe(0);
  const rest = JSON.parse((await services('list', '--json')).stdout) as { id: string }[];
  expect(rest.map((service) => service.id)).toEqual(['other']);
});

test('remove of an unknown id exits 3 and names the near ones', async () => {
  const { services } = await homeWith({
    services: [{ id: 'ears', type: 'stt', backend: 'openai', base_url: 'http://127.0.0.1:9' }],
  });
  const result = await services('remove', 'eras', '--yes');
  expect(result.code).toBe(3);
  expect(result.stderr).toContain('did you mean ears?');
});
