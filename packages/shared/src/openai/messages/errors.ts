/** Errors in the envelope of Anthropic's Messages API. */
import { ERRORS } from '../../errors.js';
import type { ApiError } from '../../errors.js';

interface MessagesError {
  /** The gateway's own: that API's SDK retries every 5xx, and 429, like that API's own 529. */
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** `requestId`: the value of the header `request-id`. */
export function messagesError(error: ApiError, requestId: string): MessagesError {
  const { status, message, code, param } = error;
  // `code` and `param` are additions, by which callers tell errors apart.
  const detail = { type: typeOf(error), message, code, param };
  return { status, body: { type: 'error', error: detail, request_id: requestId } };
}

/** The specification's types that stay in every API. */
const KEPT: ReadonlySet<string> = new Set(['not_authenticated', 'no_provider']);

const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
]);

function typeOf({ code, status }: ApiError): string {
  const { type } = ERRORS[code];
  if (KEPT.has(type)) return type;
  // It stays off, however often a client retries.
  if (code === 'async_disabled') return 'api_error';
  return TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
