/** The error answers that endpoints share: which codes of the error table each may carry. */
import { ERRORS, errorRow } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type { Answer, Header, JsonSchema, Reference } from './open-api.js';
import { CALLER_HEADERS, headers, optional, PLAIN_HEADERS } from './response-headers.js';
import { ref } from './schemas.js';

interface Row {
  readonly codes: readonly [ErrorCode, ...ErrorCode[]];
  /** False: no key was accepted, so that there are no rate-limit headers. */
  readonly authenticated?: false;
  /** Set if it differs from that of the codes: HTTP has statuses for ranges and conditions. */
  readonly status?: number;
}

const BAD_FIELDS = [
  'missing_required_parameter',
  'invalid_type',
  'invalid_value',
  'unsupported_value',
] as const;
const BY_PROVIDER = ['context_length_exceeded', 'provider_rejected'] as const;
const BUSY = ['capacity_exhausted', 'shutting_down', 'storage_unavailable'] as const;

export const ERROR_ANSWERS = {
  InvalidRequest: {
    codes: ['invalid_json', ...BAD_FIELDS, 'unsupported_modality', ...BY_PROVIDER],
  },
  InvalidForm: {
    codes: ['invalid_multipart', ...BAD_FIELDS, 'async_not_supported', ...BY_PROVIDER],
  },
  InvalidQuery: { codes: ['missing_required_parameter', 'invalid_type', 'invalid_value'] },
  InvalidBatch: {
    codes: [
      'missing_requests',
      'empty_batch',
      'invalid_item',
      'batch_too_large',
      'invalid_json',
      ...BAD_FIELDS,
    ],
  },
  InvalidBatchFile: {
    codes: ['invalid_multipart', 'empty_batch', 'invalid_item', 'batch_too_large', ...BAD_FIELDS],
  },
  InvalidEnrollment: { codes: ['invalid_json', 'invalid_value'], authenticated: false },
  Unauthenticated: {
    codes: ['missing_api_key', 'invalid_api_key', 'expired_api_key', 'disabled_api_key'],
    authenticated: false,
  },
  NeitherKeyNorLink: {
    codes: [
      'missing_api_key',
      'invalid_api_key',
      'expired_api_key',
      'disabled_api_key',
      'not_logged_in',
      'invalid_asset_link',
      'expired_asset_link',
    ],
    authenticated: false,
  },
  NeitherKeyNorSession: {
    codes: [
      'missing_api_key',
      'invalid_api_key',
      'expired_api_key',
      'disabled_api_key',
      'not_logged_in',
    ],
    authenticated: false,
  },
  InvalidAccount: {
    codes: ['invalid_json', 'missing_required_parameter', 'invalid_type', 'invalid_value'],
    authenticated: false,
  },
  DeviceRefused: {
    codes: [
      'authorization_pending',
      'slow_down',
      'expired_token',
      'access_denied',
      'invalid_json',
      'missing_required_parameter',
      'invalid_type',
    ],
    authenticated: false,
  },
  InvalidInvite: { codes: ['invalid_invite'], authenticated: false },
  InvalidSetupLink: { codes: ['invalid_setup_link'], authenticated: false },
  SetUpAlready: { codes: ['unknown_url'], authenticated: false },
  NotAllowed: { codes: ['not_allowed', 'foreign_origin'], authenticated: false },
  CommandNotFound: { codes: ['not_found', 'unknown_url'], authenticated: false },
  CommandConflict: { codes: ['conflict'], authenticated: false },
  NotLoggedIn: { codes: ['not_logged_in'], authenticated: false },
  NobodyLoggedIn: { codes: ['not_logged_in', 'not_set_up'], authenticated: false },
  WrongPassword: { codes: ['wrong_password'], authenticated: false },
  WrongPasswordOrNotLoggedIn: {
    codes: ['wrong_password', 'not_logged_in'],
    authenticated: false,
  },
  InvalidResetLink: { codes: ['invalid_reset_link'], authenticated: false },
  InvalidPasskey: { codes: ['invalid_passkey'], authenticated: false },
  WayNotOffered: { codes: ['not_found'], authenticated: false },
  OidcRefused: {
    codes: ['invalid_invite', 'not_logged_in', 'wrong_password'],
    authenticated: false,
  },
  ForeignOrProofRequired: { codes: ['foreign_origin', 'proof_required'], authenticated: false },
  ProviderUnavailable: {
    codes: ['log_in_unavailable', 'capacity_exhausted', 'storage_unavailable'],
    authenticated: false,
  },
  ForeignOrigin: { codes: ['foreign_origin'], authenticated: false },
  InvalidToken: { codes: ['missing_api_key', 'invalid_api_key'], authenticated: false },
  OwnerDisabled: { codes: ['owner_disabled'], authenticated: false },
  NetworkNotFound: { codes: ['network_not_found'], authenticated: false },
  ShareNotFound: { codes: ['share_not_found'], authenticated: false },
  EndpointNotAllowed: { codes: ['not_allowed'] },
  NoProvider: { codes: ['model_not_found', 'model_offline'] },
  JobNotFound: { codes: ['job_not_found'] },
  BatchNotFound: { codes: ['batch_not_found'] },
  FileNotFound: { codes: ['file_not_found'] },
  FileInUse: { codes: ['conflict'] },
  AssetNotFound: { codes: ['asset_not_found'] },
  JobNotRetryable: { codes: ['job_not_retryable'] },
  NameTaken: { codes: ['name_taken'], authenticated: false },
  ConditionFailed: { codes: ['invalid_value'], status: 412 },
  BodyTooLarge: { codes: ['body_too_large'] },
  UploadTooLarge: { codes: ['file_too_large', 'body_too_large'] },
  EnrollmentTooLarge: { codes: ['body_too_large'], authenticated: false },
  UnsupportedBody: { codes: ['unsupported_content_type'] },
  UnsupportedUpload: { codes: ['unsupported_file_type', 'unsupported_content_type'] },
  UnsupportedEnrollment: { codes: ['unsupported_content_type'], authenticated: false },
  RangeOutside: { codes: ['invalid_value'], status: 416 },
  RateLimited: { codes: ['rate_limit_exceeded'] },
  TooManyTries: { codes: ['rate_limit_exceeded'], authenticated: false },
  CallLimited: { codes: ['rate_limit_exceeded', 'quota_exceeded'] },
  CallLimitedOrQueueFull: { codes: ['rate_limit_exceeded', 'quota_exceeded', 'queue_full'] },
  RateLimitedOrQueueFull: { codes: ['rate_limit_exceeded', 'queue_full'] },
  InternalError: { codes: ['internal_error'] },
  ProviderFailed: {
    codes: ['provider_error', 'provider_timeout', 'provider_auth_failed', 'provider_disconnected'],
  },
  Unavailable: { codes: BUSY },
  UnavailableOrAsyncDisabled: { codes: ['async_disabled', ...BUSY] },
  InternalFailure: { codes: ['internal_error'], authenticated: false },
  EnrollmentUnavailable: { codes: ['capacity_exhausted'], authenticated: false },
  AccountsUnavailable: {
    codes: ['capacity_exhausted', 'storage_unavailable'],
    authenticated: false,
  },
  NotReady: { codes: ['shutting_down', 'storage_unavailable'], authenticated: false },
  StorageFull: { codes: ['storage_full'] },
} as const satisfies Record<string, Row>;

