/**
 * speaches, formerly faster-whisper-server: transcribes and speaks; a model's `task` says which.
 */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { formOf, refuseField, required, textIn } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { SPOKEN_SECONDS, speakAs, unsizedWav } from './spoken.js';

export const WHISPER = 'Systran/faster-distil-whisper-small.en';
export const KOKORO = 'speaches-ai/Kokoro-82M-v1.0-ONNX';
export const PIPER = 'speaches-ai/piper-en_GB-alba-low';

export interface SpeachesOptions {
  /** The models that `/api/ps` lists. */
  readonly loaded?: readonly string[];
}

export function startSpeaches({ loaded = [WHISPER] }: SpeachesOptions = {}): Promise<RoutedServer> {
  const voices = [...voicesOf(KOKORO), ...voicesOf(PIPER)];
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Speaches',
    get: {
      '/health': { message: 'OK' },
      '/v1/models': listModels,
      '/v1/audio/models': { models: MODELS.filter(isSpeaker), object: 'list' },
      '/v1/audio/voices': { voices, object: 'list' },
      '/api/ps': { models: loaded },
    },
    post: { '/v1/audio/speech': speech, '/v1/audio/transcriptions': transcribe },
  });
}

const MODELS = [
  model(WHISPER, 'automatic-speech-recognition'),
  { ...model(KOKORO, 'text-to-speech'), sample_rate: 24_000, voices: voicesOf(KOKORO) },
  { ...model(PIPER, 'text-to-speech'), sample_rate: 16_000, voices: voicesOf(PIPER) },
  model('Wespeaker/wespeaker-voxceleb-resnet34-LM', 'speaker-embedding'),
  model('onnx-community/silero-vad', 'voice-activity-detection'),
];

function model(id: string, task: string) {
  const owner = id.split('/')[0];
  return { id, created: 1_756_000_000, object: 'model', owned_by: owner, language: ['en'], task };
}

function voicesOf(id: string) {
  const names = id === KOKORO ? ['af_heart', 'bm_george'] : ['alba'];
  return names.map((name) => ({ name, language: 'en-gb', gender: 'female', id: name }));
}

function isSpeaker({ task }: { readonly task: string }): boolean {
  return task === 'text-to-speech';
}

function listModels({ query }: RecordedRequest, response: ServerResponse): void {
  const task = query.get('task');
  const data = MODELS.filter((item) => task === null || item.task === task);
  send(response, 200, { data, object: 'list' });
}

async function speech(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const fields = required(request, response, ['model', 'input', 'voice']);
  if (fields === null) return;
  const [id, voice] = [textIn(fields, 'model', ''), textIn(fields, 'voice', '')];
  if (!MODELS.some((item) => item.id === id && isSpeaker(item))) return notInstalled(response, id);
  if (!voicesOf(id).some(({ name }) => name === voice)) {
    const detail = `Voice '${voice}' is not supported. Supported voices: []`;
    return send(response, 422, { detail });
  }
  const wav = unsizedWav(SPOKEN_SECONDS);
  const format = textIn(fields, 'response_format', 'mp3');
  return speakAs(response, format, { contentType: `audio/${format}`, wav });
}

async function transcribe(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const form = await formOf(request);
  if (!(form.get('file') instanceof File)) return refuseField(response, 'file', 'Field required');
  const id = form.get('model');
  if (id !== WHISPER) return notInstalled(response, id);
  if (form.get('response_format') !== 'verbose_json') return send(response, 200, { text: TEXT });
  const isTimed = form.getAll('timestamp_granularities[]').includes('word');
  const words = isTimed ? [{ start: 0.1, end: 0.4, word: ' large', probability: 0.9 }] : null;
  const segment = { id: 1, seek: 0, start: 0, end: 0.5, text: TEXT, tokens: [1], temperature: 0 };
  const told = { task: 'transcribe', language: 'en', duration: 0.5, text: TEXT };
  return send(response, 200, { ...told, words, segments: [{ ...segment, words }] });
}

const TEXT = 'large round could';

function notInstalled(response: ServerResponse, id: unknown): void {
  const detail = `Model '${String(id)}' is not installed locally. You can download the model.`;
  send(response, 404, { detail });
}
