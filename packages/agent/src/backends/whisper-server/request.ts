/** The fields of a transcription in the words of whisper.cpp's server. */
import { asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { languageCode } from '../../openai-wire/whisper-languages.js';

type Field = [name: string, value: string];

/**
 * Fields that it does not read, such as `model`, are left out. It is always asked for its longest
 * answer: the others tell no duration.
 */
export function whisperFields(body: Readonly<JsonObject>): Field[] {
  const prompt = asText(body['prompt']);
  return [
    ['response_format', 'verbose_json'],
    ['language', knownLanguage(asText(body['language']))],
    // They would cost a second pass through the encoder.
    ['no_language_probabilities', 'true'],
    // Its segments end after 60 characters, without this in the middle of a word.
    ['split_on_word', 'true'],
    ...(prompt === null ? [] : ([['prompt', prompt]] satisfies Field[])),
    ...numeric(body, 'temperature'),
    ...numeric(body, 'temperature_inc'),
  ];
}

/** Without one it would take English, whatever is spoken; a locale such as `en-GB` it ignores. */
function knownLanguage(language: string | null): string {
  if (language === null) return 'auto';
  return languageCode(language) ?? languageCode(language.split(/[-_]/)[0] ?? '') ?? 'auto';
}

/** A number that is none would be a failure of the server's. */
function numeric(body: Readonly<JsonObject>, name: string): Field[] {
  const value = body[name];
  const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
  return isNumber && Number.isFinite(Number(value)) ? [[name, String(Number(value))]] : [];
}
