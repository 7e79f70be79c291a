/** Claims that end without a result, and those whose agent is back with them. */
import { ERRORS } from '@inference-gateway/shared/errors';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import type { Database } from 'better-sqlite3';
import type { JobError } from '../../../core/jobs/job.js';
import { sizeOf } from '../../../core/usage/usage-bounds.js';
import type { ClaimedJob, ResumeRequest, Resumed } from '../../port.js';
import { STALE, claimEnds } from './claim-end.js';
import { CLAIMED_COLUMNS, toClaimedJob } from './claims.js';
import type { ClaimedRow } from './claims.js';
import { JOB_COLUMNS } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';

type LostClaimOperations = Pick<
  Operations,
  'releaseJob' | 'failJob' | 'sweepLeases' | 'resumeClaims'
>;

export function lostClaimOperations(database: Database): LostClaimOperations {
  const current = database.prepare<[string], JobRow>(
    `select ${JOB_COLUMNS} from jobs where last_claim_id = ? and status = 'PROCESSING'`,
  );
  const overdue = database.prepare<[number, number], JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_lease
     where status = 'PROCESSING' and lease_until < ?
     order by lease_until limit ?`,
  );
  const ends = claimEnds(database);
  return {
    releaseJob: ({ claimId, ...release }, now) => {
      const row = current.get(claimId);
      return row === undefined ? STALE : ends.giveBack(row, release, now);
    },
    failJob: ({ claimId, ...failure }, now) => {
      const row = current.get(claimId);
      return row === undefined ? STALE : ends.fail(row, failure, now);
    },
    sweepLeases: ({ error, random, limit }, now) => {
      const failure = { error, random, retryable: true, leaseBefore: now };
      return overdue.all(now, limit).map((row) => ends.fail(row, failure, now));
    },
    resumeClaims: resumer(database),
  };
}

const LOST: JobError = {
  message: 'The provider came back without the job: it was restarted, or had given it up.',
  type: ERRORS.provider_disconnected.type,
  code: 'provider_disconnected',
  param: null,
};

function resumer(database: Database): (request: ResumeRequest, now: number) => Resumed {
  // Also of a job that waits again: nobody else has claimed it since, or the claim would not be its
  // last. It runs once more, so that an attempt that had been given back counts after all.
  const resume = database.prepare<object, ClaimedRow>(
    `update jobs set
       status = 'PROCESSING', claim_id = last_claim_id, session_id = @sessionId,
       lease_until = max(coalesce(lease_until, 0), @leaseUntil),
       accepted_at = coalesce(accepted_at, @now), not_before = null,
       attempt = attempt + 1 - attempt_counted, attempt_counted = 1
     where last_claim_id in (select value from json_each(@claimIds))
       and provider_id = @providerId and +status in ('QUEUED', 'PROCESSING')
     returning ${CLAIMED_COLUMNS}`,
  );
  const others = database.prepare<object, JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_provider
     where status = 'PROCESSING' and provider_id = @providerId
       and claim_id not in (select value from json_each(@claimIds))`,
  );
  const bodyOf = database
    .prepare<[string], Uint8Array>('select body from job_bodies where job_id = ?')
    .pluck();
  // What its agent tells of tokens is held to it, also after a lost link.
  const withSize = (row: ClaimedRow): ClaimedJob => {
    const body = kindOf(row.endpoint).counts === 'tokens' ? bodyOf.get(row.id) : undefined;
    return { ...toClaimedJob(row), ...(body !== undefined && { request: sizeOf(body) }) };
  };
  const ends = claimEnds(database);
  return ({ random, ...request }, now) => {
    const { providerId, sessionId, leaseUntil } = request;
    const claimIds = JSON.stringify(request.claimIds);
    const claims = resume.all({ providerId, sessionId, leaseUntil, claimIds, now });
    const ended = others.all({ providerId, claimIds }).map((row) => {
      // Never accepted, never begun: it did not fail.
      if (row.accepted_at === null) {
        return ends.giveBack(row, { counts: false, error: LOST, random }, now);
      }
      return ends.fail(row, { retryable: true, error: LOST, random }, now);
    });
    return { claims: claims.map(withSize), ended };
  };
}
