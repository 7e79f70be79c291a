/** A JSON body as the fields of a form. */
import { RawJson } from '@inference-gateway/shared/json/sparse';
import type { JsonObject } from './json.js';

/** Lists become `name[]`, as OpenAI's clients write them; what is null is left out. */
export function formFields(body: Readonly<JsonObject>): (readonly [string, string])[] {
  return Object.entries(body).flatMap(([name, value]): [string, string][] => {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) return [[name, asField(value)]];
    return value.map((item): [string, string] => [`${name}[]`, asField(item)]);
  });
}

function asField(value: unknown): string {
  if (value instanceof RawJson) return Buffer.from(value.bytes).toString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
