/**
 * Checks a request body, and describes the first error with the caller's own field names and
 * values.
 */
import * as z from 'zod';
import { ApiError } from '../errors.js';

/** Characters of an invalid value that are repeated in the error. */
const MAX_SHOWN = 80;

/** The schema of a model's name. */
export const modelName = z.string().min(1).max(256);

/** Every JSON endpoint accepts it, including those that cannot run as jobs. */
export const asyncFlag = z.boolean().nullish();

/** Where the fields are. */
type Place = 'request body' | 'query';

/** The keys and indexes that lead to a field. */
export type Path = readonly PropertyKey[];

/** Throws an `ApiError` with the field, its value and the reason. */
export function check<T>(schema: z.ZodType<T>, value: unknown, place: Place = 'request body'): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw toApiError(parsed.error.issues[0], place);
}

/** The same for a part of the request body; `at` is where it is: `['input', 3]`, `input[3]`. */
export function checkAt<T>(schema: z.ZodType<T>, value: unknown, at: Path | string = []): T {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const before = typeof at === 'string' ? [at].filter((one) => one !== '') : at;
  throw toApiError(issue && { ...issue, path: [...before, ...issue.path] }, 'request body');
}

/** A value that is valid in that API, but that the gateway cannot serve. */
export function unsupported(value: unknown, path: Path, rule: string): ApiError {
  const param = fieldName(path);
  const text = `'${param}' is ${show(value)}: ${rule}.`;
  return new ApiError('unsupported_value', text, { param });
}

/** The schema that a replacement stands for, for the API description. */
export const LIST_ITEMS = new WeakMap<z.core.$ZodType, z.ZodType>();

/**
 * Stops at the first invalid item. zod's own arrays record each, about 700 bytes (measured), and
 * 32 MiB may contain 16 million.
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

/** The error for a missing field, or a missing file of a form. */
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
function fieldName(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/** Arrays and objects only by their type: they may be megabytes long, or too deep to serialize. */
function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value);
}
