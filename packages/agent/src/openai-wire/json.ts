/** JSON of a local server, read without trust and without a schema: chunks come 25,000 a second. */

export type JsonObject = Record<string, unknown>;

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
