/** Speech in the words of piper's HTTP server. */
import type { LocalCall } from '../backend.js';
import { asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';

/** OpenAI's range of speeds; a longer sound would fill the memory of its owner's machine. */
const SLOWEST = 0.25;
const FASTEST = 4;

/** Passed on as they are. */
const OWN_FIELDS = ['speaker', 'speaker_id', 'noise_scale', 'noise_w_scale'];

/** Fields that it does not know are left out; a caller's own `length_scale` goes before `speed`. */
export function piperFields({ body, model }: LocalCall): JsonObject {
  const voice = asText(body['voice']) ?? model.voices?.[0] ?? null;
  const scale = ownScale(body['length_scale']) ?? lengthScale(body['speed']);
  const own = OWN_FIELDS.filter((name) => isPlain(body[name]));
  return {
    text: asText(body['input']) ?? '',
    ...(voice !== null && { voice }),
    ...(scale !== null && { length_scale: scale }),
    ...Object.fromEntries(own.map((name) => [name, body[name]])),
  };
}

/** Twice the speed is half the length. Null where that is no speed. */
export function lengthScale(speed: unknown): number | null {
  const isSpeed = typeof speed === 'number' && speed >= SLOWEST && speed <= FASTEST;
  return isSpeed ? 1 / speed : null;
}

/** Null where it is no number. */
function ownScale(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) return null;
  return Math.min(Math.max(number, 1 / FASTEST), 1 / SLOWEST);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}
