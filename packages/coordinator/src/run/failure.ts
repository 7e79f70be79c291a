/**
 * The one table of what a failed attempt means: may another provider be tried, does it count
 * against this one, what becomes of a job, and what is the caller told. Source: decisions, sections
 * 2, 3 and 5, and `docs/job-states.md`.
 */
import { assertNever } from '@inference-gateway/shared/assert';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import type { RejectReason, ResetCode } from '@inference-gateway/shared/protocol/messages';
import type { CallReport, ExchangeFailure } from '../core/routing/links.js';

/** Why one attempt did not bring an answer. */
export type AttemptFailure =
  | ExchangeFailure
  /** The local server answered with an error status. */
  | { readonly kind: 'status'; readonly status: number; readonly body: string }
  /** No first byte, or no further byte, or no whole answer in time. */
  | {
      readonly kind: 'timeout';
      readonly afterMs: number;
      readonly waitingFor: string;
      /** The limit is the caller's own, and shorter than what a provider has by rights. */
      readonly isCallers: boolean;
    }
  /** The answer came, and the gateway could not keep it. */
  | { readonly kind: 'gateway'; readonly error: ApiError }
  /** The answer is not what the endpoint promises. */
  | { readonly kind: 'unusable'; readonly reason: string };

/**
 * `final`: the caller's own fault. `wait`: not now, here or elsewhere. `skip`: not here, and no
 * failure of the provider's. `failed`: not here, and the provider is remembered for it.
 */
export type Blame = 'final' | 'wait' | 'skip' | 'failed';

/**
 * What a job comes to. `fail`: for good. `retry`: failed, and may be tried again. `release`: given
 * back as if it had never run. `count`: the same, and too many of these are a failure. `leave`: the
 * link is gone, and the work may not be: the lease decides, or the agent's return.
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

/** The gateway itself cannot keep the answer. Full space stays full; anything else may pass. */
export function judgeOwnFault(error: ApiError): Verdict {
  return { ...final(error), fate: error.code === 'storage_full' ? 'fail' : 'count' };
}

/**
 * What a failed attempt tells of its provider. A lost link tells nothing: all that was under way on
 * it failed at once, and with the next link it is as good as before. Nor does the impatience of a
 * caller: five who give an answer a second each would close the provider to all others.
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

/** The same of a job. Who gave it back would be asked again at once, and is left alone. */
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

/** What callers are told who come, or still wait, while the coordinator stops. */
export function shuttingDown(): ApiError {
  const message = 'The gateway is restarting. Send it again in a moment.';
  return new ApiError('shutting_down', message);
}

function uploadLost(cause: unknown): ApiError {
  const message = 'The gateway cannot read the upload any more. Send it again.';
  return new ApiError('storage_unavailable', message, { cause });
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/**
 * An agent that cannot read what it was sent is broken; any other has its owner's reasons, and what
 * the owner chose is not counted.
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

/** What an agent says ends as it likes. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * 4xx is the caller's own fault, except where it says "not now" or speaks of the provider's own
 * set-up.
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
  if (status === 408 || status === 425 || status === 429 || status === 503) return notNow(said);
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

/** A local server that is busy now may do a job later. */
function notNow(message: string): Verdict {
  return { blame: 'wait', fate: 'retry', error: new ApiError('capacity_exhausted', message) };
}

/** Reads the agent's error document, which is hostile until read. */
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
