/** whisper-asr-webservice: its options are in the query, and every answer is declared as text. */
import type { ServerResponse } from 'node:http';
import type { RecordedRequest } from '../recording-server.js';
import { formOf, refuseField } from './posted.js';
import { page, startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';

export function startWhisperAsr(): Promise<RoutedServer> {
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Whisper Asr Webservice',
    get: { '/': toDocs, '/docs': page('Whisper Asr Webservice - Swagger UI') },
    post: { '/asr': transcribe, '/detect-language': transcribe },
  });
}

function toDocs(_request: RecordedRequest, response: ServerResponse): void {
  response.writeHead(307, { location: '/docs' }).end();
}

const LANGUAGES = ['de', 'en', 'fr'];

async function transcribe(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const { query } = request;
  const file = (await formOf(request)).get('audio_file');
  if (!(file instanceof File)) return refuseField(response, 'audio_file', 'Field required');
  const language = query.get('language');
  const isKnown = language === null || LANGUAGES.includes(language);
  if (!isKnown || file.size === 0) return answer(response, 500, 'Internal Server Error');
  const output = query.get('output') ?? 'txt';
  response.setHeader('asr-engine', 'faster_whisper');
  response.setHeader('content-disposition', `attachment; filename="${file.name}.${output}"`);
  if (output !== 'json') return answer(response, 200, `${TEXT}\n`);
  const isTimed = query.get('word_timestamps') === 'true';
  const words = isTimed ? [{ start: 0.1, end: 0.4, word: ' large', probability: 0.9 }] : null;
  const segment = { id: 1, seek: 0, start: 0, end: 0.5, text: ` ${TEXT}`, tokens: [1], words };
  const told = { language: language ?? 'en', segments: [segment], text: ` ${TEXT}` };
  return answer(response, 200, JSON.stringify(told));
}

const TEXT = 'large round could';

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}