export type ErrorAnswerName = keyof typeof ERROR_ANSWERS;

/** For routes that accept a few fields from unauthenticated callers. */
export const SMALL_BODY_ERRORS = [
  'EnrollmentTooLarge',
  'UnsupportedEnrollment',
  'TooManyTries',
  'InternalFailure',
  'AccountsUnavailable',
] as const satisfies readonly ErrorAnswerName[];

export function errorStatus(name: ErrorAnswerName): number {
  const row: Row = ERROR_ANSWERS[name];
  return row.status ?? ERRORS[row.codes[0]].status;
}

/** By status, for an operation. */
export function errorAnswers(names: readonly ErrorAnswerName[]): Record<string, Reference> {
  const entries = names.map((name) => {
    return [String(errorStatus(name)), { $ref: `#/components/responses/${name}` }] as const;
  });
  return Object.fromEntries(entries);
}

export function errorComponents(): Record<string, Answer> {
  const rows: [string, Row][] = Object.entries(ERROR_ANSWERS);
  return Object.fromEntries(rows.map(([name, row]) => [name, toAnswer(row)]));
}

function toAnswer(row: Row): Answer {
  const code: JsonSchema = { type: 'string', enum: [...row.codes] };
  const error: JsonSchema = { type: 'object', properties: { code } };
  const schema = { allOf: [ref('Error'), { type: 'object' as const, properties: { error } }] };
  return {
    description: `\`error.code\` is ${row.codes.map((one) => `\`${one}\``).join(', ')}.`,
    headers: headersOf(row),
    content: { 'application/json': { schema } },
  };
}

function headersOf({ codes, authenticated }: Row): Record<string, Header | Reference> {
  const rows = codes.map(errorRow);
  // Providers with an open breaker are tried again at a known time.
  const isLeftAlone = codes.includes('provider_error');
  const retried = isLeftAlone || rows.some(({ retryAfterS }) => retryAfterS !== undefined);
  const isTemporary = rows.every(({ retryAfterS }) => retryAfterS !== undefined);
  const waits = ['Retry-After', 'retry-after-ms'] as const;
  return {
    ...callerHeaders(authenticated, codes.includes('internal_error')),
    ...(retried && (isTemporary ? headers(...waits) : optional(...waits))),
    ...(rows.some(({ shouldRetry }) => shouldRetry === false) && headers('x-should-retry')),
    ...(rows.some(({ status }) => status === 401) && headers('WWW-Authenticate')),
  };
}

/** An internal error may occur before the caller is known. */
function callerHeaders(authenticated: false | undefined, isEarly: boolean) {
  if (authenticated === false) return headers(...PLAIN_HEADERS);
  if (isEarly) return { ...optional(...CALLER_HEADERS), ...headers(...PLAIN_HEADERS) };
  return headers(...CALLER_HEADERS);
}
