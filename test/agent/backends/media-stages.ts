/** Each backend that serves media, with the local server that it speaks to. */
import type { Backend, LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { onTestFinished } from 'vitest';
import { configuredServer } from '../../support/configured-server.js';
import { startFakeWebUi } from '../../support/fake-automatic1111.js';
import { startFakeWhisper } from '../../support/fake-whisper-server.js';
import { localCall, upload } from '../../support/local-call.js';
import { picture } from '../../support/pictures.js';
import { send, startRecordingServer } from '../../support/recording-server.js';
import type { Handler, RecordingServer } from '../../support/recording-server.js';
import { tone } from '../../support/sound.js';

interface Stage {
  readonly server: RecordingServer;
  readonly backend: Backend;
  /** A request that it serves; the file of one that has files. */
  readonly call: (changes?: Partial<LocalCall>) => LocalCall;
  /** Answers requests so, from now on. */
  readonly behave: (handler: Handler) => void;
  /** Works on the next request for ever, as far as its callers let it. */
  readonly hang: () => void;
  /** Whether it has stopped to work. */
  readonly stopped: () => boolean;
}

export interface MediaKind {
  readonly name: string;
  readonly backend: string;
  readonly type: ServiceConfig['type'];
  readonly endpoint: EndpointKey;
  /** An endpoint of another service type. */
  readonly foreign: EndpointKey;
  /** The owner's key for it, and the header that shows it. */
  readonly apiKey: string;
  readonly authorization: string;
  /** The path of what it is asked for. */
  readonly path: string;
  start(changes?: Partial<ServiceConfig>): Promise<Stage>;
}

const AUDIO = tone(0.5);
const SPEECH = tone(1);

const BEARER = { apiKey: 'sk-local', authorization: 'Bearer sk-local' };

export const MEDIA_KINDS: readonly MediaKind[] = [
  {
    name: 'openai, stt',
    backend: 'openai',
    type: 'stt',
    endpoint: 'transcriptions',
    foreign: 'images',
    path: '/v1/audio/transcriptions',
    ...BEARER,
    start: openAi('stt', () => transcription()),
  },
  {
    name: 'openai, tts',
    backend: 'openai',
    type: 'tts',
    endpoint: 'speech',
    foreign: 'transcriptions',
    path: '/v1/audio/speech',
    ...BEARER,
    start: openAi('tts', () => localCall({ endpoint: 'speech', body: { input: 'hello' } })),
  },
  {
    name: 'openai, image',
    backend: 'openai',
    type: 'image',
    endpoint: 'images',
    foreign: 'speech',
    path: '/v1/images/generations',
    ...BEARER,
    start: openAi('image', () => localCall({ endpoint: 'images', body: { prompt: 'a', n: 1 } })),
  },
  {
    name: 'openai, image edits',
    backend: 'openai',
    type: 'image',
    endpoint: 'edits',
    foreign: 'transcriptions',
    path: '/v1/images/edits',
    ...BEARER,
    start: openAi('image', () => imageEdit()),
  },
  {
    name: 'whisper-server',
    backend: 'whisper-server',
    type: 'stt',
    endpoint: 'transcriptions',
    foreign: 'images',
    path: '/inference',
    ...BEARER,
    start: whisper,
  },
  {
    name: 'automatic1111',
    backend: 'automatic1111',
    type: 'image',
    endpoint: 'images',
    foreign: 'speech',
    apiKey: 'me:secret',
    authorization: `Basic ${btoa('me:secret')}`,
    path: '/sdapi/v1/txt2img',
    start: webUi(() => localCall({ endpoint: 'images', body: { prompt: 'a', n: 1 } })),
  },
  {
    name: 'automatic1111, edits',
    backend: 'automatic1111',
    type: 'image',
    endpoint: 'edits',
    foreign: 'transcriptions',
    apiKey: 'me:secret',
    authorization: `Basic ${btoa('me:secret')}`,
    path: '/sdapi/v1/img2img',
    start: webUi(imageEdit),
  },
];

function transcription(): LocalCall {
  return localCall({
    endpoint: 'transcriptions',
    uploads: [upload('file', 'audio/wav', AUDIO)],
  });
}

function imageEdit(): LocalCall {
  const uploads = [upload('image', 'image/png', picture())];
  return localCall({ endpoint: 'edits', body: { prompt: 'a', n: 1 }, uploads });
}

const hangs: Handler = () => undefined;

function openAi(type: ServiceConfig['type'], ask: () => LocalCall): MediaKind['start'] {
  return async (changes) => {
    let behaviour: Handler = answerLikeOpenAi;
    const server = await startRecordingServer((request, response) => {
      const list = { object: 'list', data: [{ id: 'tiny', object: 'model', owned_by: 'fake' }] };
      if (request.path === '/v1/models') return send(response, 200, list);
      return request.method === 'POST'
        ? behaviour(request, response)
        : send(response, 404, { detail: 'Not Found' });
    });
    return stage({
      server,
      service: { backend: 'openai', type, baseUrl: `${server.origin}/v1`, ...changes },
      ask,
      behave: (handler) => void (behaviour = handler),
    });
  };
}

const answerLikeOpenAi: Handler = ({ path }, response) => {
  if (path.endsWith('/transcriptions')) {
    return send(response, 200, { text: 'large round could', language: 'en', duration: 0.5 });
  }
  if (path.endsWith('/speech')) {
    response.writeHead(200, { 'content-type': 'audio/wav' });
    return void response.end(SPEECH);
  }
  const image = picture().toString('base64');
  return send(response, 200, { created: 1, data: [{ b64_json: image }] });
};

async function whisper(changes: Partial<ServiceConfig> = {}): Promise<Stage> {
  const fake = await startFakeWhisper();
  const { server } = fake;
  return stage({
    server,
    service: { backend: 'whisper-server', type: 'stt', baseUrl: server.origin, ...changes },
    ask: transcription,
    behave: (handler) => {
      fake.behaviour = ({ recorded }, response) => handler(recorded, response);
    },
  });
}

function webUi(ask: () => LocalCall): MediaKind['start'] {
  return async (changes) => {
    const fake = await startFakeWebUi();
    const { server } = fake;
    const set = stage({
      server,
      service: { backend: 'automatic1111', type: 'image', baseUrl: server.origin, ...changes },
      ask,
      behave: (handler) => void (fake.behaviour = handler),
    });
    return {
      ...set,
      hang: () => void (fake.jobMs = 60_000),
      stopped: () => fake.running === null && fake.interrupted.length === 1,
    };
  };
}

interface Set {
  readonly server: RecordingServer;
  readonly service: Partial<ServiceConfig> & { readonly baseUrl: string };
  readonly ask: () => LocalCall;
  readonly behave: (handler: Handler) => void;
}

function stage({ server, service, ask, behave }: Set): Stage {
  onTestFinished(() => server.close());
  return {
    server,
    backend: createBackend(configuredServer(service.baseUrl, service), { ffmpeg: null }),
    call: (changes) => ({ ...ask(), ...changes }),
    behave,
    hang: () => behave(hangs),
    stopped: () => server.aborts.length === 1,
  };
}
