import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { loadConfig, locateConfig } from '@inference-gateway/agent/config/config';
import { editConfigFile } from '@inference-gateway/agent/config/file';
import { parseConfig } from '@inference-gateway/agent/config/schema';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LLM = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:8080/v1' };

beforeEach(() => {
  const saved = { ...process.env };
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('GATEWAY_AGENT_')) delete process.env[name];
  }
  onTestFinished(() => {
    process.env = saved;
  });
});

/** A configuration file with this content in its own folder. */
async function configFile(content: unknown): Promise<string> {
  const file = join(await temporaryFolder(), 'config.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

async function load(content: unknown) {
  return loadConfig(locateConfig(await configFile(content)));
}

async function refusal(promise: Promise<unknown>): Promise<CommandError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof CommandError) return error;
  throw new Error(`expected a CommandError, got ${String(error)}`);
}

test('a type that the backend does not serve is told', async () => {
  const services = [
    { ...LLM, type: 'tts', backend: 'ollama' },
    { ...LLM, type: 'llm', backend: 'kokoro' },
    { ...LLM, type: 'stt', backend: 'speaches' },
  ];
  const { message } = await refusal(load({ services }));
  expect(
    message
      .split('\n')
      .slice(1)
      .map((line) => line.trim()),
  ).toEqual([
    'services[0].type is "tts": backend ollama serves llm and embedding alone',
    'services[1].type is "llm": backend kokoro serves tts alone',
  ]);
});

test('a service has every default filled in', async () => {
  const { services } = await load({ services: [LLM] });
  expect(services).toEqual([
    {
      id: 'llm-e4a5c9a0',
      type: 'llm',
      backend: 'openai',
      baseUrl: 'http://127.0.0.1:8080/v1',
      apiKey: null,
      slots: null,
      slotGroup: null,
      models: null,
      dropFields: [],
      foreign: true,
      hours: null,
      prove: false,
      workflows: [],
      modelsFolder: null,
    },
  ]);
});

test.each([
  [undefined, null],
  ['ffmpeg7', 'ffmpeg7'],
  ['/opt/ffmpeg', '/opt/ffmpeg'],
])('ffmpeg %j is %j', async (written, wanted) => {
  const { ffmpeg } = await load(written === undefined ? {} : { ffmpeg: written });
  expect(ffmpeg).toBe(wanted);
});

test('ffmpeg lies relative to the configuration', async () => {
  const file = await configFile({ ffmpeg: './bin/ffmpeg' });
  const { ffmpeg } = await loadConfig(locateConfig(file));
  expect(ffmpeg).toBe(join(dirname(file), 'bin/ffmpeg'));
});

test('a model may name its voices', async () => {
  const models = [{ id: 'kokoro', voices: ['anna'] }];
  const { services } = await load({ services: [{ ...LLM, type: 'tts', models }] });
  expect(services[0]?.models).toMatchObject([{ id: 'kokoro', voices: ['anna'] }]);
});

test('a service takes every setting that the file can hold', async () => {
  const model = { id: 'whisper', served_name: 'w', supported_features: ['timestamps'] };
  const service = {
    ...LLM,
    type: 'stt',
    slots: 4,
    slot_group: 'gpu0',
    models: [{ ...model, context_length: 448, input_modalities: ['audio'] }, { id: 'plain' }],
    prove: true,
    id: 'ears',
    foreign: false,
    drop_fields: ['seed'],
  };
  const { services, logLevel } = await load({ log_level: 'debug', services: [service] });
  expect(logLevel).toBe('debug');
  expect(services[0]).toMatchObject({
    id: 'ears',
    slots: 4,
    slotGroup: 'gpu0',
    foreign: false,
    dropFields: ['seed'],
    models: [
      {
        id: 'whisper',
        servedName: 'w',
        contextLength: 448,
        inputModalities: ['audio'],
        supportedFeatures: ['timestamps'],
      },
      {
        id: 'plain',
        servedName: 'plain',
        contextLength: null,
        inputModalities: null,
        supportedFeatures: null,
      },
    ],
  });
});

