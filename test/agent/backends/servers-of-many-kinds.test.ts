/** What is special about the servers that run models of several kinds. */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import { describe, expect, test } from 'vitest';
import { reply } from '../../support/fake-behaviours.js';
import { raw } from '../../support/fake-model-server.js';
import { KOBOLD_BUSY, startKoboldCpp } from '../../support/local-servers/koboldcpp.js';
import { startLemonade } from '../../support/local-servers/lemonade.js';
import { startLlamaSwap } from '../../support/local-servers/llama-swap.js';
import { startLocalAi } from '../../support/local-servers/localai.js';
import { modelList } from '../../support/local-servers/stand-in.js';
import { chat, parse } from './conformance-stage.js';
import { describeAt } from './dialect-stage.js';

const missing = raw({ status: 404, body: { error: { message: 'no such path' } } });

test.each([
  [
    'koboldcpp',
    startKoboldCpp,
    { llm: ['koboldcpp/tiny'], stt: ['whisper'], tts: ['tts'], image: ['painter'] },
  ],
  ['localai', startLocalAi, { llm: ['tiny'], stt: ['ears'], tts: ['voice'], image: ['painter'] }],
  [
    'lemonade',
    startLemonade,
    {
      llm: ['tiny', 'plain'],
      stt: ['ears'],
      tts: ['voice'],
      image: ['painter'],
      embedding: ['vectors'],
    },
  ],
  [
    'llama-swap',
    startLlamaSwap,
    { llm: ['tiny'], stt: ['ears'], tts: ['voice'], embedding: ['vectors'] },
  ],
] as const)('%s offers each kind of model as what it is', async (backend, start, wanted) => {
  for (const type of SERVICE_TYPES) {
    const { ids } = await describeAt(start(), { backend, type });
    expect([type, ids]).toEqual([type, new Map(Object.entries(wanted)).get(type) ?? []]);
  }
});

describe('KoboldCpp', () => {
  const backend = 'koboldcpp';
  const own = { result: 'KoboldCpp', version: '1.112', llm: true };

  test('without a model of a kind offers none', async () => {
    const routes = {
      '/api/extra/version': { ...own, llm: false, txt2img: true },
      '/v1/models': modelList([{ id: 'koboldcpp/inactive' }], {}),
      '/sdapi/v1/sd-models': [{ title: 'inactive', model_name: 'inactive' }],
    };
    for (const type of ['llm', 'image', 'stt', 'tts'] as const) {
      expect((await describeAt(startKoboldCpp({ routes }), { backend, type })).ids).toEqual([]);
    }
  });

  test('says inactive in its list, too', async () => {
    const routes = { '/v1/models': modelList([{ id: 'inactive' }], {}) };
    expect((await describeAt(startKoboldCpp({ routes }), { backend })).ids).toEqual([]);
  });

  test('has five voices', async () => {
    const { models, slots } = await describeAt(startKoboldCpp(), { backend, type: 'tts' });
    const voices = ['kobo', 'cheery', 'sleepy', 'shouty', 'chatty'];
    expect(models).toMatchObject([{ id: 'tts', voices, loaded: true }]);
    // Opus is made of its wav by the agent itself.
    expect(models[0]).not.toHaveProperty('formats');
    expect(slots).toBe(1);
  });

  test('that is too busy says so in a way that another machine may be asked', async () => {
    const starting = startKoboldCpp({ behaviour: reply(503, KOBOLD_BUSY) });
    const { backend: made } = await describeAt(starting, { backend });
    const answer = await made.call(chat({}));
    expect(answer).toMatchObject({ status: 503 });
    expect(parse(answer)).toMatchObject({ error: { message: KOBOLD_BUSY.detail.msg } });
  });

  test('with the right password is served', async () => {
    const routes = { '/api/v1/model': { result: 'koboldcpp/tiny' } };
    const starting = startKoboldCpp({ apiKey: 'pw', routes });
    expect((await describeAt(starting, { backend, apiKey: 'pw' })).ids).toEqual(['koboldcpp/tiny']);
  });
});

describe('LocalAI', () => {
  const backend = 'localai';

  test('that does not tell what is loaded leaves that open', async () => {
    const { models } = await describeAt(startLocalAi({ routes: { '/api/ps': missing } }), {
      backend,
    });
    expect(models).toMatchObject([{ id: 'tiny', loaded: null }]);
  });

  test('of an older version is taken by its plain list', async () => {
    const routes = {
      '/v1/models': modelList([{ id: 'a' }, { id: 'b' }], {}),
      '/v1/models/capabilities': missing,
    };
    expect((await describeAt(startLocalAi({ routes }), { backend })).ids).toEqual(['a', 'b']);
  });
});

describe('Lemonade', () => {
  const backend = 'lemonade';

  test('tells what is loaded below either of its paths, and what it hears', async () => {
    const hearing = { id: 'tiny', recipe: 'llamacpp', labels: ['chat', 'chat-transcription'] };
    const routes = { '/api/v1/models': modelList([hearing], {}) };
    const starting = startLemonade({ routes });
    const { models } = await describeAt(starting, { backend, path: '/api/v1' });
    expect(models).toMatchObject([
      { id: 'tiny', input_modalities: ['text', 'audio'], loaded: true, context_length: null },
    ]);
  });

  test('that does not tell what is loaded leaves that open', async () => {
    const routes = { '/v1/health': missing };
    const { models } = await describeAt(startLemonade({ routes }), { backend });
    expect(models.map(({ loaded }) => loaded)).toEqual([null, null]);
  });
});

describe('llama-swap', () => {
  const backend = 'llama-swap';
  const rows = modelList([{ id: 'a' }, { id: 'b' }], { owned_by: 'llama-swap' });

  test('that tells of no model what it does runs text models', async () => {
    const told = [
      { model: 'a', state: 'ready' },
      { model: 'b', state: 'starting' },
    ];
    const routes = { '/v1/models': rows, '/running': { running: told } };
    const { models } = await describeAt(startLlamaSwap({ routes }), { backend });
    expect(models).toMatchObject([
      { id: 'a', loaded: true },
      { id: 'b', loaded: false },
    ]);
    const ears = await describeAt(startLlamaSwap({ routes }), { backend, type: 'stt' });
    expect(ears.ids).toEqual([]);
  });

  test('is not taken for one that tells because its peers say that they are peers', async () => {
    const list = modelList([{ id: 'own' }, { id: 'far', type: 'peer' }], {});
    const { ids } = await describeAt(startLlamaSwap({ routes: { '/v1/models': list } }), {
      backend,
    });
    expect(ids).toEqual(['own']);
  });

  test('that does not tell what runs leaves that open', async () => {
    const routes = { '/v1/models': rows, '/running': missing };
    const { models } = await describeAt(startLlamaSwap({ routes }), { backend });
    expect(models.map(({ loaded }) => loaded)).toEqual([null, null]);
  });
});
