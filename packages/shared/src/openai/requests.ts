/**
 * Every request of the specification, section 4: known fields are checked, unknown ones pass
 * unchanged, and `null` counts as absent.
 */
import * as z from 'zod';
import { ENDPOINTS } from '../endpoints.js';
import type { EndpointKey } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { check } from './check.js';
import { findMisspelledField, misspelled, refuseMisspelledNames } from './field-names.js';
import { kindOf } from './kinds.js';
import type { RequestLimits } from './kinds.js';
import { REQUEST_SCHEMAS } from './request-schemas.js';
import { parseWebhook } from './webhook.js';
import type { WebhookTarget } from './webhook.js';

export type { RequestLimits };

/** A checked request: `async` and `webhook` are removed from the body. */
export interface ParsedRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly async: boolean;
  /** The webhook for the job's end; without effect on a synchronous call. */
  readonly webhook: WebhookTarget | null;
  /** The requested form of the answer; null if the caller leaves the choice. */
  readonly responseFormat: string | null;
  /** The body for the provider. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The fields of a form, each with its values in order of arrival. */
export type FormFields = ReadonlyMap<string, readonly string[]>;

/** Checks a JSON body; throws an `ApiError` that names the field. */
export function parseRequest(
  endpoint: EndpointKey,
  value: unknown,
  limits: RequestLimits,
): ParsedRequest {
  refuseMisspelledNames(value);
  const { target, rest } = takeWebhook(value);
  const checked = checkFields(endpoint, rest, limits);
  const webhook = parseWebhook(target);
  return finish(endpoint, checked, { async: checked['async'] === true, webhook });
}

/** Taken out first, because its URL is not fetched by a model server. */
function takeWebhook(value: unknown): { readonly target: unknown; readonly rest: unknown } {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !('webhook' in value)) return { target: undefined, rest: value };
  const { webhook: target, ...rest } = value;
  return { target, rest };
}

/** Checks the fields of an upload form, which never runs as a job. */
export function parseForm(
  endpoint: EndpointKey,
  fields: FormFields,
  limits: RequestLimits,
): ParsedRequest {
  const wrong = findMisspelledField(fields.keys());
  if (wrong !== null) throw misspelled(wrong);
  refuseAsync(fields.get('async')?.at(-1) ?? '');
  return finish(endpoint, checkFields(endpoint, toObject(fields), limits), SYNCHRONOUS);
}

const SYNCHRONOUS = { async: false, webhook: null } as const;

/** By the endpoint's schema and kind. */
function checkFields(
  endpoint: EndpointKey,
  value: unknown,
  limits: RequestLimits,
): Record<string, unknown> {
  const schema: z.ZodType<Record<string, unknown>> = REQUEST_SCHEMAS[endpoint];
  const place = ENDPOINTS[endpoint].body === 'query' ? 'query' : 'request body';
  const kind = kindOf(endpoint);
  const prepared = kind.prepare(check(schema, value, place), limits);
  const foreign = kind.findForeign(prepared);
  if (foreign !== null) throw foreignUrl(foreign);
  return prepared;
}

function foreignUrl(param: string): ApiError {
  const text =
    `'${param}' must be a data: URL. ` +
    'A model server would fetch any other inside a home network.';
  return new ApiError('unsupported_value', text, { param });
}

/** Form fields are strings: Python sends `True`, others send 1. */
function refuseAsync(written: string): void {
  const asked = written.toLowerCase();
  if (asked === '' || asked === 'false' || asked === '0') return;
  const isTrue = asked === 'true' || asked === '1';
  const message = isTrue
    ? 'Uploads cannot run as jobs. Leave the field async away.'
    : `'async' is ${JSON.stringify(written.slice(0, 80))}: it must be true or false.`;
  throw new ApiError(isTrue ? 'async_not_supported' : 'invalid_type', message, { param: 'async' });
}

function finish(
  endpoint: EndpointKey,
  checked: Record<string, unknown>,
  way: Pick<ParsedRequest, 'async' | 'webhook'>,
): ParsedRequest {
  const { text, withoutForm } = kindOf(endpoint);
  const body = 'async' in checked || 'webhook' in checked ? withoutJobFields(checked) : checked;
  const { model, stream, response_format: format } = body;
  return {
    model: String(model),
    stream: text !== null && stream === true,
    ...way,
    responseFormat: typeof format === 'string' ? format : null,
    body: withoutForm(body),
  };
}

function withoutJobFields(checked: Record<string, unknown>): Record<string, unknown> {
  const { async: _async, webhook: _formField, ...body } = checked;
  return body;
}

/** `name[]` is an array; of other fields the last value counts, and an empty one is absent. */
function toObject(fields: FormFields): Record<string, unknown> {
  const entries = Array.from(fields, ([name, values]): [string, unknown] => {
    if (name.endsWith('[]')) return [name.slice(0, -2), values];
    return [name, LISTS.has(name) ? values : values.at(-1) || null];
  });
  return Object.fromEntries(entries);
}

/** Arrays that some clients send without the brackets. */
const LISTS: ReadonlySet<string> = new Set(['timestamp_granularities']);
