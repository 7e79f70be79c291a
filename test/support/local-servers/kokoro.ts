/** Kokoro-FastAPI: one model under four names, and WAVs without lengths in their headers. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { required, textIn } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { SPOKEN_SECONDS, speakAs, unsizedWav } from './spoken.js';

export const KOKORO_VOICES = ['af_heart', 'bf_emma', 'jf_alpha'];
const ALIASES = ['tts-1', 'tts-1-hd', 'kokoro', 'gpt-4o-mini-tts'];

export function startKokoro(): Promise<RoutedServer> {
  const created = 1_686_935_002;
  const data = ALIASES.map((id) => ({ id, object: 'model', created, owned_by: 'kokoro' }));
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Kokoro TTS API',
    get: {
      '/health': { status: 'healthy' },
      '/v1/test': { status: 'ok' },
      '/v1/models': { object: 'list', data },
      '/v1/audio/voices': listVoices,
    },
    post: { '/v1/audio/speech': speech },
  });
}

function listVoices({ query }: RecordedRequest, response: ServerResponse): void {
  const voices = KOKORO_VOICES.map((name) => ({ id: name, name }));
  send(response, 200, { voices: query.get('legacy') === 'true' ? KOKORO_VOICES : voices });
}

const TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', opus: 'audio/opus' };

async function speech(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const fields = required(request, response, ['input']);
  if (fields === null) return;
  const model = textIn(fields, 'model', 'kokoro');
  if (!ALIASES.includes(model)) {
    return refuse(response, 'invalid_model', `Unsupported model: ${model}`);
  }
  const unknown = textIn(fields, 'voice', 'af_heart')
    .split(/[+-]/)
    .find((name) => !KOKORO_VOICES.includes(name));
  if (unknown !== undefined) {
    const known = KOKORO_VOICES.join(', ');
    const message = `Voice '${unknown}' not found. Available voices: ${known}`;
    return refuse(response, 'validation_error', message);
  }
  const format = textIn(fields, 'response_format', 'mp3');
  // Answers that are not streamed have a Content-Length, though the WAV header has no length.
  if (fields['stream'] !== false) response.setHeader('transfer-encoding', 'chunked');
  const wav = unsizedWav(SPOKEN_SECONDS);
  return speakAs(response, format, { contentType: TYPES[format] ?? `audio/${format}`, wav });
}

function refuse(response: ServerResponse, error: string, message: string): void {
  send(response, 400, { detail: { error, message, type: 'invalid_request_error' } });
}
