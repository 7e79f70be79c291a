/** JSON of a local server, read without trust and without a schema: chunks come 25,000 a second. */

import { ANSWER_LIMITS, jsonFault } from '@inference-gateway/shared/json/scan';

export type JsonObject = Record<string, unknown>;

/** Shorter texts hold too little to be counted. */
const MAX_UNCOUNTED_CHARACTERS = 16_384;

/** Undefined where the text is not JSON, or holds more than an answer does. */
export function parseJson(text: string): unknown {
  if (text.length > MAX_UNCOUNTED_CHARACTERS && isTooMuch(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isTooMuch(text: string): boolean {
  return jsonFault(Buffer.from(text), ANSWER_LIMITS) !== null;
}

export function asObject(value: unknown): JsonObject | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : null;
}

/** The objects of a list; anything else in it, or instead of it, is left out. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}

/** A string that is not empty. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
