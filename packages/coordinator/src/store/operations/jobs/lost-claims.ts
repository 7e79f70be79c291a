/** Claims that end without a result, and those that their agent resumes. */
import { ERRORS } from '@inference-gateway/shared/errors';
import { kindOf } from '@inference-gateway/shared/openai/kinds';
import type { JobError } from '../../../core/jobs/job.js';
import { sizeOf } from '../../../core/usage/usage-bounds.js';
import type { ClaimedJob, EndOutcome, ResumeRequest, Resumed } from '../../port.js';
import type { Operations } from '../operations.js';
import { openLink } from '../providers/presence.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { toClaimedJob } from './claims.js';
import { forUpdate, JOB_COLUMNS } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { applyEvent, endJob } from './transitions.js';

type LostClaimOperations = Pick<
  Operations,
  'releaseJob' | 'failJob' | 'sweepLeases' | 'resumeClaims'
>;

const current = statement<{ claimId: string; linkId: string }, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs
     where last_claim_id = @claimId and status = 'PROCESSING' and session_id = @linkId`,
  ),
);
const overdue = statement<{ now: number; limit: number }, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_lease
     where status = 'PROCESSING' and lease_until < @now
     order by lease_until limit @limit`,
    'skip locked',
  ),
);

export const lostClaimOperations: LostClaimOperations = {
  *releaseJob({ claimId, linkId, counts, error, random }, now) {
    const row = yield* current.get({ claimId, linkId });
    if (row === undefined) return { kind: 'stale' };
    return yield* endJob(row, { event: 'release', counts, error }, { now, random });
  },

  *failJob({ claimId, linkId, retryable, error, random }, now) {
    const row = yield* current.get({ claimId, linkId });
    if (row === undefined) return { kind: 'stale' };
    return yield* endJob(row, { event: 'fail', retryable, error }, { now, random });
  },

  *sweepLeases({ error, random, limit }, now) {
    const failure = { event: 'fail', retryable: true, error } as const;
    const ended: EndOutcome[] = [];
    for (const row of yield* overdue.all({ now, limit })) {
      ended.push(yield* endJob(row, failure, { now, random }));
    }
    return ended;
  },

  resumeClaims,
};

const LOST: JobError = {
  message: 'The provider came back without the job: it was restarted, or had given it up.',
  type: ERRORS.provider_disconnected.type,
  code: 'provider_disconnected',
  param: null,
};

const HELD_COLUMNS = `${JOB_COLUMNS},
  (select name from members where id = member_id) as member_name`;
/**
 * The claims of the agent, whatever has become of them, and what else its provider runs: on SQLite
 * each by its index, on PostgreSQL together, to lock them in order of their ids.
 */
const heldBy = statement<{ providerId: string; claimIds: string }, HeldRow>({
  sqlite: `select ${HELD_COLUMNS} from jobs
     where last_claim_id in (select value from json_each(@claimIds)) and provider_id = @providerId
     union all
     select ${HELD_COLUMNS} from jobs indexed by jobs_provider
     where status = 'PROCESSING' and provider_id = @providerId
       and claim_id not in (select value from json_each(@claimIds))`,
  postgres: `select ${HELD_COLUMNS} from jobs
     where (last_claim_id = any (array(select value from json_each(@claimIds)))
         and provider_id = @providerId)
       or (status = 'PROCESSING' and provider_id = @providerId)
     order by id for update`,
});
const bodyOf = valueOf<{ id: string }, Uint8Array>(
  'select body from job_bodies where job_id = @id',
);

interface HeldRow extends JobRow {
  member_name: string;
}

function* resumeClaims(request: ResumeRequest, now: number): Operation<Resumed> {
  const { providerId, linkId, leaseUntil, random } = request;
  const epoch = yield* openLink({ providerId, linkId }, now);
  const rows = yield* heldBy.all({ providerId, claimIds: JSON.stringify(request.claimIds) });
  const moment = { now, random };
  const resume = { event: 'resume', linkId, leaseUntil } as const;
  const known = new Set<string | null>(request.claimIds);
  const claims: ClaimedJob[] = [];
  for (const row of rows.filter(({ last_claim_id: id }) => known.has(id))) {
    const resumed = yield* applyEvent(row, resume, moment);
    if (resumed !== null) claims.push(yield* withSize(resumed, row.member_name));
  }
  const ended: EndOutcome[] = [];
  for (const row of rows.filter(({ last_claim_id: id }) => !known.has(id))) {
    // Never accepted, so it was never started and has not failed.
    const isBegun = row.accepted_at !== null;
    const lost = isBegun
      ? ({ event: 'fail', retryable: true, error: LOST } as const)
      : ({ event: 'release', counts: false, error: LOST } as const);
    ended.push(yield* endJob(row, lost, moment));
  }
  return { epoch, claims, ended };
}

/** It bounds the token counts of its agent, also after a lost link. */
function* withSize(row: JobRow, memberName: string): Operation<ClaimedJob> {
  const isCounted = kindOf(row.endpoint).counts === 'tokens';
  const body = isCounted ? yield* bodyOf.get({ id: row.id }) : undefined;
  const claimed = toClaimedJob({ ...row, member_name: memberName });
  return { ...claimed, ...(body !== undefined && { request: sizeOf(body) }) };
}
