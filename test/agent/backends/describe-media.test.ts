/** What OpenAI-compatible servers of sounds and images tell of themselves. */
import ffmpegBinary from '@ffmpeg-installer/ffmpeg';
import type { ConfiguredModel, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { Ffmpeg } from '@inference-gateway/agent/media/ffmpeg';
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { describe, expect, onTestFinished, test } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { raw } from '../../support/fake-model-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import type { FakeOpenAiOptions } from '../../support/fake-openai-server.js';

async function start(
  type: ServiceType,
  options: FakeOpenAiOptions,
  changes: Partial<ServiceConfig> & { hasFfmpeg?: boolean } = {},
) {
  const fake = await startFakeOpenAi(options);
  onTestFinished(() => fake.close());
  const { hasFfmpeg = true, ...rest } = changes;
  const ffmpeg = hasFfmpeg ? new Ffmpeg(ffmpegBinary.path) : null;
  const backend = createBackend(configuredServer(fake.baseUrl, { type, ...rest }), { ffmpeg });
  const models = async () => (await backend.describe(AbortSignal.timeout(4_000))).models;
  return { fake, models };
}

type Row = { readonly id: string } & Readonly<Record<string, unknown>>;

/** Rows of a mixed list, and the one type of service that each fits. */
const MIXED: readonly (readonly [string, Row, ServiceType | null])[] = [
  ['speaches', { id: 'a', task: 'automatic-speech-recognition' }, 'stt'],
  ['speaches', { id: 'b', task: 'text-to-speech' }, 'tts'],
  ['speaches', { id: 'c', task: 'voice-activity-detection' }, null],
  ['LocalAI', { id: 'd', capabilities: ['transcript'] }, 'stt'],
  ['LocalAI', { id: 'e', capabilities: ['tts'] }, 'tts'],
  ['LocalAI', { id: 'f', capabilities: ['image'] }, 'image'],
  ['LocalAI', { id: 'g', capabilities: ['video'] }, 'video'],
  ['LocalAI', { id: 'h', capabilities: ['sound_generation'] }, 'music'],
  ['LocalAI', { id: 'i', capabilities: ['chat', 'vision'] }, 'llm'],
  ['LocalAI', { id: 'j', capabilities: ['rerank'] }, 'rerank'],
  ['Lemonade', { id: 'k', labels: ['transcription'] }, 'stt'],
  ['Lemonade', { id: 'l', labels: ['audio-generation'] }, 'music'],
  ['Lemonade', { id: 'm', labels: ['embeddings'] }, 'embedding'],
  ['Lemonade', { id: 'n', labels: ['image'], recipe: 'cloud' }, null],
  ['LM Studio', { id: 'o', type: 'vlm' }, 'llm'],
  ['LM Studio', { id: 'p', type: 'embeddings' }, 'embedding'],
  ['KoboldCpp', { id: 'koboldcpp/inactive' }, null],
  ['llama-swap', { id: 'q', architecture: { output_modalities: ['image'] } }, 'image'],
  ['another gateway', { id: 'r', service_type: 'video' }, 'video'],
];

test.each(SERVICE_TYPES)(
  'a service of type %s offers what fits it of a mixed list',
  async (type) => {
    const { models } = await start(type, { models: MIXED.map(([, row]) => row) });
    const wanted = MIXED.filter(([, , fits]) => fits === type).map(([, { id }]) => id);
    expect((await models()).map(({ id }) => id)).toEqual(wanted);
  },
);

test.each(SERVICE_TYPES)('a list that tells nothing is of type %s as configured', async (type) => {
  const { models } = await start(type, { models: ['a', 'b'] });
  expect((await models()).map(({ id }) => id)).toEqual(['a', 'b']);
});

describe('a transcriber', () => {
  test.each([
    ['speaches', { task: 'automatic-speech-recognition' }, ['timestamps']],
    ['vLLM', { owned_by: 'vllm' }, ['timestamps']],
    ['any other', {}, []],
  ])('of %s has these features', async (_what, facts, features) => {
    const { models } = await start('stt', { models: [{ id: 'a', ...facts }] });
    const [model] = await models();
    expect(model?.supported_features).toEqual(features);
    expect([model?.input_modalities, model?.output_modalities]).toEqual([['audio'], ['text']]);
    expect(model).not.toHaveProperty('voices');
    expect(model).not.toHaveProperty('formats');
  });

  test('has the features that its owner wrote', async () => {
    const configured = model({ supportedFeatures: ['timestamps'] });
    const { models } = await start('stt', {}, { models: [configured] });
    expect((await models())[0]?.supported_features).toEqual(['timestamps']);
  });
});

function model(changes: Partial<ConfiguredModel>): ConfiguredModel {
  const facts = { contextLength: null, inputModalities: null, supportedFeatures: null };
  return { id: 'tiny', servedName: 'tiny', ...facts, ...changes };
}

async function voicesOf(told: unknown): Promise<string[] | undefined> {
  const { models } = await start('tts', { routes: { '/v1/audio/voices': told } });
  return (await models())[0]?.voices;
}

describe('a voice model', () => {
  test.each([
    ['names', ['a', 'b']],
    ['objects', [{ id: 'a', name: 'Anna' }, { name: 'b' }]],
    ['the specification’s shape', { voices: ['a', 'b'] }],
    ['Orpheus’s shape', { status: 'ok', voices: ['a', 'b'] }],
    ['objects in it', { voices: [{ voice_id: 'a' }, { id: 'b' }] }],
    ['mlx-audio’s shape', { data: [{ id: 'a' }, { id: 'b' }] }],
    ['a name twice, and what is none', ['a', 'b', 'a', '', 7, null, {}, 'x'.repeat(257)]],
  ])('tells its voices as %s', async (_what, told) => {
    expect(await voicesOf(told)).toEqual(['a', 'b']);
  });

  test('tells 1,000 voices at most', async () => {
    expect(await voicesOf(Array.from({ length: 1_500 }, (_, i) => `v${i}`))).toHaveLength(1_000);
  });

  test.each([
    ['404', raw({ status: 404, body: 'no' })],
    ['500', raw({ status: 500, body: 'no' })],
    ['something else', { hello: 'world' }],
  ])('is up without a list of voices: %s', async (_what, told) => {
    expect(await voicesOf(told)).toBeUndefined();
  });

  test('is up though the list of voices hangs', async () => {
    const routes = { '/v1/audio/voices': () => new Promise(() => undefined) };
    const { models } = await start('tts', { routes });
    expect(await models()).toHaveLength(1);
  });

  test('keeps its voices while the server is too busy to list them', async () => {
    const { fake, models } = await start('tts', { routes: { '/v1/audio/voices': ['a'] } });
    await models();
    fake.routes['/v1/audio/voices'] = raw({ status: 503, body: 'busy' });
    expect((await models())[0]?.voices).toEqual(['a']);
    fake.routes['/v1/audio/voices'] = ['b'];
    expect((await models())[0]?.voices).toEqual(['b']);
  });

  test('has its own voices and everybody’s, and no other model’s', async () => {
    const told = [{ voice_id: 'a', model_id: 'one' }, { name: 'b', model: 'two' }, { name: 'c' }];
    const routes = { '/v1/audio/voices': told };
    const { models } = await start('tts', { models: ['one', 'two'], routes });
    expect((await models()).map(({ voices }) => voices)).toEqual([
      ['a', 'c'],
      ['b', 'c'],
    ]);
  });

  test('of mlx-audio is never asked for its voices, which it would download', async () => {
    const routes = {
      '/': { message: 'Welcome to the MLX Audio API server!' },
      '/v1/audio/voices': ['a'],
    };
    const mlx = { id: 'kokoro', owned_by: 'system' };
    const { fake, models } = await start('tts', { models: [mlx], routes });
    expect(await models()).toHaveLength(1);
    expect(fake.gets).not.toContain('/v1/audio/voices');
    fake.routes['/'] = { message: 'Welcome' };
    expect((await models())[0]?.voices).toEqual(['a']);
  });

  test('has the voices that its owner wrote, and the server is not asked', async () => {
    const changes = { models: [model({ voices: ['mine'] })] };
    const { fake, models } = await start('tts', { routes: { '/v1/audio/voices': ['a'] } }, changes);
    expect((await models())[0]?.voices).toEqual(['mine']);
    expect(fake.gets).not.toContain('/v1/audio/voices');
  });

  test('is sure of every format, with ffmpeg and without', async () => {
    for (const hasFfmpeg of [false, true]) {
      const { models } = await start('tts', {}, { hasFfmpeg });
      expect((await models())[0]).not.toHaveProperty('formats');
    }
  });
});
