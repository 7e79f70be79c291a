import type { Claimed, ClaimedJob, NewClaim } from '../../port.js';
import type { Operations } from '../operations.js';
import { context, statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { QUEUE_PAUSED } from './queue.js';

type ClaimOperations = Pick<
  Operations,
  'claimJobs' | 'acceptJob' | 'renewClaims' | 'renewOwnClaims'
>;

interface ClaimedRow extends JobRow {
  member_name: string;
}

const CLAIMED_COLUMNS = `${JOB_COLUMNS},
  (select name from members where id = member_id) as member_name`;

export function toClaimedJob(row: ClaimedRow): ClaimedJob {
  const { claim_id: claimId, session_id: linkId, service_id: serviceId } = row;
  if (claimId === null || linkId === null || serviceId === null) {
    throw new Error(`the job ${row.id} has no claim`);
  }
  return {
    job: toJob(row),
    claimId,
    linkId,
    serviceId,
    memberName: row.member_name,
    acceptedAt: row.accepted_at,
    runDeadline: row.run_deadline,
  };
}

// Only once: a second ACCEPT must not extend the deadline.
const accept = statement(
  `update jobs set
     accepted_at = coalesce(accepted_at, @now),
     run_deadline = coalesce(run_deadline, @runDeadline)
   where last_claim_id = @claimId and status = 'PROCESSING' and session_id = @linkId`,
);
const RENEW = `update jobs set lease_until =
  case when lease_until > @leaseUntil then lease_until else @leaseUntil end`;
// SQLite must not choose an index with the status. PostgreSQL locks the rows in order of their ids.
const renew = valueOf<object, string>({
  sqlite: `${RENEW}
     where last_claim_id in (select value from json_each(@claimIds))
       and +status = 'PROCESSING' and provider_id = @providerId and session_id = @linkId
     returning claim_id`,
  postgres: `${RENEW}
     where id in (
       select id from jobs where last_claim_id in (select value from json_each(@claimIds))
         and status = 'PROCESSING' and provider_id = @providerId and session_id = @linkId
       order by id for update)
     returning claim_id`,
});
const OWN = `status = 'PROCESSING' and lease_until > 0 and provider_id not in
  (select l.provider_id from provider_links l join nodes n on n.id = l.node_id
   where l.node_id <> @nodeId and l.ended_at is null and n.seen_at > @othersSince)`;
const renewOwn = statement({
  sqlite: `update jobs indexed by jobs_lease set lease_until = @leaseUntil where ${OWN}`,
  postgres: `update jobs set lease_until = @leaseUntil
    where id in (select id from jobs where ${OWN} order by id for update)`,
});

export const claimOperations: ClaimOperations = {
  *claimJobs(claims, now) {
    const claimed: (Claimed | null)[] = [];
    for (const claim of claims) claimed.push(yield* claimJob(claim, now));
    return claimed;
  },

  *acceptJob({ claimId, linkId }, runDeadline, now) {
    return (yield* accept.run({ claimId, linkId, runDeadline, now })) === 1;
  },

  *renewClaims({ claimIds, ...lease }) {
    const renewed = new Set(yield* renew.all({ ...lease, claimIds: JSON.stringify(claimIds) }));
    return claimIds.filter((id) => !renewed.has(id));
  },

  *renewOwnClaims(leaseUntil, othersSince) {
    const { nodeId } = yield* context();
    yield* renewOwn.run({ leaseUntil, othersSince, nodeId });
  },
};

// A current exclusion is kept: a release by the next provider must not end it.
const take = statement<object, ClaimedRow>(
  `update jobs set
     status = 'PROCESSING', claim_id = @claimId, last_claim_id = @claimId,
     provider_id = @providerId, session_id = @linkId, service_id = @serviceId,
     share_id = @shareId, served_model = @servedModel,
     attempt = attempt + 1, attempt_counted = 1,
     started_at = @now, accepted_at = null, run_deadline = null, lease_until = @leaseUntil
   where id = @jobId and status = 'QUEUED' and not_before is null and not (${QUEUE_PAUSED})
     and not exists (
       select 1 from api_keys k where k.id = key_id
         and (k.disabled_at is not null or k.revoked_at is not null or k.expires_at <= @now))
   returning ${CLAIMED_COLUMNS}`,
);
const advance = statement<Pick<JobRow, 'service_type' | 'model' | 'fair_key'>>(
  `insert into fair_clocks (service_type, model, virtual_time)
   values (@service_type, @model, @fair_key)
   on conflict (service_type, model) do update set virtual_time = case
     when fair_clocks.virtual_time > excluded.virtual_time then fair_clocks.virtual_time
     else excluded.virtual_time end`,
);
const bodyOf = valueOf<{ id: string }, Uint8Array>(
  'select body from job_bodies where job_id = @id',
);

/** Null if it can no longer be claimed. One guarded statement, so that no lock is needed before. */
export function* claimJob(
  { isOwn, shareId = null, servedModel = null, ...claim }: NewClaim,
  now: number,
): Operation<Claimed | null> {
  const row = yield* take.get({ ...claim, shareId, servedModel, now });
  if (row === undefined) return null;
  const { service_type, model, fair_key } = row;
  if (!isOwn) yield* advance.run({ service_type, model, fair_key });
  const body = yield* bodyOf.get({ id: row.id });
  if (body === undefined) throw new Error(`the queued job ${row.id} has no body`);
  return [toClaimedJob(row), body];
}