test('a trailing slash changes neither the base URL nor the id that shares bind to', async () => {
  const plain = await load({ services: [LLM] });
  const slashed = await load({ services: [{ ...LLM, base_url: `${LLM.base_url}/` }] });
  expect(slashed.services).toEqual(plain.services);
});

test('all problems are told at once, those of the environment too', async () => {
  process.env['GATEWAY_AGENT_URL'] = 'http://example.org';
  process.env['GATEWAY_AGENT_LOG_LEVEL'] = 'loud';
  process.env['GATEWAY_AGENT_LOG_FORMAT'] = 'prety';
  const broken = { ...LLM, slots: 0, colour: 'red' };
  const twins = [
    { ...LLM, id: 'a', api_key_file: 'gone.key' },
    { ...LLM, id: 'a' },
  ];
  const { exitCode, message } = await refusal(load({ nam: 'x', services: [broken, ...twins] }));
  expect(exitCode).toBe(2);
  expect(message).toContain('has 8 problems:');
  for (const part of [
    'nam is unknown: did you mean name?',
    'services[0].slots is 0',
    'services[0].colour is unknown',
    'services[2].id is "a" like that of services[1]',
    'GATEWAY_AGENT_URL is "http://example.org"',
    'GATEWAY_AGENT_LOG_LEVEL is "loud": allowed values are trace,',
    'GATEWAY_AGENT_LOG_FORMAT is "prety": allowed values are json, pretty. Did you mean pretty?',
    'api_key_file cannot be read',
  ]) {
    expect(message).toContain(part);
  }
});

const GIB = 1024 ** 3;

test('models are managed only if the owner says so, with limits of disk space', async () => {
  const off = { manage: false, deleteAll: false, unstoppablePulls: false };
  const file = await configFile({ services: [LLM] });
  expect((await loadConfig(locateConfig(file))).models).toEqual({
    ...off,
    maxBytes: 100 * GIB,
    minFreeBytes: 20 * GIB,
  });
  const on = { manage_models: true, models_max_gb: 0.5, models_min_free_gb: 0 };
  const written = await configFile({ ...on, services: [{ ...LLM, models_folder: 'models' }] });
  const { models, services } = await loadConfig(locateConfig(written));
  expect(models).toEqual({ ...off, manage: true, maxBytes: GIB / 2, minFreeBytes: 0 });
  expect(services[0]?.modelsFolder).toBe(join(dirname(written), 'models'));
  process.env['GATEWAY_AGENT_MANAGE_MODELS'] = 'false';
  process.env['GATEWAY_AGENT_DELETE_MODELS'] = 'true';
  process.env['GATEWAY_AGENT_MODELS_MAX_GB'] = '2.5';
  process.env['GATEWAY_AGENT_UNSTOPPABLE_PULLS'] = 'true';
  expect((await loadConfig(locateConfig(written))).models).toMatchObject({
    manage: false,
    deleteAll: true,
    maxBytes: 2.5 * GIB,
    unstoppablePulls: true,
  });
  process.env['GATEWAY_AGENT_MANAGE_MODELS'] = 'yes';
  process.env['GATEWAY_AGENT_MODELS_MIN_FREE_GB'] = '-1';
  const { message } = await refusal(loadConfig(locateConfig(written)));
  expect(message).toContain('GATEWAY_AGENT_MANAGE_MODELS is "yes": allowed values are true, false');
  expect(message).toContain('GATEWAY_AGENT_MODELS_MIN_FREE_GB is "-1": it must be a number from 0');
});

test('a file that is not JSON exits 2 and is named', async () => {
  const file = await configFile('{ "url": ');
  const { exitCode, message } = await refusal(loadConfig(locateConfig(file)));
  expect(exitCode).toBe(2);
  expect(message).toContain(`${file} is not JSON`);
});

