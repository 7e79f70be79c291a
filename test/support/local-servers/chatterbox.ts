/** devnen's Chatterbox-TTS-Server: no list of models, and voices that are file names. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { refuseField, required, textIn } from './posted.js';
import { page, startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { speakAs } from './spoken.js';

export interface ChatterboxOptions {
  readonly loaded?: boolean;
  /** False: an older version, without a list of voices in OpenAI's style. */
  readonly listsVoices?: boolean;
}

const PREDEFINED = ['Abigail.wav', 'Thomas.wav'];
const REFERENCE = ['mine.mp3'];
export const CHATTERBOX_VOICES = [...PREDEFINED, ...REFERENCE];

export function startChatterbox(options: ChatterboxOptions = {}): Promise<RoutedServer> {
  const { loaded = true, listsVoices = true } = options;
  return startRoutedServer({
    software: 'uvicorn',
    title: 'Chatterbox TTS Server',
    get: {
      '/': page('Chatterbox TTS Server'),
      '/api/model-info': {
        loaded,
        type: loaded ? 'turbo' : null,
        class_name: loaded ? 'ChatterboxTurboTTS' : null,
        device: 'cuda',
        sample_rate: 24_000,
        turbo_available_in_package: true,
      },
      '/get_predefined_voices': PREDEFINED.map((filename) => {
        return { display_name: filename.replace('.wav', ''), filename };
      }),
      '/get_reference_files': REFERENCE,
      ...(listsVoices && { '/v1/audio/voices': { status: 'ok', voices: CHATTERBOX_VOICES } }),
    },
    post: {
      '/v1/audio/speech': (request, response) => speech(request, response, loaded),
    },
  });
}

async function speech(
  request: RecordedRequest,
  response: ServerResponse,
  loaded: boolean,
): Promise<void> {
  const fields = required(request, response, ['model', 'input', 'voice']);
  if (fields === null) return;
  const format = textIn(fields, 'response_format', 'wav');
  if (!['wav', 'opus', 'mp3'].includes(format)) {
    const message = "Input should be 'wav', 'opus' or 'mp3'";
    return refuseField(response, 'response_format', message);
  }
  const voice = textIn(fields, 'voice', '');
  if (!CHATTERBOX_VOICES.includes(voice)) {
    return send(response, 404, { detail: `Voice file '${voice}' not found.` });
  }
  if (!loaded) {
    const detail = 'TTS engine model is not currently loaded or available.';
    return send(response, 503, { detail });
  }
  return speakAs(response, format, { contentType: `audio/${format}` });
}
