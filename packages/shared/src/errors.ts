/**
 * All error codes of the API, one row each, with HTTP status, `type` and the remedy for a client. A
 * test compares this table with the one in `docs/errors.md`. Source: specification, section 7, and
 * the fixed rows below.
 */

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  /**
   * The header `x-should-retry`; absent if the status alone is enough for stock clients.
   */
  readonly shouldRetry?: false;
  /** Default of `Retry-After`, in seconds. */
  readonly retryAfterS?: number;
  /** `Retry-After` may be longer than the 60 s that all clients accept: the wait is hours. */
  readonly waitsLong?: true;
  /** Closes the connection after the answer: the rest of the request body is not read. */
  readonly closes?: true;
}

const badRequest = { status: 400, type: 'invalid_request_error' } as const;
const badBatch = { status: 400, type: 'invalid_request' } as const;
const unauthenticated = { status: 401, type: 'not_authenticated' } as const;
const noProvider = { status: 404, type: 'no_provider' } as const;
const notFound = { status: 404, type: 'not_found' } as const;
const tooLarge = { status: 413, type: 'request_too_large', closes: true } as const;
const unsupported = { status: 415, type: 'unsupported_media_type' } as const;
const limited = { status: 429, type: 'rate_limit_exceeded', retryAfterS: 1 } as const;
const upstream = { status: 502, type: 'upstream_error', shouldRetry: false } as const;
const unavailable = { status: 503, type: 'server_error', retryAfterS: 5 } as const;

export const ERRORS = {
  invalid_json: badRequest,
  invalid_multipart: badRequest,
  missing_required_parameter: badRequest,
  invalid_type: badRequest,
  invalid_value: badRequest,
  unsupported_value: badRequest,
  async_not_supported: badRequest,
  context_length_exceeded: badRequest,
  provider_rejected: badRequest,
  unsupported_modality: badRequest,
  authorization_pending: badRequest,
  slow_down: badRequest,
  expired_token: badRequest,
  access_denied: badRequest,
  missing_requests: badBatch,
  empty_batch: badBatch,
  invalid_item: badBatch,
  batch_too_large: { status: 400, type: 'too_large' },
  missing_api_key: unauthenticated,
  invalid_api_key: unauthenticated,
  expired_api_key: unauthenticated,
  disabled_api_key: unauthenticated,
  expired_asset_link: unauthenticated,
  invalid_asset_link: unauthenticated,
  not_logged_in: unauthenticated,
  not_set_up: unauthenticated,
  wrong_password: unauthenticated,
  invalid_invite: unauthenticated,
  invalid_setup_link: unauthenticated,
  invalid_reset_link: unauthenticated,
  invalid_passkey: unauthenticated,
  foreign_origin: { status: 403, type: 'forbidden' },
  owner_disabled: { status: 403, type: 'forbidden' },
  not_allowed: { status: 403, type: 'forbidden' },
  proof_required: { status: 403, type: 'forbidden' },
  model_not_found: noProvider,
  model_offline: noProvider,
  no_provider: noProvider,
  job_not_found: notFound,
  batch_not_found: notFound,
  asset_not_found: notFound,
  file_not_found: notFound,
  network_not_found: notFound,
  share_not_found: notFound,
  not_found: notFound,
  unknown_url: notFound,
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  job_not_retryable: { status: 409, type: 'conflict', shouldRetry: false },
  conflict: { status: 409, type: 'conflict', shouldRetry: false },
  name_taken: { status: 409, type: 'conflict', shouldRetry: false },
  file_too_large: tooLarge,
  body_too_large: tooLarge,
  unsupported_file_type: unsupported,
  unsupported_content_type: unsupported,
  rate_limit_exceeded: limited,
  queue_full: limited,
  quota_exceeded: {
    status: 429,
    type: 'rate_limit_exceeded',
    shouldRetry: false,
    waitsLong: true,
  },
  internal_error: { status: 500, type: 'server_error' },
  provider_error: upstream,
  provider_timeout: upstream,
  provider_auth_failed: upstream,
  provider_disconnected: { status: 502, type: 'upstream_error' },
  max_retries_exhausted: upstream,
  async_disabled: { status: 503, type: 'async_disabled', shouldRetry: false },
  capacity_exhausted: unavailable,
  shutting_down: unavailable,
  storage_unavailable: unavailable,
  log_in_unavailable: unavailable,
  storage_full: { status: 507, type: 'server_error', shouldRetry: false },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export type ErrorType = (typeof ERRORS)[ErrorCode]['type'];

/** The body of every error answer, and the `error` of a failed stream or job. */
export interface ErrorBody {
  error: { message: string; type: ErrorType; code: ErrorCode; param: string | null };
}

interface ApiErrorDetail {
  /** The invalid field, as the caller wrote it: `messages[0].role`. */
  readonly param?: string;
  readonly retryAfterS?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/**
 * An error for the caller. Its message names the failure, the value and the remedy.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly retryAfterS: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, detail: ApiErrorDetail = {}) {
    super(message, { cause: detail.cause });
    this.name = 'ApiError';
    this.code = code;
    this.param = detail.param ?? null;
    this.retryAfterS = detail.retryAfterS ?? errorRow(code).retryAfterS;
    this.headers = detail.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get body(): ErrorBody {
    const { message, code, param } = this;
    return { error: { message, type: ERRORS[code].type, code, param } };
  }
}

/** The row of a code with its optional columns, which the narrow type of the table leaves out. */
export function errorRow(code: ErrorCode): ErrorRow {
  return ERRORS[code];
}
