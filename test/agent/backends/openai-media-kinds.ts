/** The `openai` backend without a dialect, for each of its types of media. */
import type { LocalCall, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { localCall } from '../../support/local-call.js';
import { picture } from '../../support/pictures.js';
import { send, startRecordingServer } from '../../support/recording-server.js';
import type { Handler } from '../../support/recording-server.js';
import { tone } from '../../support/sound.js';
import { BEARER, imageEdit, stage, transcription } from './media-stages.js';
import type { MediaKind } from './media-stages.js';

const SPEECH = tone(1);

export const OPENAI_KINDS: readonly MediaKind[] = [
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
];

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
