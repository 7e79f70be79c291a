import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { detect, scanLoopback } from '@inference-gateway/agent/backends/detection/detect';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeWebUi } from '../../../support/fake-automatic1111.js';
import { answer } from '../../../support/fake-behaviours.js';
import { raw, startFakeServer } from '../../../support/fake-model-server.js';
import type { FakeModelServer, FakeServerOptions } from '../../../support/fake-model-server.js';
import {
  LLAMA_PROPS,
  startFakeLlamaServer,
  startFakeOllama,
  startFakeOpenAi,
} from '../../../support/fake-openai-server.js';
import { startFakeWhisper } from '../../../support/fake-whisper-server.js';

type Routes = FakeServerOptions['routes'];

async function started(starting: Promise<FakeModelServer>): Promise<FakeModelServer> {
  const fake = await starting;
  onTestFinished(() => fake.close());
  return fake;
}

const serving = (routes: Routes, rest: Partial<FakeServerOptions> = {}) =>
  started(startFakeServer({ routes, behaviour: answer(), ...rest }));

const all = (fake: FakeModelServer) => detect(fake.origin, AbortSignal.timeout(10_000));
const at = async (fake: FakeModelServer) => (await all(fake))[0];

const list = (owner: string) => ({ data: [{ id: 'x', object: 'model', owned_by: owner }] });
const HEALTHY = { message: 'OK' };
const ollama: Routes = {
  '/': 'Ollama is running',
  '/api/version': { version: '0.7.0' },
  '/api/tags': { models: [{ name: 'x', digest: 'd' }] },
  '/v1/models': list('library'),
};

test.each<[string, string | null, string, Routes]>([
  ['LocalAI', 'localai', '/v1', { ...ollama, '/.well-known/localai.json': { version: '3' } }],
  [
    'KoboldCpp',
    'koboldcpp',
    '/v1',
    {
      ...ollama,
      '/.well-known/serviceinfo': { software: { name: 'KoboldCpp' } },
      '/props': LLAMA_PROPS,
      '/sdapi/v1/sd-models': [],
      '/system_stats': { system: { comfyui_version: '0' } },
    },
  ],
  [
    'TabbyAPI',
    'tabbyapi',
    '/v1',
    { '/.well-known/serviceinfo': { software: { name: 'TabbyAPI' } }, '/props': LLAMA_PROPS },
  ],
  [
    'LM Studio',
    'lm-studio',
    '/v1',
    {
      '/api/v1/models': { models: [{ key: 'x', type: 'llm' }] },
      '/v1/models': list('organization_owner'),
      '*': { error: 'Unexpected endpoint or method. (GET /x)' },
    },
  ],
  ['LM Studio', 'lm-studio', '/v1', { '/api/v1/models': { models: [] }, '*': { error: 'x' } }],
  ['LM Studio', 'lm-studio', '/v1', { '/api/v0/models': { data: [{ id: 'x', state: 'loaded' }] } }],
  ['Lemonade', 'lemonade', '/v1', { ...ollama, '/v1/health': { all_models_loaded: [] } }],
  ['Ollama', 'ollama', '', ollama],
  ['Ollama', 'ollama', '', { ...ollama, '/api/tags': { models: [] } }],
  [
    'llama-swap',
    'llama-swap',
    '/v1',
    { '/running': { running: [] }, '/v1/models': list('llama-swap') },
  ],
  ['llama-server', 'llama-server', '', { '/props': { role: 'router', build_info: 'b1' } }],
  ['SGLang', 'sglang', '/v1', { '/get_model_info': { model_path: 'x' } }],
  ['vLLM', 'vllm', '/v1', { '/version': { version: '0.11' }, '/v1/models': list('vllm') }],
  ['ComfyUI', 'comfyui', '', { '/system_stats': { system: { comfyui_version: '0.3' } } }],
  ['sd-server', 'sd-server', '/v1', { '/sdcpp/v1/capabilities': {}, '/v1/models': list('local') }],
  ['Stable Diffusion web UI', 'automatic1111', '', { '/sdapi/v1/sd-models': [{ title: 'x' }] }],
  ['speaches', 'speaches', '/v1', { '/v1/audio/models': { models: [] }, '/health': HEALTHY }],
  ['OpenAI-compatible', 'openai', '/v1', { '/v1/audio/models': {}, '/v1/models': list('x') }],
  ['Kokoro-FastAPI', 'kokoro', '/v1', { '/v1/models': list('kokoro') }],
  ['OpenAI-compatible', 'openai', '/v1', { '/v1/models': list('somebody') }],
  ['Docker Model Runner', 'openai', '/engines/v1', { '/engines/v1/models': list('docker') }],
  ['unknown', null, '', { '/': 'It works!' }],
  ['unknown', null, '', { '*': { error: 'Unexpected endpoint or method.' } }],
])('%s is told by what it answers', async (...[server, backend, path, routes]) => {
  const fake = await serving(routes);
  const detected = await at(fake);
  expect(detected).toMatchObject({
    server,
    backend,
    baseUrl: fake.origin + path,
    needsKey: false,
  });
  expect(detected?.note === null).toBe(backend !== null);
  expect(fake.requests).toEqual([]);
  expect(new Set(fake.gets).size).toBe(fake.gets.length);
});

