/** The headers of answers. */
import type { Header, Reference } from './open-api.js';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const always = { required: true, schema: count } as const;

export const HEADERS = {
  'x-request-id': {
    description: 'Names this request; the gateway’s own, whatever the caller sent.',
    required: true,
    schema: { ...text, pattern: '^req_' },
  },
  'X-RateLimit-Limit': { description: 'Requests allowed in the window.', ...always },
  'X-RateLimit-Remaining': { description: 'Requests left in the window.', ...always },
  'X-RateLimit-Reset': { description: 'Seconds until more are allowed.', ...always },
  'x-provider': {
    description: 'The public name of the provider that answered, percent-encoded.',
    schema: text,
  },
  'x-model': {
    description: 'The model that answered (of an alias, the one that served), encoded as a URL is.',
    schema: text,
  },
  'x-attempts': { description: 'Providers tried, this one included.', schema: count },
  'x-queue-ms': { description: 'Milliseconds of waiting for a free slot.', schema: count },
  'x-gateway-overhead-ms': { description: 'Milliseconds that the gateway added.', schema: count },
  'x-usage': {
    description: 'Only where the model server did not count the tokens, or told too many.',
    schema: { const: 'estimated' },
  },
  'x-max-tokens': {
    description: 'The most tokens that the share of its provider gives, where that is less.',
    schema: { type: 'integer', minimum: 1 },
  },
  'x-asset-url': {
    description: 'Where the file is kept. On every raw answer.',
    schema: { ...text, format: 'uri' },
  },
  'x-downgraded': {
    description: 'The format that no provider of this model could make.',
    schema: { ...text, const: 'verbose_json' },
  },
  'x-ignored-tools': {
    description: 'The tools that were left out, separated by commas.',
    schema: text,
  },
  'x-voice-fallback': {
    description: 'The voice that spoke instead of the one asked for, percent-encoded.',
    schema: text,
  },
  'Idempotency-Replayed': {
    description: 'An earlier request with this key is answered again.',
    schema: { ...text, const: 'true' },
  },
  Location: {
    description:
      'A link to the object storage of the gateway, good for a short time; or a page of it.',
    required: true,
    schema: text,
  },
  'Retry-After': {
    description: 'Whole seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1, maximum: 60 },
  },
  'retry-after-ms': { description: 'The same in milliseconds.', ...always },
  'x-should-retry': {
    description: 'Stops stock clients from sending the request again.',
    schema: { ...text, const: 'false' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { ...text, const: 'Bearer' },
  },
  'Set-Cookie': {
    description: 'The session, which lives on with each use; or none any more.',
    required: true,
    schema: text,
  },
  'Accept-Ranges': { description: 'Parts of a file can be fetched.', schema: text },
  'Content-Range': { description: 'Which part it is, or how long the file is.', schema: text },
  ETag: { description: 'Changes with what is answered.', schema: text },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

/** In every answer. */
export const PLAIN_HEADERS = ['x-request-id'] as const;
/** In every answer to a valid key. */
export const CALLER_HEADERS = [
  ...PLAIN_HEADERS,
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const;
/** In answers of a provider. */
export const PROVIDER_HEADERS = [
  ...CALLER_HEADERS,
  'x-provider',
  'x-model',
  'x-attempts',
  'x-queue-ms',
  'x-gateway-overhead-ms',
] as const;

export function headers(...names: readonly HeaderName[]): Record<string, Reference> {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}

/** The same as optional headers, for answers that may precede them. */
export function optional(...names: readonly HeaderName[]): Record<string, Header> {
  return Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));
}
