/** Orpheus-FastAPI: no list of models, always WAV, and paths that change its configuration. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { required, textIn } from './posted.js';
import { page, startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { speak } from './spoken.js';

export const ORPHEUS_VOICES = ['tara', 'leah', 'pierre'];

export function startOrpheus(): Promise<RoutedServer> {
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Orpheus-FASTAPI',
    get: {
      '/': page('Orpheus FASTAPI'),
      '/web/': page('Orpheus FASTAPI'),
      '/get_config': { ORPHEUS_API_URL: 'http://127.0.0.1:5006/v1/completions' },
      '/v1/audio/voices': { status: 'ok', voices: ORPHEUS_VOICES },
    },
    post: {
      '/v1/audio/speech': speech,
      '/save_config': owners,
      '/restart_server': owners,
    },
  });
}

/** Ignores format and speed, and uses any voice as part of a file name. */
function speech(request: RecordedRequest, response: ServerResponse): void {
  const fields = required(request, response, ['input']);
  if (fields === null) return;
  if (fields['input'] === '') return send(response, 400, { detail: 'Missing input text' });
  if (textIn(fields, 'voice', 'tara').includes('/')) {
    return send(response, 500, 'Internal Server Error');
  }
  return speak(response);
}

function owners(_request: RecordedRequest, response: ServerResponse): void {
  send(response, 200, { status: 'ok', message: 'Configuration saved successfully.' });
}
