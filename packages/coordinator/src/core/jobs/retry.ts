/** When a failed job is tried again (decisions, section 5). */
import { ERRORS } from '@inference-gateway/shared/errors';
import type { JobError } from './job.js';

const LONGEST_BACKOFF_MS = 60_000;

/** random(0.5–1.5) · 2^attempt seconds, at most 60 s; `random` is from 0 to 1. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, Math.round((0.5 + random) * 2 ** attempt * 1_000));
}

/** A provider that gave a job back is not asked again for this long. */
export const RELEASE_EXCLUSION_MS = 30_000;
/** A job that is given back more often than this has failed. */
export const MAX_RELEASES = 10;

/** So many of a job's failed attempts are kept: an agent may lose its link over and over. */
export const MAX_FAILED_ATTEMPTS = 20;

/** The error of a job whose attempts are spent: what the last one said, and how many there were. */
export function retriesExhausted({ message, param }: JobError, attempts: number): JobError {
  const code = 'max_retries_exhausted';
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return {
    message: `It failed ${times}. The last time: ${message}`,
    type: ERRORS[code].type,
    code,
    param,
  };
}
