import type { Claimed, ClaimedJob, NewClaim } from '../../port.js';
import type { Operations } from '../operations.js';
import { context, statement, together, valueOf, withList } from '../statement.js';
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
  claimJobs: (claims, now) => claimEach(claims.map((claim) => ({ ...claim, now }))),

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

const TAKEN = `select ${CLAIMED_COLUMNS},
    (select body from job_bodies where job_id = jobs.id) as body
  from jobs`;

// A current exclusion is kept: a release by the next provider must not end it.
const take = statement(
  `update jobs set
     status = 'PROCESSING', claim_id = @claimId, last_claim_id = @claimId,
     provider_id = @providerId, session_id = @linkId, service_id = @serviceId,
     share_id = @shareId, served_model = @servedModel,
     attempt = attempt + 1, attempt_counted = 1,
     started_at = @now, accepted_at = null, run_deadline = null, lease_until = @leaseUntil
   where id = @jobId and status = 'QUEUED' and not_before is null and not (${QUEUE_PAUSED})
     and not exists (
       select 1 from api_keys k where k.id = key_id
         and (k.disabled_at is not null or k.revoked_at is not null or k.expires_at <= @now))`,
);
/** PostgreSQL may take several in any order, and two coordinators would wait for each other. */
const LOCKED = 'select id from jobs where id in (select value from json_each(@jobIds))';
const lockInOrder = valueOf<{ jobIds: string }, string>({
  sqlite: `${LOCKED} limit 0`,
  postgres: `${LOCKED} order by id for update`,
});
const takenBy = statement<{ claimIds: string }, TakenRow>(
  withList((isIn) => `${TAKEN} where ${isIn('last_claim_id', '@claimIds')}`),
);
const advance = statement<Clock>(
  `insert into fair_clocks (service_type, model, virtual_time)
   values (@service_type, @model, @fair_key)
   on conflict (service_type, model) do update set virtual_time = case
     when fair_clocks.virtual_time > excluded.virtual_time then fair_clocks.virtual_time
     else excluded.virtual_time end`,
);

interface TakenRow extends ClaimedRow {
  body: Uint8Array | null;
}

type ClaimNow = NewClaim & { readonly now: number };

/**
 * Null for those that can no longer be claimed. Each is guarded. Jobs and clocks are locked in the
 * order of their ids and names, so that two coordinators that claim the same jobs do not wait for
 * each other.
 */
export function* claimEach(claims: readonly ClaimNow[]): Operation<(Claimed | null)[]> {
  if (claims.length === 0) return [];
  const inOrder = claims.toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1));
  const taking = take.each(
    inOrder.map(({ shareId = null, servedModel = null, ...claim }) => {
      return { ...claim, shareId, servedModel };
    }),
  );
  const jobIds = JSON.stringify(inOrder.map(({ jobId }) => jobId));
  // One alone has no order.
  const isTaken =
    inOrder.length === 1
      ? yield* taking
      : (yield* together([lockInOrder.all({ jobIds }), taking]))[1];
  const claimIds = inOrder.filter((_, i) => isTaken[i] === 1).map(({ claimId }) => claimId);
  const rows = yield* takenBy.all({ claimIds: JSON.stringify(claimIds) });
  const taken = new Map(rows.map((row) => [row.claim_id, row]));
  const fair = claims.flatMap(({ claimId, isOwn }) => (isOwn ? [] : (taken.get(claimId) ?? [])));
  yield* advance.each(latestOf(fair));
  return claims.map(({ claimId }) => {
    const row = taken.get(claimId);
    return row === undefined ? null : toClaimed(row);
  });
}

type Clock = Pick<JobRow, 'service_type' | 'model' | 'fair_key'>;

/** Of each model. */
function latestOf(rows: readonly Clock[]): Clock[] {
  const latest = new Map<string, Clock>();
  for (const { service_type, model, fair_key } of rows) {
    const name = JSON.stringify([service_type, model]);
    if ((latest.get(name)?.fair_key ?? -Infinity) >= fair_key) continue;
    latest.set(name, { service_type, model, fair_key });
  }
  return [...latest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, clock]) => clock);
}

function toClaimed(row: TakenRow): Claimed {
  if (row.body === null) throw new Error(`the queued job ${row.id} has no body`);
  return [toClaimedJob(row), row.body];
}
