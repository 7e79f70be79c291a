import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEveryServer } from '../../support/every-server.js';
import { startFakeOllama, startFakeOpenAi } from '../../support/fake-openai-server.js';
import { startKoboldCpp } from '../../support/local-servers/koboldcpp.js';
import { startLlamaServer } from '../../support/local-servers/llama-server.js';
import { startTabbyApi, TABBY_KEY } from '../../support/local-servers/tabbyapi.js';
import { watchServers } from '../../support/server-watch.js';
import { agentHome, deadOrigin } from './agent-program.js';

interface ScanRow {
  readonly id: string | null;
  readonly server: string;
  readonly type: string;
  readonly base_url: string;
  readonly models: readonly { id: string; context_length: number | null; loaded: boolean }[];
  readonly configured: boolean;
  readonly needs_key: boolean;
  readonly note: string | null;
}

interface Entry {
  readonly type: string;
  readonly backend: string;
  readonly prove?: boolean;
  readonly slot_group?: string;
  readonly models?: readonly { id: string }[];
}

/** A home with a configuration, and scans from there. */
async function homeWith(config: unknown = {}) {
  const home = await agentHome();
  await home.writeConfig(config);
  const scan = (...args: string[]) =>
    home.run(['services', 'scan', '--config', home.configFile, ...args]);
  const rows = async (...args: string[]) =>
    JSON.parse((await scan('--json', ...args)).stdout) as ScanRow[];
  const added = async () => ((await home.readConfig())['services'] ?? []) as Entry[];
  return { home, scan, rows, added };
}

async function started<Fake extends { readonly port: number; close(): Promise<void> }>(
  starting: Promise<Fake>,
) {
  const fake = await starting;
  onTestFinished(() => fake.close());
  return { fake, port: String(fake.port) };
}

