/**
 * The only table of what a failed attempt means: whether another provider may be tried, whether it
 * counts against this one, what becomes of a job, and which error the caller gets. Source:
 * decisions, sections 2, 3 and 5, and `docs/job-states.md`.
 */
import { assertNever } from '@inference-gateway/shared/assert';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type { RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import type { Refusal } from '../core/usage/quotas.js';
import { NOT_NOW } from '../core/routing/links.js';
import type { CallReport, ExchangeFailure } from '../core/routing/links.js';

/** Why one attempt produced no answer. */
export type AttemptFailure =
  | ExchangeFailure
  /** The local server answered with an error status. */
  | { readonly kind: 'status'; readonly status: number; readonly body: string }
  /** No first byte, no further byte, or no complete answer in time. */
  | {
      readonly kind: 'timeout';
      readonly afterMs: number;
      readonly waitingFor: string;
      /** The limit was set by the caller and is shorter than a provider's normal limit. */
      readonly isCallers: boolean;
    }
  /** The answer came, but the gateway could not store it. */
  | { readonly kind: 'gateway'; readonly error: ApiError }
  /** The answer is not what the endpoint requires. */
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * `final`: the caller's own fault. `wait`: not now, on any provider. `skip`: not on this provider,
 * but not its failure. `failed`: not on this provider, and counted against it.
 */
export type Blame = 'final' | 'wait' | 'skip' | 'failed';

/**
 * What happens to a job. `fail`: failed for good. `retry`: failed, and may be tried again.
 * `release`: given back as if it had never run. `count`: the same, but too many of these are a
 * failure. `leave`: the link is gone, but the agent may still be working: the lease or the agent's
 * return decides.
 */
export type JobFate = 'fail' | 'retry' | 'release' | 'count' | 'leave';

export interface Verdict {
  readonly blame: Blame;
  readonly fate: JobFate;
  readonly error: ApiError;
}

export type JobVerdict = Pick<Verdict, 'fate' | 'error'>;

export function judge(failure: AttemptFailure, providerName: string): Verdict {
  switch (failure.kind) {
    case 'rejected':
      return judgeRejection(failure.reason, providerName);
    case 'not_accepted': {
      const said = `${providerName} did not take the work in time.`;
      return { ...failed('provider_timeout', said), fate: 'count' };
    }
    case 'disconnected': {
      const said = `The link to ${providerName} was lost. Send it again.`;
      return { ...failed('provider_disconnected', said), fate: 'leave' };
    }
    case 'timeout':
      return failed(
        'provider_timeout',
        `${providerName} sent no ${failure.waitingFor} within ${seconds(failure.afterMs)} s.`,
      );
    case 'unusable':
      return failed(
        'provider_error',
        `${providerName} sent an unusable answer: ${failure.reason}.`,
      );
    case 'gateway':
      return judgeOwnFault(failure.error);
    case 'upload_unreadable':
      return final(uploadLost(failure.cause));
    case 'reset':
      return judgeReset(failure.code, failure.message, providerName);
    case 'status':
      return judgeStatus(failure.status, failure.body, providerName);
    default:
      return assertNever(failure);
  }
}

/** The gateway itself cannot store the answer. A full disk stays full; other causes may pass. */
export function judgeOwnFault(error: ApiError): Verdict {
  return { ...final(error), fate: error.code === 'storage_full' ? 'fail' : 'count' };
}

/**
 * What a failed attempt says about its provider. A lost link says nothing: everything on it failed
 * at once, and the next link is as good as the last. A caller's own short time limit says nothing
 * either: otherwise five calls with a limit of one second could close the provider to all others.
 */
export function reportOf(
  failure: AttemptFailure,
  { blame }: Verdict,
  endpoint: EndpointKey,
): CallReport {
  if (failure.kind === 'disconnected') return { kind: 'nothing' };
  if (failure.kind === 'timeout' && failure.isCallers) return { kind: 'nothing' };
  if (isLacking(failure) && ENDPOINTS[endpoint].isRare) return { kind: 'nothing' };
  if (blame === 'failed') return { kind: 'failed' };
  return { kind: blame === 'wait' ? 'busy' : 'nothing' };
}

/**
 * The same for a job. A provider that gave it back is paused, otherwise it would get the job again
 * at once.
 */
export function reportOfRun(
  failure: AttemptFailure,
  verdict: Verdict,
  endpoint: EndpointKey,
): CallReport {
  const report = reportOf(failure, verdict, endpoint);
  const isGivenBack = verdict.fate === 'release' || verdict.fate === 'count';
  return isGivenBack && report.kind === 'nothing' ? { kind: 'busy' } : report;
}

function isLacking(failure: AttemptFailure): boolean {
  return failure.kind === 'status' && (failure.status === 404 || failure.status === 501);
}

/** How long to wait for a limit that running calls have reserved: they may use less. */
const RESERVED_WAIT_S = 5;

/** A limit of the caller's key or account is reached. */
export function quotaExceeded({ message, isReserved, waitMs }: Refusal): ApiError {
  const retryAfterS = isReserved ? RESERVED_WAIT_S : Math.ceil(waitMs / 1_000);
  return new ApiError('quota_exceeded', message, { retryAfterS });
}

/** The error for callers that arrive or still wait while the coordinator stops. */
export function shuttingDown(): ApiError {
  const message = 'The gateway is restarting. Send it again in a moment.';
  return new ApiError('shutting_down', message);
}

/** A caller who was refused elsewhere meanwhile would be served here. */
export function unconfirmed(): ApiError {
  const message =
    'The gateway cannot ask its database now who may use what, and takes nothing new until then. ' +
    'Try again in a moment.';
  return new ApiError('storage_unavailable', message);
}

function uploadLost(cause: unknown): ApiError {
  const message = 'The gateway cannot read the upload any more. Send it again.';
  return new ApiError('storage_unavailable', message, { cause });
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/**
 * An agent that cannot read its OPEN is broken; all other rejections have the owner's reasons, and
 * those that the owner chose are not counted.
 */
function judgeRejection(reason: RejectReason, providerName: string): Verdict {
  if (reason === 'busy') {
    return { ...notNow(`Every slot of ${providerName} is taken.`), fate: 'count' };
  }
  const said = `${providerName} refused the work: ${reason}.`;
  if (reason === 'bad_request') return { ...failed('provider_error', said), fate: 'count' };
  return skip(said, reason === 'draining' || reason === 'paused' ? 'release' : 'count');
}

function judgeReset(code: ResetCode, message: string, providerName: string): Verdict {
  const detail = message === '' ? code : message;
  switch (code) {
    case 'YIELDED':
      return skip(`${providerName} was taken back by its owner.`, 'release');
    case 'LOCAL_TIMEOUT':
    case 'DEADLINE':
      return failed('provider_timeout', sentence(`${providerName} ran out of time: ${detail}`));
    case 'LOCAL_UNREACHABLE':
    case 'LOCAL_ERROR':
    case 'CANCELED':
    case 'CALLER_GONE':
    case 'CALLER_STALLED':
    case 'FLOW_CONTROL':
    case 'INTERNAL':
      return failed(
        'provider_error',
        sentence(`The model server of ${providerName} failed: ${detail}`),
      );
    default:
      return assertNever(code);
  }
}

/** Agents end their messages with or without a full stop. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * 4xx is the caller's own fault, unless it means "not now" or concerns the provider's own setup.
 */
function judgeStatus(status: number, body: string, providerName: string): Verdict {
  const { message, code, param } = readError(body);
  const said = `${providerName} answered ${status}: ${message}`;
  if (status === 401 || status === 403) {
    return failed(
      'provider_auth_failed',
      `The model server of ${providerName} refused its own agent.`,
    );
  }
  if (status === 404) return failed('provider_error', said);
  if (NOT_NOW.has(status)) return notNow(said);
  if (status >= 500) return failed('provider_error', said);
  if (status === 413) return final(new ApiError('body_too_large', said));
  return final(new ApiError(code, message, param === null ? {} : { param }));
}

function final(error: ApiError): Verdict {
  return { blame: 'final', fate: 'fail', error };
}

function failed(code: ErrorCode, message: string): Verdict {
  return { blame: 'failed', fate: 'retry', error: new ApiError(code, message) };
}

function skip(message: string, fate: JobFate): Verdict {
  return { blame: 'skip', fate, error: new ApiError('provider_error', message) };
}

/** A local server that is busy now may be able to run a job later. */
function notNow(message: string): Verdict {
  return { blame: 'wait', fate: 'retry', error: new ApiError('capacity_exhausted', message) };
}

/** Reads the agent's error document, which is untrusted input. */
function readError(body: string): { message: string; code: ErrorCode; param: string | null } {
  const error = errorObject(body);
  const message = typeof error['message'] === 'string' ? error['message'] : 'no reason given';
  const passed = ['context_length_exceeded', 'unsupported_value', 'unsupported_file_type'] as const;
  const code = passed.find((known) => known === error['code']) ?? 'provider_rejected';
  return { message, code, param: typeof error['param'] === 'string' ? error['param'] : null };
}

function errorObject(body: string): Record<string, unknown> {
  try {
    const value = (JSON.parse(body) as { error?: unknown } | null)?.error;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
