/** What becomes of a job when its claim ends without a result. */
import type { Database } from 'better-sqlite3';
import type { JobError } from '../../../core/jobs/job.js';
import type { Needs } from '../../../core/routing/match.js';
import {
  MAX_FAILED_ATTEMPTS,
  MAX_RELEASES,
  RELEASE_EXCLUSION_MS,
  backoffMs,
  retriesExhausted,
} from '../../../core/jobs/job.js';
import type { EndOutcome, FailedAttempt, Failure, Release } from '../../port.js';
import { jobEnds } from './job-end.js';
import { JOB_COLUMNS, laneKey, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';

interface ClaimFailure extends Omit<Failure, 'claimId'> {
  /** Only where its lease has ended before this; left out, whatever its lease. */
  readonly leaseBefore?: number;
}

/** Each has an effect only on a row that is PROCESSING with the claim that it holds here. */
interface ClaimEnds {
  giveBack(row: JobRow, release: Omit<Release, 'claimId'>, now: number): EndOutcome;
  fail(row: JobRow, failure: ClaimFailure, now: number): EndOutcome;
}

export function claimEnds(database: Database): ClaimEnds {
  const requeue = requeuer(database);
  const giveUp = finalizer(database);
  return { giveBack, fail };

  function giveBack(row: JobRow, release: Omit<Release, 'claimId'>, now: number): EndOutcome {
    // Given back so often, it is nobody's bad moment any more: the attempt counts.
    if (release.counts && row.releases >= MAX_RELEASES) {
      return fail(row, { ...release, retryable: true }, now);
    }
    const standing = standingOf(row, now);
    if (!release.counts) return requeue(row, { ...standing, attempt: row.attempt - 1, counted: 0 });
    return requeue(row, {
      ...standing,
      attempt: row.attempt - 1,
      counted: 0,
      releases: row.releases + 1,
      excluded: withProvider(standing.excluded, row),
      excludedUntil: now + RELEASE_EXCLUSION_MS,
    });
  }

  function fail(row: JobRow, failure: ClaimFailure, now: number): EndOutcome {
    const { retryable, error, random, leaseBefore } = failure;
    if (!retryable) return giveUp(row, { error, now, leaseBefore });
    if (row.attempt >= row.max_attempts) {
      return giveUp(row, { error: retriesExhausted(error, row.attempt), now, leaseBefore });
    }
    const standing = standingOf(row, now);
    return requeue(row, {
      ...standing,
      avoided: withProvider(standing.avoided, row),
      notBefore: now + backoffMs(row.attempt, random),
      error: JSON.stringify(error),
      failedAttempts: [...standing.failedAttempts, failedAttempt(row, error, now)],
      leaseBefore,
    });
  }
}

/** How a job is to stand in the queue again. */
interface Standing {
  readonly attempt: number;
  /** Whether `attempt` counts the claim that has ended. */
  readonly counted: 0 | 1;
  readonly releases: number;
  readonly notBefore: number | null;
  readonly error: string | null;
  readonly excluded: readonly string[];
  readonly excludedUntil: number | null;
  readonly avoided: readonly string[];
  readonly failedAttempts: readonly FailedAttempt[];
  readonly leaseBefore?: number | undefined;
}

/** As it stood; an exclusion that is over is gone. */
function standingOf(row: JobRow, now: number): Standing {
  const lasts = row.excluded_until !== null && row.excluded_until > now;
  return {
    attempt: row.attempt,
    counted: 1,
    releases: row.releases,
    notBefore: null,
    error: row.error,
    excluded: lasts ? (JSON.parse(row.excluded) as string[]) : [],
    excludedUntil: lasts ? row.excluded_until : null,
    avoided: JSON.parse(row.avoided) as string[],
    failedAttempts: JSON.parse(row.failed_attempts) as FailedAttempt[],
  };
}

function failedAttempt(row: JobRow, error: JobError, now: number): FailedAttempt {
  const { attempt, provider_id: providerId, started_at: startedAt } = row;
  return { attempt, providerId, startedAt, failedAt: now, error };
}

function withProvider(ids: readonly string[], { provider_id: id }: JobRow): readonly string[] {
  return id === null || ids.includes(id) ? ids : [...ids, id];
}

/** The lane of the job once its exclusions are these. */
export function laneOf(row: JobRow, sets: Pick<Standing, 'excluded' | 'avoided'>): string {
  const { member_id: memberId, scope } = row;
  const { excluded, avoided } = sets;
  return laneKey({ memberId, scope, needs: JSON.parse(row.needs) as Needs, excluded, avoided });
}

/** Provider and service stay, for the agent that comes back with a late result. */
const UNCLAIMED = `claim_id = null, session_id = null, accepted_at = null, lease_until = null,
  run_deadline = null`;
const IS_CURRENT = `id = @id and status = 'PROCESSING' and claim_id = @claim_id
  and (@leaseBefore is null or lease_until < @leaseBefore)`;

function requeuer(database: Database): (row: JobRow, standing: Standing) => EndOutcome {
  const update = database.prepare<object, JobRow>(
    `update jobs set status = 'QUEUED', ${UNCLAIMED},
       attempt = @attempt, attempt_counted = @counted, releases = @releases,
       not_before = @notBefore, error = @error, failed_attempts = @failedAttempts,
       excluded = @excluded, excluded_until = @excludedUntil, avoided = @avoided, lane = @lane
     where ${IS_CURRENT} returning ${JOB_COLUMNS}`,
  );
  return (row, { leaseBefore = null, ...standing }) => {
    const requeued = update.get({
      ...standing,
      id: row.id,
      claim_id: row.claim_id,
      leaseBefore,
      excluded: JSON.stringify(standing.excluded),
      avoided: JSON.stringify(standing.avoided),
      failedAttempts: JSON.stringify(standing.failedAttempts.slice(-MAX_FAILED_ATTEMPTS)),
      lane: laneOf(row, standing),
    });
    return requeued === undefined ? STALE : { kind: 'requeued', job: toJob(requeued) };
  };
}

interface LastFailure {
  readonly error: JobError;
  readonly now: number;
  readonly leaseBefore: number | undefined;
}

function finalizer(database: Database): (row: JobRow, failure: LastFailure) => EndOutcome {
  const update = database.prepare(
    `update jobs set status = 'FAILED', ${UNCLAIMED}, excluded_until = null,
       finished_at = @now, error = @error
     where ${IS_CURRENT}`,
  );
  const { concludeJob } = jobEnds(database);
  return ({ id, claim_id }, { error, now, leaseBefore = null }) => {
    const change = { id, claim_id, leaseBefore, now, error: JSON.stringify(error) };
    if (update.run(change).changes === 0) return STALE;
    return { kind: 'failed', ...concludeJob(id, now, null) };
  };
}

export const STALE: EndOutcome = { kind: 'stale' };
