/**
 * How a request body is checked, and how the first thing that is wrong is told in the words of the
 * caller's own body.
 */
import * as z from 'zod';
import { ApiError } from '../errors.js';

/** Characters of a wrong value that are told back. */
const MAX_SHOWN = 80;

/** The name that callers give to a model. */
export const modelName = z.string().min(1).max(256);

/** Every JSON endpoint takes it, those too that cannot run as jobs. */
export const asyncFlag = z.boolean().nullish();

/** Where a caller writes the fields. */
type Place = 'request body' | 'query';

/** Throws an `ApiError` that names the field, its value and what is wrong with it. */
export function check<T>(schema: z.ZodType<T>, value: unknown, place: Place = 'request body'): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw toApiError(parsed.error.issues[0], place);
}

/** What a schema that stands for another one means: for whoever describes it. */
export const LIST_ITEMS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Looks no further than the first item that is wrong. zod's own lists note each, some 700 bytes a
 * time (measured), and 32 MiB hold 16 million of them.
 */
export function listOf(item: z.ZodType) {
  const anything = z.unknown();
  LIST_ITEMS.set(anything, item);
  return z.array(anything).check((list) => {
    for (const [index, value] of list.value.entries()) {
      if (item.safeParse(value).success) continue;
      const issue = item.safeParse(value, { reportInput: true }).error?.issues[0];
      list.issues.push({ ...issue, path: [index, ...(issue?.path ?? [])] } as z.core.$ZodRawIssue);
      return;
    }
  });
}

function toApiError(issue: z.core.$ZodIssue | undefined, place: Place): ApiError {
  if (issue === undefined) return new ApiError('invalid_value', 'The request is not valid.');
  const param = fieldName(issue.path);
  const absent = issue.input === undefined || issue.input === null || hasParam(issue, 'missing');
  if (absent && param !== '') return missingParameter(param, place);
  const subject = param === '' ? `The ${place}` : `'${param}'`;
  const text = `${subject} is ${show(issue.input)}: ${issue.message}.`;
  return new ApiError(codeOf(issue), text, param === '' ? {} : { param });
}

/** A field, or a file of a form, that is not there. */
export function missingParameter(param: string, place: Place = 'request body'): ApiError {
  const text = `Missing required parameter: '${param}'. Add it to the ${place}.`;
  return new ApiError('missing_required_parameter', text, { param });
}

function codeOf(issue: z.core.$ZodIssue): 'invalid_type' | 'invalid_value' | 'unsupported_value' {
  if (hasParam(issue, 'unsupported')) return 'unsupported_value';
  const wrongType = issue.code === 'invalid_type' || issue.code === 'invalid_union';
  return wrongType ? 'invalid_type' : 'invalid_value';
}

function hasParam(issue: z.core.$ZodIssue, name: 'missing' | 'unsupported'): boolean {
  return issue.code === 'custom' && issue.params?.[name] === true;
}

/** `messages[0].role`, as the field's own documentation writes it. */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** Lists and objects by their kind alone: they may be megabytes long, or too deep to be written. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}
