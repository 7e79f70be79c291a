/** openedai-speech: piper and XTTS under OpenAI's own model names, without a list of voices. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { required, textIn } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { SPOKEN_SECONDS, speakAs, unsizedWav } from './spoken.js';

const MODELS = ['tts-1', 'tts-1-hd'];
const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];
const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg;codec=opus',
  aac: 'audio/aac',
  flac: 'audio/x-flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm;rate=22050',
};

export function startOpenedAiSpeech(): Promise<RoutedServer> {
  const data = MODELS.map((id) => ({ id, object: 'model', created: 0, owned_by: 'user' }));
  return startRoutedServer({
    software: 'uvicorn',
    title: 'FastAPI',
    get: {
      '/': '',
      '/health': { status: 'ok' },
      '/v1/models': { object: 'list', data },
      '/v1/billing/usage': { total_usage: 0 },
    },
    post: { '/v1/audio/speech': speech },
  });
}

async function speech(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const fields = required(request, response, ['input']);
  if (fields === null) return;
  if (fields['input'] === '') return refuse(response, 'Empty Input', 'input');
  const format = textIn(fields, 'response_format', 'mp3').toLowerCase();
  const contentType = TYPES[format];
  if (contentType === undefined) {
    return refuse(response, `Invalid response_format: '${format}'`, 'response_format');
  }
  const voice = textIn(fields, 'voice', 'alloy');
  if (!MODELS.includes(textIn(fields, 'model', 'tts-1')) || !VOICES.includes(voice)) {
    return refuse(response, `Error loading voice: ${voice}`, 'voice');
  }
  return speakAs(response, format, { contentType, wav: unsizedWav(SPOKEN_SECONDS) });
}

/** The error is not in OpenAI's envelope. */
function refuse(response: ServerResponse, message: string, param: string): void {
  send(response, 400, { message, code: 400, type: 'BadRequestError', param });
}