test('a named file that is missing exits 3, named by flag or environment', async () => {
  const file = join(await temporaryFolder(), 'none.json');
  expect((await refusal(loadConfig(locateConfig(file)))).exitCode).toBe(3);
  process.env['GATEWAY_AGENT_CONFIG'] = file;
  const { exitCode, message } = await refusal(loadConfig(locateConfig(undefined)));
  expect(exitCode).toBe(3);
  expect(message).toContain(file);
});

test('a key file is read from the folder of the configuration', async () => {
  const file = await configFile({ services: [{ ...LLM, api_key_file: 'keys/llm.key' }] });
  await mkdir(join(dirname(file), 'keys'));
  await writeFile(join(dirname(file), 'keys', 'llm.key'), ' sk-local\n');
  const { services } = await loadConfig(locateConfig(file));
  expect(services[0]?.apiKey).toBe('sk-local');
});

test('a missing key file alone exits 3 and is named with its service', async () => {
  const services = [LLM, { ...LLM, id: 'b', api_key_file: 'none.key' }];
  const { exitCode, message } = await refusal(load({ services }));
  expect(exitCode).toBe(3);
  expect(message).toMatch(/services\[1\]\.api_key_file cannot be read: .*none\.key/);
});

test('the environment goes before the file, and an empty variable counts as absent', async () => {
  const file = await configFile({ url: 'https://file.example.org', name: 'file' });
  await writeFile(`${file}.token`, 'gwa_file\n');
  const fromFile = { url: 'https://file.example.org', name: 'file', token: 'gwa_file' };
  process.env['GATEWAY_AGENT_NAME'] = '';
  expect(await loadConfig(locateConfig(file))).toMatchObject(fromFile);
  process.env['GATEWAY_AGENT_URL'] = 'wss://env.example.org/';
  process.env['GATEWAY_AGENT_NAME'] = 'env';
  process.env['GATEWAY_AGENT_TOKEN'] = 'gwa_env';
  process.env['GATEWAY_AGENT_LOG_LEVEL'] = 'warn';
  process.env['GATEWAY_AGENT_LOG_FORMAT'] = 'pretty';
  expect(await loadConfig(locateConfig(file))).toMatchObject({
    url: 'https://env.example.org',
    name: 'env',
    token: 'gwa_env',
    logLevel: 'warn',
    logFormat: 'pretty',
  });
});

test('without a file there are defaults, and nothing is enrolled', async () => {
  process.env['XDG_CONFIG_HOME'] = await temporaryFolder();
  const config = await loadConfig(locateConfig(undefined));
  expect(config).toMatchObject({ url: null, token: null, name: null, services: [] });
  expect(config).toMatchObject({ logLevel: 'info', logFormat: null });
});

test.each(['http://localhost:7070', 'ws://127.3.2.1', 'http://[::1]:7070/', 'https://x.example'])(
  'the coordinator may be at %s',
  (url) => {
    expect(parseConfig({ url }).problems).toEqual([]);
  },
);

test('a change keeps the indentation and the order of what it does not touch', async () => {
  const file = await configFile('{\n\t"services": [],\n\t"name": "den"\n}');
  await editConfigFile(locateConfig(file), (document) => {
    document['name'] = 'attic';
  });
  expect(await readFile(file, 'utf8')).toBe('{\n\t"services": [],\n\t"name": "attic"\n}\n');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a change that would break the file is refused, and the file stays as it is', async () => {
  const file = await configFile('{"services":[]}');
  const change = editConfigFile(locateConfig(file), (document) => {
    document['services'] = [LLM, LLM];
  });
  expect((await refusal(change)).message).toContain('services[1].id is "llm-e4a5c9a0"');
  expect(await readFile(file, 'utf8')).toBe('{"services":[]}');
});

test('a change follows a link to the file behind it', async () => {
  const file = await configFile({ name: 'den' });
  const link = join(dirname(file), 'link.json');
  await symlink(file, link);
  await editConfigFile(locateConfig(link), (document) => {
    document['name'] = 'attic';
  });
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ name: 'attic' });
});
