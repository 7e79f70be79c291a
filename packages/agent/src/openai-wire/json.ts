/**
 * Reads a local server's JSON without trust and without a schema: up to 25,000 chunks arrive per
 * second.
 */

import { ANSWER_LIMITS, jsonFault } from '@inference-gateway/shared/json/scan';

export type JsonObject = Record<string, unknown>;

/** Shorter texts have too few values to need a count. */
const MAX_UNCOUNTED_CHARACTERS = 16_384;

/** Undefined if the text is not JSON, or exceeds the limits of an answer. */
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

/** The objects of a list; skips other items. Empty if the value is not a list. */
export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}

/** A string that is not empty. */
export function asText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
