/** The body of `POST /batches` (specification, section 4). */
import * as z from 'zod';
import { ENDPOINTS, ENDPOINT_KEYS } from '../endpoints.js';
import type { EndpointKey } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { check, listOf } from './check.js';
import { refuseMisspelledNames } from './field-names.js';
import { parseRequest } from './requests.js';
import type { ParsedRequest, RequestLimits } from './requests.js';
import { API_NAMES, parseTranslated, TRANSLATED_APIS } from './translated-apis.js';
import type { ApiName, Translated } from './translated-apis.js';
import { parseWebhook } from './webhook.js';
import type { WebhookTarget } from './webhook.js';

export const MAX_BATCH_ITEMS = 256;
const MAX_LABEL_CHARACTERS = 256;

/** What an item asks for; `api` is null if it is in the form of its endpoint. */
interface Batchable {
  readonly endpoint: EndpointKey;
  readonly api: ApiName | null;
}

/** By the path in an item: endpoints that can run as jobs, and APIs that are translated to them. */
export const BATCHABLE: ReadonlyMap<string, Batchable> = new Map<string, Batchable>([
  ...ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].inferenceType !== null).map(
    (endpoint) => [`/v1${ENDPOINTS[endpoint].path}`, { endpoint, api: null }] as const,
  ),
  ...API_NAMES.map((api) => {
    const { path, endpoint } = TRANSLATED_APIS[api];
    return [`/v1${path}`, { endpoint, api }] as const;
  }),
]);

export interface BatchItem {
  readonly endpoint: EndpointKey;
  readonly request: ParsedRequest;
  /** Absent for a request in the form of its endpoint. */
  readonly translated?: Translated;
}

export interface ParsedBatch {
  readonly items: readonly BatchItem[];
  readonly label: string | null;
  readonly webhook: WebhookTarget | null;
}

const ENDPOINT_RULE = `it must be one of ${[...BATCHABLE.keys()].join(', ')}`;

const itemSchema = z.looseObject(
  {
    endpoint: z
      .string()
      .transform((path, told) => {
        const batchable = BATCHABLE.get(path);
        if (batchable !== undefined) return batchable;
        told.issues.push({ code: 'custom', message: ENDPOINT_RULE, input: path });
        return z.NEVER;
      })
      .meta({ enum: [...BATCHABLE.keys()] }),
    body: z.looseObject({}, 'it must be an object'),
  },
  'it must be an object with endpoint and body',
);
const envelope = z.looseObject({ requests: z.unknown().optional() });
/** The items of a batch. */
export const wellFormed = z.looseObject({ requests: listOf(itemSchema) });
/** Fields of a batch besides its items. */
export const labelled = z.looseObject({ label: z.string().max(MAX_LABEL_CHARACTERS).nullish() });

/** Checks every item before any becomes a job; throws an `ApiError` for the first invalid one. */
export function parseBatch(value: unknown, limits: RequestLimits): ParsedBatch {
  requireCount(envelope.safeParse(value).data?.requests ?? null);
  const { requests } = asItem(null, () => check(wellFormed, value));
  const items = requests.map((item, index) => parseItem(item, index, limits));
  const { requests: _items, ...beside } = check(labelled, value);
  refuseMisspelledNames(beside);
  const { label, webhook } = beside;
  return { items, label: label ?? null, webhook: parseWebhook(webhook) };
}

/**
 * The error of a direct call as the error of an item at `place`, whose field is named from the root
 * of the batch's body: `requests[17].body.model`.
 */
export function asItem<T>(place: string | null, act: () => T): T {
  try {
    return act();
  } catch (fault) {
    if (!(fault instanceof ApiError)) throw fault;
    const message = place === null ? fault.message : `In ${place}: ${fault.message}`;
    const param = [place, fault.param].filter((part) => part !== null).join('.');
    throw new ApiError('invalid_item', message, { param });
  }
}

/** The path of an item's body. */
export function bodyOf(index: number): string {
  return `requests[${index}].body`;
}

function requireCount(requests: unknown): void {
  const wanted = `Send a list of 1 to ${MAX_BATCH_ITEMS}, each with endpoint and body.`;
  const fault = { param: 'requests' };
  if (requests === null) {
    throw new ApiError('missing_requests', `'requests' is missing. ${wanted}`, fault);
  }
  if (!Array.isArray(requests)) {
    throw new ApiError('missing_requests', `'requests' is not a list. ${wanted}`, fault);
  }
  if (requests.length === 0) {
    throw new ApiError('empty_batch', `'requests' is empty. ${wanted}`, fault);
  }
  if (requests.length <= MAX_BATCH_ITEMS) return;
  const message =
    `'requests' has ${requests.length} items; a batch takes ${MAX_BATCH_ITEMS}. ` +
    'Send the rest as another batch.';
  throw new ApiError('batch_too_large', message, fault);
}

function parseItem(value: unknown, index: number, limits: RequestLimits): BatchItem {
  const { endpoint, body } = itemSchema.parse(value);
  return parseRequestAt(bodyOf(index), { ...endpoint, body }, limits);
}

/** Checks the request of an item; `place`: of its body, for errors. */
export function parseRequestAt(
  place: string,
  { endpoint, api, body }: Batchable & { readonly body: unknown },
  limits: RequestLimits,
): BatchItem {
  return asItem(place, () => {
    const parsed =
      api === null
        ? { request: parseRequest(endpoint, body, limits) }
        : parseTranslated(api, body, limits);
    if (parsed.request.webhook !== null) throw ownWebhook();
    return { endpoint, ...parsed };
  });
}

function ownWebhook(): ApiError {
  const message = 'A batch has one webhook. Put it beside requests, not into an item.';
  return new ApiError('unsupported_value', message, { param: 'webhook' });
}
