/** Music in the words of ACE-Step 1.5. */
import type { DocumentAnswer, LocalCall } from '../backend.js';
import { refusal } from '../../openai-wire/error-document.js';
import { asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';

/** What it makes, in seconds. */
const SHORTEST_S = 10;
const LONGEST_S = 600;
/** The content type of the answer tells what came, where it is asked for something else. */
const FORMATS: ReadonlySet<unknown> = new Set(['mp3', 'wav', 'flac', 'opus', 'aac']);
/**
 * Passed on as they are. Others, such as `src_audio_path` and `lm_model_path`, name files on the
 * owner's disk, or change what is loaded.
 */
const OWN_FIELDS = ['lyrics', 'vocal_language', 'thinking', 'bpm', 'key_scale', 'time_signature'];
/** A caller must not hold the card for hours; its own models know no more. */
const NUMBERS = { inference_steps: { from: 1, to: 200 }, guidance_scale: { from: 0, to: 30 } };

/** One piece: it would make two. */
export function aceStepFields({ body, model }: LocalCall): JsonObject {
  const own = OWN_FIELDS.filter((name) => isPlain(body[name]));
  const { seed, audio_duration: seconds, audio_format: format } = body;
  return {
    prompt: asText(body['prompt']) ?? '',
    model: model.served_name,
    batch_size: 1,
    ...Object.fromEntries(own.map((name) => [name, body[name]])),
    ...(typeof seconds === 'number' && { audio_duration: seconds }),
    ...numbers(body),
    ...(FORMATS.has(format) && { audio_format: format }),
    ...(typeof seed === 'number' && seed >= 0 && { seed, use_random_seed: false }),
  };
}

/** Null where there is nothing to refuse. */
export function refuseMusic({ audio_duration: seconds }: LocalCall['body']): DocumentAnswer | null {
  if (typeof seconds !== 'number') return null;
  if (seconds >= SHORTEST_S && seconds <= LONGEST_S) return null;
  const message = `'audio_duration' is ${seconds}. Send ${SHORTEST_S} to ${LONGEST_S} seconds.`;
  return refusal(400, message, { code: 'invalid_value', param: 'audio_duration' });
}

function numbers(body: LocalCall['body']): JsonObject {
  const given = Object.entries(NUMBERS).flatMap(([name, { from, to }]) => {
    const value = body[name];
    return typeof value === 'number' ? [[name, Math.min(Math.max(value, from), to)] as const] : [];
  });
  return Object.fromEntries(given);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
