/** What is special about each speech server that speaks OpenAI's API. */
import { detectFormat } from '@inference-gateway/shared/media/types';
import { describe, expect, test } from 'vitest';
import { documentOf, errorOf, localCall, upload } from '../../support/local-call.js';
import { startChatterboxTtsApi } from '../../support/local-servers/chatterbox-tts-api.js';
import { CHATTERBOX_VOICES, startChatterbox } from '../../support/local-servers/chatterbox.js';
import { KOKORO_VOICES, startKokoro } from '../../support/local-servers/kokoro.js';
import { startMlxAudio } from '../../support/local-servers/mlx-audio.js';
import { startOpenedAiSpeech } from '../../support/local-servers/openedai-speech.js';
import { ORPHEUS_VOICES, startOrpheus } from '../../support/local-servers/orpheus.js';
import { jsonOf } from '../../support/local-servers/posted.js';
import { KOKORO, PIPER, WHISPER, startSpeaches } from '../../support/local-servers/speaches.js';
import { tone } from '../../support/sound.js';
import { inFrontOf, onlyFile, saidAndThere, speech } from './speech-stages.js';

const SPEECH = '/v1/audio/speech';

describe('speaches', () => {
  test('tells its models apart by what they do, and which are loaded', async () => {
    const { server } = await startSpeaches({ loaded: [WHISPER] });
    const heard = await inFrontOf(server, 'speaches', { type: 'stt' }).describe();
    expect(heard.models).toMatchObject([
      { id: WHISPER, supported_features: ['timestamps'], loaded: true },
    ]);
    const spoken = await inFrontOf(server, 'speaches').describe();
    expect(spoken.models).toMatchObject([
      { id: KOKORO, voices: ['af_heart', 'bm_george'], loaded: false },
      { id: PIPER, voices: ['alba'], loaded: false },
    ]);
    // A model is asked for only by a request.
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('a configured model keeps its own voices', async () => {
    const { server } = await startSpeaches();
    const facts = { contextLength: null, inputModalities: null, supportedFeatures: null };
    const models = [{ id: 'alba', servedName: PIPER, ...facts }];
    const { models: shown } = await inFrontOf(server, 'speaches', { models }).describe();
    expect(shown).toMatchObject([{ id: 'alba', served_name: PIPER, voices: ['alba'] }]);
  });

  test('is always asked for a voice, and its WAV leaves with true lengths', async () => {
    const speaches = await startSpeaches();
    const { backend } = inFrontOf(speaches.server, 'speaches');
    const call = speech(PIPER, { stream_format: 'sse' }, ['alba']);
    const file = await onlyFile(await backend.call(call));
    const { said, there } = saidAndThere(file.bytes);
    expect(said).toBe(there);
    const sent = jsonOf(speaches.posts(SPEECH)[0]);
    expect(sent).toMatchObject({ model: PIPER, voice: 'alba', response_format: 'wav' });
    expect(sent).not.toHaveProperty('stream_format');
  });

  test('times words where they are wanted', async () => {
    const { server } = await startSpeaches();
    const { backend } = inFrontOf(server, 'speaches', { type: 'stt' });
    const body = { response_format: 'verbose_json', timestamp_granularities: ['word'] };
    const uploads = [upload('file', 'audio/wav', tone(0.5))];
    const call = localCall({ endpoint: 'transcriptions', body, uploads, servedName: WHISPER });
    expect(documentOf(await backend.call(call))).toMatchObject({
      words: [{ word: 'large', start: 0.1, end: 0.4 }],
    });
  });
});

describe('Kokoro', () => {
  test('is one model, whatever it answers to, with voices that are names', async () => {
    const { server } = await startKokoro();
    const { models } = await inFrontOf(server, 'kokoro').describe();
    expect(models).toHaveLength(1);
    expect(models[0]).toMatchObject({ id: 'kokoro', voices: KOKORO_VOICES });
  });

  test('is known under an alias that its owner names', async () => {
    const { server } = await startKokoro();
    const facts = { contextLength: null, inputModalities: null, supportedFeatures: null };
    const models = [{ id: 'tts-1', servedName: 'tts-1', ...facts }];
    const { models: shown } = await inFrontOf(server, 'kokoro', { models }).describe();
    expect(shown).toMatchObject([{ id: 'tts-1', voices: KOKORO_VOICES }]);
  });

  test('is asked for a stream, and its WAV leaves with true lengths', async () => {
    const kokoro = await startKokoro();
    const { backend } = inFrontOf(kokoro.server, 'kokoro', { hasFfmpeg: false });
    const file = await onlyFile(await backend.call(speech('kokoro')));
    const { said, there } = saidAndThere(file.bytes);
    expect(said).toBe(there);
    expect(file.bytes.readUInt32LE(4)).toBe(file.bytes.length - 8);
    expect(jsonOf(kokoro.posts(SPEECH)[0])).toMatchObject({ stream: true });
  });

  test('makes Opus by itself, which is Ogg whatever it says', async () => {
    const kokoro = await startKokoro();
    const stage = inFrontOf(kokoro.server, 'kokoro', { hasFfmpeg: false });
    const { models } = await stage.describe();
    expect(models[0]).not.toHaveProperty('formats');
    const call = speech('kokoro', { response_format: 'opus' });
    const file = await onlyFile(await stage.backend.call(call));
    expect(file.contentType).toBe('audio/ogg');
    expect(detectFormat(file.bytes)).toBe('ogg');
  });

  test.each([
    ['en-US', 'a'],
    ['en_GB', 'b'],
    ['pt-BR', 'p'],
    ['ja', 'j'],
    ['en', undefined],
    ['eno', undefined],
    ['tlh', undefined],
  ])('hears %s as the letter %s', async (language, letter) => {
    const kokoro = await startKokoro();
    const { backend } = inFrontOf(kokoro.server, 'kokoro');
    await onlyFile(await backend.call(speech('kokoro', { language })));
    const sent = jsonOf(kokoro.posts(SPEECH)[0]);
    expect(sent['lang_code']).toBe(letter);
    expect(sent).not.toHaveProperty('language');
  });

  test('leaves no copies behind, and says itself what is wrong with a voice', async () => {
    const kokoro = await startKokoro();
    const { backend } = inFrontOf(kokoro.server, 'kokoro');
    await onlyFile(await backend.call(speech('kokoro', { return_download_link: true })));
    expect(jsonOf(kokoro.posts(SPEECH)[0])).not.toHaveProperty('return_download_link');
    const refused = await backend.call(speech('kokoro', { voice: 'nobody+af_heart' }));
    const message = expect.stringContaining("Voice 'nobody' not found") as string;
    expect(errorOf(refused)).toMatchObject({ code: 'provider_rejected', message });
  });
});

describe('Orpheus', () => {
  test('is known without a list of models, and speaks one at a time', async () => {
    const { server } = await startOrpheus();
    const { models, slots } = await inFrontOf(server, 'orpheus').describe();
    expect(models).toMatchObject([{ id: 'orpheus', voices: ORPHEUS_VOICES }]);
    expect(slots).toBe(1);
  });

  test('is asked for WAV alone, and Opus is made of it', async () => {
    const orpheus = await startOrpheus();
    const { backend } = inFrontOf(orpheus.server, 'orpheus');
    const call = speech('orpheus', { response_format: 'opus' }, ORPHEUS_VOICES);
    const file = await onlyFile(await backend.call(call));
    expect(file.contentType).toBe('audio/ogg');
    const sent = orpheus.posts(SPEECH).map(jsonOf);
    expect(sent).toMatchObject([{ response_format: 'wav', voice: 'tara' }]);
  });
});

test.each([
  { name: 'orpheus', start: startOrpheus, voice: '../../.ssh/x' },
  { name: 'orpheus', start: startOrpheus, voice: 'stranger', voices: ORPHEUS_VOICES },
  { name: 'chatterbox', start: startChatterbox, voice: '/etc/passwd' },
  { name: 'chatterbox', start: startChatterbox, voice: '..\\x.wav' },
  { name: 'chatterbox', start: startChatterbox, voice: 'Abigail', voices: CHATTERBOX_VOICES },
])('$name is not asked to open $voice as a voice', async ({ name, start, voice, voices }) => {
  const { server } = await start();
  const { backend } = inFrontOf(server, name);
  const refused = await backend.call(speech('tiny', { voice }, voices));
  expect(refused).toMatchObject({ status: 400 });
  expect(errorOf(refused)).toMatchObject({ code: 'unsupported_value', param: 'voice' });
  expect(server.requests).toEqual([]);
});

describe('Chatterbox-TTS-Server', () => {
  test('is named after what it loaded; its voices are names of files', async () => {
    const { server } = await startChatterbox();
    const { models } = await inFrontOf(server, 'chatterbox').describe();
    expect(models).toMatchObject([
      { id: 'chatterbox-turbo', voices: CHATTERBOX_VOICES, loaded: true },
    ]);
  });

  test('an older one tells its voices where its own page finds them', async () => {
    const { server } = await startChatterbox({ listsVoices: false });
    const { models } = await inFrontOf(server, 'chatterbox').describe();
    expect(models[0]?.voices).toEqual(CHATTERBOX_VOICES);
  });

  test('is not offered where its model could not be loaded', async () => {
    const { server } = await startChatterbox({ loaded: false });
    const describing = inFrontOf(server, 'chatterbox').describe();
    const message = expect.stringContaining('no model loaded') as string;
    await expect(describing).rejects.toMatchObject({ code: 'LOCAL_UNREACHABLE', message });
  });

  test('speaks in one of its voices where the caller names none', async () => {
    const chatterbox = await startChatterbox();
    const { backend } = inFrontOf(chatterbox.server, 'chatterbox');
    const call = speech('chatterbox', { response_format: 'flac' }, CHATTERBOX_VOICES);
    const file = await onlyFile(await backend.call(call));
    expect(file.contentType).toBe('audio/wav');
    const sent = chatterbox.posts(SPEECH).map(jsonOf);
    expect(sent).toMatchObject([{ voice: 'Abigail.wav', response_format: 'wav' }]);
  });
});

describe('chatterbox-tts-api', () => {
  test('tells its voices at a path of its own', async () => {
    const { server } = await startChatterboxTtsApi();
    const { models } = await inFrontOf(server, 'chatterbox-tts-api').describe();
    expect(models).toMatchObject([{ id: 'chatterbox-tts-1', voices: ['narrator', 'hans'] }]);
  });

  test('is not sent the name that it lists and refuses', async () => {
    const api = await startChatterboxTtsApi();
    const { backend } = inFrontOf(api.server, 'chatterbox-tts-api');
    await onlyFile(await backend.call(speech('chatterbox-tts-1')));
    await onlyFile(await backend.call(speech('chatterbox-multilingual-v2')));
    const models = api.posts(SPEECH).map((request) => jsonOf(request)['model']);
    expect(models).toEqual([undefined, 'chatterbox-multilingual-v2']);
  });

  test('a text that is too long for it is refused before it is asked', async () => {
    const api = await startChatterboxTtsApi();
    const { backend } = inFrontOf(api.server, 'chatterbox-tts-api');
    // As many characters as Python counts, and twice as many as JavaScript does.
    await onlyFile(await backend.call(speech('chatterbox-tts-1', { input: '🎵'.repeat(3_000) })));
    const refused = await backend.call(speech('chatterbox-tts-1', { input: 'x'.repeat(3_001) }));
    expect(refused).toMatchObject({ status: 400 });
    const message = expect.stringContaining('3001 characters') as string;
    expect(errorOf(refused)).toMatchObject({ param: 'input', code: 'provider_rejected', message });
    expect(api.posts(SPEECH)).toHaveLength(1);
  });

  test('its errors are read to the words in them', async () => {
    const { server } = await startChatterboxTtsApi();
    const { backend } = inFrontOf(server, 'chatterbox-tts-api');
    const failed = await backend.call(speech('chatterbox-tts-1', { input: '[crash]' }));
    expect(errorOf(failed)).toMatchObject({ message: 'Failed to load model: no memory' });
  });
});

describe('openedai-speech', () => {
  test('has OpenAI’s first six voices', async () => {
    const { server } = await startOpenedAiSpeech();
    const { models } = await inFrontOf(server, 'openedai-speech').describe();
    expect(models.map(({ id }) => id)).toEqual(['tts-1', 'tts-1-hd']);
    const voices = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
    expect(models.map((model) => model.voices)).toEqual([voices, voices]);
    expect(server.to('/v1/audio/voices')).toEqual([]);
  });

  test('its WAV comes out of a pipe, and leaves with true lengths', async () => {
    const { server } = await startOpenedAiSpeech();
    const { backend } = inFrontOf(server, 'openedai-speech');
    const { said, there } = saidAndThere(
      (await onlyFile(await backend.call(speech('tts-1')))).bytes,
    );
    expect(said).toBe(there);
    const refused = await backend.call(speech('tts-1', { voice: 'nobody' }));
    expect(errorOf(refused)).toMatchObject({ message: 'Error loading voice: nobody' });
  });
});

test('mlx-audio is never asked for voices: it would download a model for it', async () => {
  const { routed, downloads } = await startMlxAudio();
  const { models } = await inFrontOf(routed.server, 'openai').describe();
  expect(models).toHaveLength(1);
  expect(models[0]).not.toHaveProperty('voices');
  expect(downloads).toEqual([]);
});