test('the usual fakes are what they say', async () => {
  expect(await at(await started(startFakeOllama()))).toMatchObject({ server: 'Ollama' });
  expect(await at(await started(startFakeLlamaServer()))).toMatchObject({ server: 'llama-server' });
  expect(await at(await started(startFakeOpenAi()))).toMatchObject({ server: 'OpenAI-compatible' });
});

test('whisper-server and llama-server differ only in a header', async () => {
  const routes = { '/health': { status: 'ok' } };
  const whisper = await serving(routes, { headers: { server: 'whisper.cpp' } });
  expect(await at(whisper)).toMatchObject({
    server: 'whisper-server',
    type: 'stt',
    backend: 'whisper-server',
    baseUrl: whisper.origin,
  });
  const llama = await serving(routes, { headers: { server: 'llama.cpp' } });
  expect(await at(llama)).toMatchObject({ server: 'llama-server', type: 'llm' });
});

test('a server behind a key is found and says so', async () => {
  const generic = await started(startFakeOpenAi({ apiKey: 'sk-x' }));
  expect(await at(generic)).toMatchObject({
    server: 'OpenAI-compatible',
    needsKey: true,
    note: 'found, needs key',
  });
  const llama = await started(startFakeLlamaServer({ apiKey: 'sk-x' }));
  expect(await at(llama)).toMatchObject({ server: 'llama-server', needsKey: true });
});

