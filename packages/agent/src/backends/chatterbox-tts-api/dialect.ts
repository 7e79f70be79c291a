/** travisvn's chatterbox-tts-api: it answers every request with one WAV of one model. */
import { refusal } from '../../openai-wire/error-document.js';
import { asText } from '../../openai-wire/json.js';
import type { Dialect } from '../openai/dialect.js';
import { readVoices } from '../openai/voices.js';

/** The server's own limit, in characters as Python counts them. */
const MAX_CHARACTERS = 3_000;

export const CHATTERBOX_TTS_API: Dialect = {
  dropFields: ['stream_format'],
  formats: ['wav'],
  outlives: ['speech'],
  async voices({ baseUrl, find }) {
    const told = readVoices(await find(`${baseUrl}/voices`));
    return told.length > 0 ? told : readVoices(await find(`${baseUrl}/audio/voices`));
  },
  refuse({ uploads, body, model }) {
    const length = Array.from(asText(body['input']) ?? '').length;
    // With a recording it does not check the length.
    if (uploads.length > 0 || length <= MAX_CHARACTERS) return null;
    const message =
      `'input' has ${length} characters; ${model.id} speaks ${MAX_CHARACTERS} at a time here. ` +
      'Send the text in shorter pieces.';
    return refusal(400, message, { code: 'provider_rejected', param: 'input' });
  },
  // Newer versions refuse the model name that they list, and use the loaded model if there is none.
  shape({ model, ...fields }) {
    return model === LISTED ? fields : { model, ...fields };
  },
};

const LISTED = 'chatterbox-tts-1';
