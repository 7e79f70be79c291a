/** The fields of a transcription in the words of whisper-asr-webservice. */
import { asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { languageCode } from '../../openai-wire/whisper-languages.js';

/** whisper hears the last 224 tokens; more would only make the address too long. */
const MAX_PROMPT_CHARACTERS = 1_000;

/** JSON is asked for in any case, and words only where they are wanted: they cost time. */
export function whisperAsrQuery(body: Readonly<JsonObject>): URLSearchParams {
  const query = new URLSearchParams({ task: 'transcribe', output: 'json' });
  const granularities = body['timestamp_granularities'];
  const isTimed = Array.isArray(granularities) && granularities.includes('word');
  query.set('word_timestamps', String(isTimed));
  const language = knownLanguage(asText(body['language']));
  if (language !== null) query.set('language', language);
  const prompt = asText(body['prompt']);
  if (prompt !== null) query.set('initial_prompt', prompt.slice(-MAX_PROMPT_CHARACTERS));
  if (body['vad_filter'] === true) query.set('vad_filter', 'true');
  return query;
}

/** One that whisper does not know would be a failure of the server's. */
function knownLanguage(language: string | null): string | null {
  if (language === null) return null;
  return languageCode(language) ?? languageCode(language.split(/[-_]/)[0] ?? '');
}