test('a web UI behind a password is found and says so', async () => {
  const webUi = await startFakeWebUi({ auth: 'me:secret' });
  onTestFinished(() => webUi.server.close());
  const [detected] = await detect(webUi.server.origin, AbortSignal.timeout(10_000));
  expect(detected).toMatchObject({
    server: 'Stable Diffusion web UI',
    type: 'image',
    backend: 'automatic1111',
    baseUrl: webUi.server.origin,
    needsKey: true,
  });
  expect(webUi.server.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test('whisper-server is found while its model loads, too', async () => {
  const whisper = await startFakeWhisper();
  onTestFinished(() => whisper.server.close());
  whisper.loading = true;
  const [detected] = await detect(whisper.server.origin, AbortSignal.timeout(10_000));
  expect(detected).toMatchObject({ backend: 'whisper-server', type: 'stt', needsKey: false });
});

function stall(): Promise<never> {
  return new Promise(() => undefined);
}

function cutOff(): never {
  throw new Error('cut off');
}

test('a server that stalls at a path, or breaks off, is found all the same', async () => {
  const routes = { '/v1/health': stall, '/running': cutOff, '/v1/models': list('kokoro') };
  expect(await at(await serving(routes))).toMatchObject({ server: 'Kokoro-FastAPI', type: 'tts' });
});

const kobold = (said: Record<string, boolean>) =>
  serving({
    '/.well-known/serviceinfo': { software: { name: 'KoboldCpp' } },
    '/api/extra/version': { result: 'KoboldCpp', ...said },
  });

test('a server of several types is one entry a type', async () => {
  const flags = { llm: true, transcribe: true, tts: false, txt2img: true, music: true };
  const several = await kobold(flags);
  const slotGroup = `koboldcpp-${several.port}`;
  expect(await all(several)).toMatchObject(
    ['llm', 'stt', 'image'].map((type) => ({ type, slotGroup, needsKey: false })),
  );
  const painter = await kobold({ llm: false, txt2img: true });
  expect(await all(painter)).toMatchObject([{ type: 'image', slotGroup: null }]);
  expect(await all(await kobold({}))).toMatchObject([{ type: 'llm', slotGroup: null }]);
  const locked = await all(await kobold({ ...flags, protected: true }));
  expect(locked).toMatchObject([{ type: 'llm', needsKey: true }]);
});

test('models whose list does not tell what they do are parted by their names', async () => {
  const ids = ['org/Llama-3', 'whisper-1', 'tts-1-hd', 'my-attsi', 'nomic-embed', 'sdxl-base'];
  const data = ids.map((id) => ({ id, object: 'model', owned_by: 'somebody' }));
  const guessed = await all(await serving({ '/v1/models': { data } }));
  expect(guessed.map(({ type, models }) => [type, models])).toEqual(
    expect.arrayContaining([
      ['llm', ['org/Llama-3', 'my-attsi']],
      ['stt', ['whisper-1']],
      ['tts', ['tts-1-hd']],
      ['image', ['sdxl-base']],
      ['embedding', ['nomic-embed']],
    ]),
  );
  expect(guessed).toHaveLength(5);
  // One type alone needs no names, so that models which come later are offered, too.
  const voices = { data: [{ id: 'tts-1', object: 'model' }] };
  expect(await all(await serving({ '/v1/models': voices }))).toMatchObject([
    { type: 'tts', models: null },
  ]);
  const told = data.map((model) => ({ ...model, service_type: 'llm' }));
  const [first, ...others] = await all(await serving({ '/v1/models': { data: told } }));
  expect([first, others]).toMatchObject([{ type: 'llm', models: null }, []]);
});

test('redirects are not followed', async () => {
  const target = await serving({ '*': list('elsewhere') });
  const location = `${target.origin}/v1/models`;
  const fake = await serving({ '*': raw({ status: 302, headers: { location } }) });
  expect(await at(fake)).toMatchObject({ server: 'unknown' });
  expect(target.gets).toEqual([]);
});

test('nobody there, or somebody who does not answer, is a failure', async () => {
  const fake = await serving({});
  await fake.close();
  await expect(at(fake)).rejects.toMatchObject({ code: 'LOCAL_UNREACHABLE' });
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const startedAt = performance.now();
  const origin = `http://127.0.0.1:${port}`;
  await expect(detect(origin, new AbortController().signal)).rejects.toMatchObject({
    code: 'LOCAL_TIMEOUT',
  });
  expect(performance.now() - startedAt).toBeLessThan(2_500);
});

test('a scan finds what listens on the ports, in their order, and drops strangers', async () => {
  const first = await started(startFakeOllama());
  const stranger = await serving({ '/': 'It works!' });
  const gone = await serving({});
  await gone.close();
  const second = await started(startFakeLlamaServer());
  const ports = [first.port, stranger.port, gone.port, second.port, first.port];
  const found = await scanLoopback(ports);
  expect(found.map(({ server, baseUrl }) => [server, baseUrl])).toEqual([
    ['Ollama', first.origin],
    ['llama-server', second.origin],
  ]);
});

test('a scan looks at ::1, too', async () => {
  const fake = await started(startFakeOllama({ host: '[::1]' }));
  expect(await scanLoopback([fake.port])).toMatchObject([
    { server: 'Ollama', baseUrl: `http://[::1]:${fake.port}` },
  ]);
});
