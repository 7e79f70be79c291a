/** travisvn's chatterbox-tts-api: whatever is asked, it answers one WAV of one model. */
import { refusal } from '../../openai-wire/error-document.js';
import { asText } from '../../openai-wire/json.js';
import type { Dialect } from '../openai/dialect.js';
import { readVoices } from '../openai/voices.js';

/** Its own limit, in characters as Python counts them. */
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
    // With a recording it speaks what it is given.
    if (uploads.length > 0 || length <= MAX_CHARACTERS) return null;
    const message =
      `'input' has ${length} characters; ${model.id} speaks ${MAX_CHARACTERS} at a time here. ` +
      'Send the text in shorter pieces.';
    return refusal(400, message, { code: 'provider_rejected', param: 'input' });
  },
  // Newer ones refuse the very name that they list, and take none for the model that they have.
  shape({ model, ...fields }) {
    return model === LISTED ? fields : { model, ...fields };
  },
};

const LISTED = 'chatterbox-tts-1';