test('a scan shows what each of all servers serves, and sends none of them anything', async () => {
  const servers = await startEveryServer();
  const { home, scan, rows, added } = await homeWith();
  const ports = servers.map(({ port }) => String(port));
  const watch = watchServers();
  const found = await rows('--port', ...ports);
  expect(watch.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(new Set(watch.mostAtOnce.values())).toEqual(new Set([1]));
  expect(new Set(found.map(({ id, base_url: url }) => id ?? url)).size).toBe(found.length);

  // A model each, but for those that want a key, or that are of no use to others.
  const silent = found.filter(({ models }) => models.length === 0);
  expect(new Set(silent.map(({ note }) => note?.replace(/^http\S+/, 'it')))).toEqual(
    new Set([
      'found, needs key',
      'found, but not usable with this version',
      'passes calls on to servers elsewhere, and is never offered: add its servers instead',
      'it has no model loaded. See in its log why, and start it again.',
    ]),
  );
  expect(found.filter(({ note }) => note === null).length).toBeGreaterThan(35);

  const result = await scan('--add', '--port', ...ports);
  const entries = await added();
  const usable = found.filter(({ id, needs_key: needsKey }) => id !== null && !needsKey);
  expect(entries).toHaveLength(usable.length);
  expect(entries.every(({ prove }) => prove === true)).toBe(true);
  expect(result.stderr.match(/wants a key/g)).toHaveLength(
    found.filter(({ needs_key: needsKey }) => needsKey).length,
  );
  // Where only the names tell what models do, they are named.
  expect(entries.filter(({ models }) => models !== undefined)).toHaveLength(4);
  expect(new Set(entries.map(({ slot_group: group }) => group?.replace(/\d+$/, '')))).toEqual(
    new Set([undefined, 'koboldcpp-', 'llama-swap-']),
  );

  expect((await scan('--add', '--port', ...ports)).stderr).toContain('Nothing to add.');
  expect(await added()).toEqual(entries);
  const again = await rows('--port', ...ports);
  expect(again.filter(({ configured }) => configured)).toHaveLength(entries.length);
  expect((await home.run(['services', 'list', '--config', home.configFile])).code).toBe(0);
}, 60_000);

test('models come with the context that is served, and whether they are loaded', async () => {
  const { port } = await started(startLlamaServer());
  const { rows, scan } = await homeWith();
  expect(await rows('--port', port)).toEqual([
    {
      id: expect.stringMatching(/^llm-[0-9a-f]{8}$/),
      server: 'llama-server',
      type: 'llm',
      backend: 'llama-server',
      base_url: `http://127.0.0.1:${port}`,
      models: [{ id: 'tiny', context_length: 1_024, loaded: true }],
      slots: 2,
      slot_group: null,
      needs_key: false,
      configured: false,
      note: null,
    },
  ]);
  const { stdout } = await scan('--port', port);
  const shown = ['tiny', '1024', 'yes', '2', 'no', '-'];
  expect(stdout.trimEnd().split('\t').slice(4)).toEqual(shown);
});

test('many models are shortened, and their contexts become a span', async () => {
  const models = [2_048, 8_192, 4_096, 4_096].map((length, i) => {
    return { id: `m${i}`, context_length: length, status: { value: i < 3 ? 'loaded' : 'no' } };
  });
  const { port } = await started(startFakeOpenAi({ models }));
  const { scan } = await homeWith();
  const cells = (await scan('--port', port)).stdout.split('\t');
  expect(cells.slice(4, 8)).toEqual(['m0, m1, m2 and 1 more', '2048 to 8192', '3 of 4', '-']);
});

test('a server whose list breaks is found, and the reason is told', async () => {
  const routes = { '/v1/models': { object: 'list', data: [] } };
  const { port } = await started(startFakeOpenAi({ routes }));
  const { rows } = await homeWith();
  const [row] = await rows('--port', port);
  expect(row).toMatchObject({ models: [], note: 'it has no model at present' });
});

test('a configured server is asked with its key, on its own port without being told', async () => {
  const { fake } = await started(startTabbyApi());
  const { home, rows } = await homeWith();
  await writeFile(join(home.folder, 'tabby.key'), TABBY_KEY);
  const service = { type: 'llm', backend: 'tabbyapi', base_url: fake.baseUrl };
  await home.writeConfig({ services: [{ ...service, api_key_file: 'tabby.key' }] });
  const found = (await rows()).filter(({ base_url: url }) => url === fake.baseUrl);
  expect(found).toMatchObject([
    { server: 'TabbyAPI', needs_key: true, configured: true, note: null, models: [{ id: 'tiny' }] },
  ]);
}, 30_000);

test('--add adds a server once, each of its types under one slot group', async () => {
  const { fake, port } = await started(startKoboldCpp());
  const { rows, scan, added } = await homeWith({ name: 'den' });
  const before = await rows('--port', port);
  expect(before.map(({ configured }) => configured)).toEqual([false, false, false, false]);
  expect(await added()).toEqual([]);
  const result = await scan('--add', '--port', port);
  const entry = { backend: 'koboldcpp', base_url: fake.baseUrl, slot_group: `koboldcpp-${port}` };
  const types = ['llm', 'stt', 'tts', 'image'];
  expect((await added()).toSorted(byType(types))).toEqual(
    types.map((type) => ({ type, ...entry, prove: true })),
  );
  for (const { id } of before) expect(result.stderr).toContain(id);
  await scan('--add', '--port', port);
  expect(await added()).toHaveLength(types.length);
});

function byType(types: readonly string[]) {
  return (a: Entry, b: Entry) => types.indexOf(a.type) - types.indexOf(b.type);
}

test('an entry of its owner with a plainer backend, or by another name, is the same', async () => {
  const { fake, port } = await started(startFakeOllama());
  const url = `http://localhost:${fake.port}/v1`;
  const services = [{ type: 'llm', backend: 'openai', base_url: url, models: [{ id: 'mine' }] }];
  const { rows, scan, added } = await homeWith({ services });
  expect(await rows('--port', port)).toMatchObject([{ server: 'Ollama', configured: true }]);
  expect((await scan('--add', '--port', port)).stderr).toContain('Nothing to add.');
  expect(await added()).toEqual(services);
});

test('a server that wants a key is told, and left to its owner', async () => {
  const { port } = await started(startFakeOpenAi({ apiKey: 'sk-local' }));
  const { home, scan } = await homeWith();
  const result = await scan('--add', '--port', port);
  expect(result.code).toBe(0);
  expect(result.stderr).toContain('--api-key-file');
  expect(result.stdout).toContain('found, needs key');
  expect(await home.readConfig()).toEqual({});
});

test('a port where nobody answers holds nothing, and no port exits 2', async () => {
  const { scan } = await homeWith();
  const nothing = await scan('--json', '--port', new URL(await deadOrigin()).port);
  expect(nothing).toMatchObject({ code: 0, stdout: '[]\n' });
  expect(nothing.stderr).toContain('No model server answers here.');
  expect((await scan('--port', '0')).code).toBe(2);
});
