/**
 * travisvn's chatterbox-tts-api: always answers WAV, and does not accept the only model that it
 * lists.
 */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { refuseField, required, textIn } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { speak } from './spoken.js';

const MODEL = 'chatterbox-tts-1';
const MAX_CHARACTERS = 3_000;
/** What newer versions accept as `model`; the id in its list is not among them. */
const TAKEN = ['chatterbox-v1', 'chatterbox-multilingual-v2', 'tts-1', 'tts-1-hd'];

export function startChatterboxTtsApi(): Promise<RoutedServer> {
  const created = 1_677_649_963;
  const listed = { id: MODEL, object: 'model', created, owned_by: 'resemble-ai' };
  const models = { object: 'list', data: [listed] };
  const voices = { voices: [voice('narrator'), voice('hans')], count: 2 };
  const health = { status: 'ready', model_loaded: true, device: 'cuda', config: {} };
  const ping = { status: 'ok', message: 'Server is running' };
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Chatterbox TTS API',
    get: {
      '/health': health,
      '/v1/health': health,
      '/ping': ping,
      '/v1/ping': ping,
      '/models': models,
      '/v1/models': models,
      '/voices': voices,
      '/v1/voices': voices,
    },
    post: { '/v1/audio/speech': speech, '/audio/speech': speech },
  });
}

function voice(name: string) {
  return { name, filename: `${name}.wav`, file_size: 1_000, language: 'en', aliases: [] };
}

function speech(request: RecordedRequest, response: ServerResponse): void {
  const fields = required(request, response, ['input']);
  if (fields === null) return;
  const input = textIn(fields, 'input', '');
  if (Array.from(input).length > MAX_CHARACTERS) {
    return refuseField(response, 'input', 'String should have at most 3000 characters');
  }
  if ('model' in fields && !TAKEN.includes(textIn(fields, 'model', ''))) {
    return refuseField(response, 'model', `Value error, model must be one of: ${TAKEN.join(', ')}`);
  }
  if (input.includes('[crash]')) {
    const error = { message: 'Failed to load model: no memory', type: 'model_error' };
    return send(response, 500, { detail: { error } });
  }
  return speak(response);
}
