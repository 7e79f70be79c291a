/** Claims that end without a result, and those that their agent resumes. */
import { ERRORS } from '@inference-gateway/shared/errors';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import type { Database } from 'better-sqlite3';
import type { JobError } from '../../../core/jobs/job.js';
import { sizeOf } from '../../../core/usage/usage-bounds.js';
import type { ClaimedJob, ResumeRequest, Resumed } from '../../port.js';
import { toClaimedJob } from './claims.js';
import { JOB_COLUMNS } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { linkOpener } from '../providers/presence.js';
import { jobTransitions } from './transitions.js';

type LostClaimOperations = Pick<
  Operations,
  'releaseJob' | 'failJob' | 'sweepLeases' | 'resumeClaims'
>;

export function lostClaimOperations(database: Database, nodeId: string): LostClaimOperations {
  const current = database.prepare<[string, string], JobRow>(
    `select ${JOB_COLUMNS} from jobs
     where last_claim_id = ? and status = 'PROCESSING' and session_id = ?`,
  );
  const overdue = database.prepare<[number, number], JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_lease
     where status = 'PROCESSING' and lease_until < ?
     order by lease_until limit ?`,
  );
  const { end } = jobTransitions(database);
  return {
    releaseJob: ({ claimId, linkId, counts, error, random }, now) => {
      const row = current.get(claimId, linkId);
      if (row === undefined) return { kind: 'stale' };
      return end(row, { event: 'release', counts, error }, { now, random });
    },
    failJob: ({ claimId, linkId, retryable, error, random }, now) => {
      const row = current.get(claimId, linkId);
      if (row === undefined) return { kind: 'stale' };
      return end(row, { event: 'fail', retryable, error }, { now, random });
    },
    sweepLeases: ({ error, random, limit }, now) => {
      const failure = { event: 'fail', retryable: true, error } as const;
      return overdue.all(now, limit).map((row) => end(row, failure, { now, random }));
    },
    resumeClaims: resumer(database, nodeId),
  };
}

const LOST: JobError = {
  message: 'The provider came back without the job: it was restarted, or had given it up.',
  type: ERRORS.provider_disconnected.type,
  code: 'provider_disconnected',
  param: null,
};

function resumer(
  database: Database,
  nodeId: string,
): (request: ResumeRequest, now: number) => Resumed {
  const openLink = linkOpener(database, nodeId);
  const held = database.prepare<object, JobRow & { member_name: string }>(
    `select ${JOB_COLUMNS}, (select name from members where id = member_id) as member_name
     from jobs where last_claim_id in (select value from json_each(@claimIds))
       and provider_id = @providerId`,
  );
  const others = database.prepare<object, JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_provider
     where status = 'PROCESSING' and provider_id = @providerId
       and claim_id not in (select value from json_each(@claimIds))`,
  );
  const bodyOf = database
    .prepare<[string], Uint8Array>('select body from job_bodies where job_id = ?')
    .pluck();
  // It bounds the token counts of its agent, also after a lost link.
  const withSize = (row: JobRow, memberName: string): ClaimedJob => {
    const body = kindOf(row.endpoint).counts === 'tokens' ? bodyOf.get(row.id) : undefined;
    const claimed = toClaimedJob({ ...row, member_name: memberName });
    return { ...claimed, ...(body !== undefined && { request: sizeOf(body) }) };
  };
  const { apply, end } = jobTransitions(database);
  return ({ random, ...request }, now) => {
    const { providerId, linkId, leaseUntil } = request;
    openLink({ providerId, linkId }, now);
    const claimIds = JSON.stringify(request.claimIds);
    const moment = { now, random };
    const resume = { event: 'resume', linkId, leaseUntil } as const;
    const claims = held.all({ providerId, claimIds }).flatMap((row) => {
      const resumed = apply(row, resume, moment);
      return resumed === null ? [] : withSize(resumed, row.member_name);
    });
    const ended = others.all({ providerId, claimIds }).map((row) => {
      // Never accepted, so it was never started and has not failed.
      const isBegun = row.accepted_at !== null;
      const lost = isBegun
        ? ({ event: 'fail', retryable: true, error: LOST } as const)
        : ({ event: 'release', counts: false, error: LOST } as const);
      return end(row, lost, moment);
    });
    return { claims, ended };
  };
}
