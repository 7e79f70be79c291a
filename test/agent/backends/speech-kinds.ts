/** The backends of speech and music servers, each before a stand-in of its server. */
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { startFakeWhisper } from '../../support/fake-whisper-server.js';
import { localCall } from '../../support/local-call.js';
import { startAceStep } from '../../support/local-servers/ace-step.js';
import { startChatterboxTtsApi } from '../../support/local-servers/chatterbox-tts-api.js';
import { CHATTERBOX_VOICES, startChatterbox } from '../../support/local-servers/chatterbox.js';
import { startKokoro } from '../../support/local-servers/kokoro.js';
import { startMlxAudio } from '../../support/local-servers/mlx-audio.js';
import { startOpenedAiSpeech } from '../../support/local-servers/openedai-speech.js';
import { startOrpheus } from '../../support/local-servers/orpheus.js';
import { startOlderPiper, startPiper } from '../../support/local-servers/piper.js';
import type { RoutedServer } from '../../support/local-servers/routed-server.js';
import { KOKORO, WHISPER, startSpeaches } from '../../support/local-servers/speaches.js';
import { startWhisperAsr } from '../../support/local-servers/whisper-asr.js';
import { until } from '../../support/until.js';
import { BEARER, stage, transcription } from './media-stages.js';
import type { MediaKind, Stage } from './media-stages.js';

const STT = { type: 'stt', endpoint: 'transcriptions', foreign: 'images', ...BEARER } as const;
const TTS = { type: 'tts', endpoint: 'speech', foreign: 'transcriptions', ...BEARER } as const;
const SPEECH_PATH = '/v1/audio/speech';

export const SPEECH_KINDS: readonly MediaKind[] = [
  { ...STT, name: 'whisper-server', backend: 'whisper-server', path: '/inference', start: whisper },
  {
    ...STT,
    name: 'whisper-asr',
    backend: 'whisper-asr',
    path: '/asr',
    tellsDuration: false,
    start: routed(startWhisperAsr, { backend: 'whisper-asr', ...STT, ask: () => transcription() }),
  },
  {
    ...STT,
    name: 'speaches, stt',
    backend: 'speaches',
    path: '/v1/audio/transcriptions',
    start: routed(startSpeaches, { backend: 'speaches', ...STT, ask: timed }),
  },
  tts('speaches', startSpeaches, { servedName: KOKORO, voice: 'af_heart' }),
  tts('kokoro', startKokoro, { servedName: 'kokoro' }),
  tts('orpheus', startOrpheus),
  tts('chatterbox', startChatterbox, { voice: CHATTERBOX_VOICES[0] }),
  tts('chatterbox-tts-api', startChatterboxTtsApi, { servedName: 'chatterbox-tts-1' }),
  tts('openedai-speech', startOpenedAiSpeech, { servedName: 'tts-1' }),
  tts('openai', async () => (await startMlxAudio()).routed),
  { ...tts('piper', startPiper), path: '/synthesize' },
  { ...tts('piper', startOlderPiper), name: 'piper of before', path: '/' },
  {
    ...BEARER,
    name: 'ace-step',
    backend: 'ace-step',
    type: 'music',
    endpoint: 'music',
    foreign: 'speech',
    path: '/release_task',
    start: aceStep,
  },
];

interface Asked {
  readonly servedName?: string;
  readonly voice?: string | undefined;
}

function tts(backend: string, start: () => Promise<RoutedServer>, asked: Asked = {}): MediaKind {
  const { servedName = 'tiny', voice } = asked;
  const body = { input: 'hello', ...(voice !== undefined && { voice }) };
  const ask = (): LocalCall => localCall({ endpoint: 'speech', body, servedName });
  const name = backend === 'openai' ? 'openai before mlx-audio' : `${backend}, tts`;
  const service = { backend, ...TTS, ask };
  return { ...TTS, name, backend, path: SPEECH_PATH, start: routed(start, service) };
}

interface Service {
  readonly backend: string;
  readonly type: ServiceConfig['type'];
  readonly ask: () => LocalCall;
}

/** In front of a stand-in whose POSTs can be answered instead. */
function routed(start: () => Promise<RoutedServer>, service: Service): MediaKind['start'] {
  const { backend, type, ask } = service;
  return async (changes) => {
    const standIn = await start();
    const { server } = standIn;
    return stage({
      server,
      service: { backend, type, baseUrl: `${server.origin}/v1`, ...changes },
      ask,
      behave: (handler) => void (standIn.behaviour = handler),
    });
  };
}

function timed(): LocalCall {
  const call = transcription(WHISPER);
  return { ...call, body: { ...call.body, response_format: 'verbose_json' } };
}

async function whisper(changes: Partial<ServiceConfig> = {}): Promise<Stage> {
  const fake = await startFakeWhisper();
  const { server } = fake;
  return stage({
    server,
    service: { backend: 'whisper-server', type: 'stt', baseUrl: server.origin, ...changes },
    ask: () => transcription(),
    behave: (handler) => {
      fake.behaviour = ({ recorded }, response) => handler(recorded, response);
    },
  });
}

async function aceStep(changes: Partial<ServiceConfig> = {}): Promise<Stage> {
  const fake = await startAceStep();
  const { server } = fake.routed;
  const set = stage({
    server,
    service: { backend: 'ace-step', type: 'music', baseUrl: server.origin, ...changes },
    ask: () => localCall({ endpoint: 'music', body: { prompt: 'a song' } }),
    behave: (handler) => void (fake.routed.behaviour = handler),
  });
  return {
    ...set,
    work: (ms) => {
      const { routed } = fake;
      fake.doneAtLook = Infinity;
      const hasBegun = (): boolean => routed.posts('/query_result').length > 0;
      void until(hasBegun).then(() => setTimeout(() => (fake.doneAtLook = 0), ms));
      return { hasBegun, hasEnded: () => fake.doneAtLook === 0, stops: () => [] };
    },
  };
}
