import type { Database } from 'better-sqlite3';
import { nextStatus } from '../../../core/jobs/job.js';
import type { QueueLimits } from '../../port.js';
import { enqueueKeys, jobFinder, laneKey, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { queueLimitReader } from './queue-limits.js';

/** Nothing of the last run is left: a late result of it names a claim that nobody knows. */
const RETRY = `update jobs set
    status = 'QUEUED', queued_at = @now, generation = generation + 1, attempt = 0,
    attempt_counted = 0, releases = 0, lane = @lane, fair_key = @fairKey, excluded = '[]',
    excluded_until = null, avoided = '[]', not_before = null, started_at = null,
    finished_at = null, claim_id = null, last_claim_id = null, provider_id = null,
    session_id = null, service_id = null, accepted_at = null, lease_until = null,
    run_deadline = null, error = null, failed_attempts = '[]'
  where id = @id and status in ('FAILED', 'CANCELED')`;

export function jobRetry(database: Database): Operations['retryJob'] {
  const find = jobFinder(database);
  const requeue = requeuer(database);
  const refusalOf = queueLimitReader(database);
  return (...[id, memberId, limits, now]) => {
    const row = find(id, memberId);
    if (row === undefined) return { kind: 'unknown' };
    if (nextStatus(row.status, 'retry') === null) return { kind: 'not_retryable', job: toJob(row) };
    const refusal = refusalOf(additionOf(row), limits);
    if (refusal !== null) return refusal;
    requeue(row, now);
    return { kind: 'queued', job: toJob(find(id, memberId) ?? row) };
  };
}

/** To the end of its caller's line, as if it had been submitted now. */
function requeuer(database: Database): (row: JobRow, now: number) => void {
  const requeue = database.prepare(RETRY);
  const forgetResult = database.prepare('delete from job_results where job_id = ?');
  const forgetAssets = database.prepare('delete from job_assets where job_id = ?');
  const nextKey = enqueueKeys(database);
  return (row, now) => {
    const { id, memberId, scope, needs } = toJob(row);
    const lane = laneKey({ memberId, scope, needs, excluded: [], avoided: [] });
    const fairKey = nextKey({ serviceType: row.service_type, model: row.model, memberId });
    requeue.run({ id, now, lane, fairKey });
    forgetResult.run(id);
    forgetAssets.run(id);
  };
}

function additionOf(row: JobRow): QueueLimits & { readonly memberId: string } {
  return { memberId: row.member_id, jobs: 1, bytes: row.body_bytes };
}
