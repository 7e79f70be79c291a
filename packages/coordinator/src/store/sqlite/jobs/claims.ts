import type { Database } from 'better-sqlite3';
import type { Claimed, ClaimedJob, NewClaim } from '../../port.js';
import { JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
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

export function claimOperations(database: Database, nodeId: string): ClaimOperations {
  // Only once: a second ACCEPT must not extend the deadline.
  const accept = database.prepare(
    `update jobs set
       accepted_at = coalesce(accepted_at, @now),
       run_deadline = coalesce(run_deadline, @runDeadline)
     where last_claim_id = @claimId and status = 'PROCESSING' and session_id = @linkId`,
  );
  const renew = database
    .prepare<object, string>(
      `update jobs set lease_until = max(lease_until, @leaseUntil)
       where last_claim_id in (select value from json_each(@claimIds))
         and +status = 'PROCESSING' and provider_id = @providerId and session_id = @linkId
       returning claim_id`,
    )
    .pluck();
  const renewOwn = database.prepare<object>(
    `update jobs indexed by jobs_lease set lease_until = @leaseUntil
     where status = 'PROCESSING' and lease_until > 0 and provider_id not in
       (select l.provider_id from provider_links l join nodes n on n.id = l.node_id
        where l.node_id <> @nodeId and l.ended_at is null and n.seen_at > @othersSince)`,
  );
  const claim = claimer(database);
  return {
    claimJobs: (claims, now) => claims.map((one) => claim(one, now)),
    acceptJob: ({ claimId, linkId }, runDeadline, now) =>
      accept.run({ claimId, linkId, runDeadline, now }).changes === 1,
    renewClaims: ({ claimIds, ...lease }) => {
      const renewed = new Set(renew.all({ ...lease, claimIds: JSON.stringify(claimIds) }));
      return claimIds.filter((id) => !renewed.has(id));
    },
    renewOwnClaims: (leaseUntil, othersSince) =>
      void renewOwn.run({ leaseUntil, othersSince, nodeId }),
  };
}

export function claimer(database: Database): (claim: NewClaim, now: number) => Claimed | null {
  // A current exclusion is kept: a release by the next provider must not end it.
  const take = database.prepare<object, ClaimedRow>(
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
  const advance = database.prepare<Pick<JobRow, 'service_type' | 'model' | 'fair_key'>>(
    `insert into fair_clocks (service_type, model, virtual_time)
     values (@service_type, @model, @fair_key)
     on conflict do update set virtual_time = max(virtual_time, excluded.virtual_time)`,
  );
  const bodyOf = database
    .prepare<[string], Uint8Array>('select body from job_bodies where job_id = ?')
    .pluck();
  return ({ isOwn, shareId = null, servedModel = null, ...claim }, now) => {
    const row = take.get({ ...claim, shareId, servedModel, now });
    if (row === undefined) return null;
    const { service_type, model, fair_key } = row;
    if (!isOwn) advance.run({ service_type, model, fair_key });
    const body = bodyOf.get(row.id);
    if (body === undefined) throw new Error(`the queued job ${row.id} has no body`);
    return [toClaimedJob(row), body];
  };
}
