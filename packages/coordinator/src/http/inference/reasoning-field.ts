/** The field name in which a caller reads a model's reasoning. It is sent only once. */
import { ApiError } from '@inference-gateway/shared/errors';
import { BODY_LIMITS, jsonFault } from '@inference-gateway/shared/json/scan';
import { REASONING_FIELDS } from '@inference-gateway/shared/protocol/messages';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { Context } from '../edge/context.js';

export const REASONING_HEADER = 'x-reasoning-field';

/** Throws `invalid_value` if the header has another value. */
export function reasoningFieldOf(ctx: Context): ReasoningField {
  const asked = ctx.get(REASONING_HEADER);
  const field = REASONING_FIELDS.find((name) => name === asked);
  if (field !== undefined) return field;
  if (asked === '') return REASONING_FIELDS[0];
  const names = REASONING_FIELDS.map((name) => `'${name}'`).join(' or ');
  const message = `The header ${REASONING_HEADER} is '${asked}'. It may be ${names}.`;
  throw new ApiError('invalid_value', message, { param: REASONING_HEADER });
}

/**
 * Longer results, or those with more values, stay unchanged: parsing would block the event loop.
 */
const MAX_RENAMED_CHARACTERS = 1024 * 1024;
const RENAMED_LIMITS = { ...BODY_LIMITS, maxValues: 5_000, maxNumbers: 20_000 };

/** Renames it in the messages of a complete chat completion, the stored JSON of a job's result. */
export function nameReasoning(result: string, field: ReasoningField): string {
  // The form that agents send.
  if (field === REASONING_FIELDS[0] || result.length > MAX_RENAMED_CHARACTERS) return result;
  if (jsonFault(Buffer.from(result), RENAMED_LIMITS) !== null) return result;
  const answer = JSON.parse(result) as unknown;
  for (const choice of listOf(fieldOf(answer, 'choices'))) {
    const message = fieldOf(choice, 'message');
    if (!isObject(message)) continue;
    const told = REASONING_FIELDS.map((name) => message[name]).find((text) => isText(text));
    if (told === undefined) continue;
    for (const name of REASONING_FIELDS) delete message[name];
    message[field] = told;
  }
  return JSON.stringify(answer);
}

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
