/**
 * What a failed run means for its job: tried again, failed for good, given back as if it had never
 * run, or left as it is. Source: decisions, section 5, and `docs/job-states.md`.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import type { CallReport } from '../core/routing/links.js';
import { judge, reportOf } from '../run/failure.js';
import type { AttemptFailure } from '../run/failure.js';

export type JobVerdict =
  | { readonly kind: 'fail'; readonly retryable: boolean; readonly error: ApiError }
  /** `counts`: too many of these are a failure. */
  | { readonly kind: 'release'; readonly counts: boolean; readonly error: ApiError }
  /** The link is gone, and the work may not be: the lease decides, or the agent's return. */
  | { readonly kind: 'leave' };

export function judgeRun(failure: AttemptFailure, providerName: string): JobVerdict {
  const { blame, error } = judge(failure, providerName);
  switch (failure.kind) {
    case 'disconnected':
      return { kind: 'leave' };
    case 'not_accepted':
    case 'rejected':
      return { kind: 'release', counts: !isOwnersWish(failure), error };
    case 'reset':
      if (failure.code === 'YIELDED') return { kind: 'release', counts: false, error };
      return { kind: 'fail', retryable: true, error };
    case 'gateway':
      return judgeOwnFault(error);
    default:
      // A local server that is busy now (429, 503) may do it later.
      return { kind: 'fail', retryable: blame !== 'final', error };
  }
}

/**
 * What it tells of its provider. Who gave the job back would be asked again at once, and is left
 * alone for a moment, whatever the reason.
 */
export function reportRun(
  failure: AttemptFailure,
  providerName: string,
  endpoint: EndpointKey,
): CallReport {
  const { blame } = judge(failure, providerName);
  const report = reportOf(failure, blame, endpoint);
  const isGivenBack = judgeRun(failure, providerName).kind === 'release';
  return isGivenBack && report.kind === 'nothing' ? { kind: 'busy' } : report;
}

/** The gateway itself cannot keep the answer. Full space stays full; anything else may pass. */
export function judgeOwnFault(error: ApiError): JobVerdict {
  if (error.code === 'storage_full') return { kind: 'fail', retryable: false, error };
  return { kind: 'release', counts: true, error };
}

function isOwnersWish(failure: AttemptFailure): boolean {
  if (failure.kind !== 'rejected') return false;
  return failure.reason === 'draining' || failure.reason === 'paused';
}

/** Our own bug, told without internals. */
export function brokenRun(cause: unknown): ApiError {
  return new ApiError('internal_error', 'The gateway failed while it ran the job.', { cause });
}
