import type { Database } from 'better-sqlite3';
import type { FailedAttempt, Job } from '../../port.js';
import { toAsset } from '../assets/assets.js';
import type { AssetRow } from '../assets/assets.js';
import { jobCanceller } from './job-cancel.js';
import { jobLister } from './job-lists.js';
import { jobRetention } from './job-retention.js';
import { jobRetry } from './job-retry.js';
import { jobFinder, toJob } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { queueLimitReader } from './queue-limits.js';
import { queuePositions } from './queue-positions.js';
import { submissionWriter } from './submissions.js';

type JobOperations = Pick<
  Operations,
  | 'createJob'
  | 'findJob'
  | 'findJobBody'
  | 'listJobs'
  | 'queuePositions'
  | 'findSubmittedJob'
  | 'cancelJob'
  | 'retryJob'
  | 'deleteOldJobs'
>;

export function jobOperations(database: Database): JobOperations {
  const cancel = jobCanceller(database);
  return {
    createJob: jobCreator(database),
    findSubmittedJob: submittedJobFinder(database),
    findJob: jobReader(database),
    findJobBody: bodyReader(database),
    listJobs: jobLister(database),
    queuePositions: queuePositions(database),
    cancelJob: (id, memberId, now) => cancel({ id, memberId, now }),
    retryJob: jobRetry(database),
    deleteOldJobs: jobRetention(database),
  };
}

/**
 * The idempotency key and the limits are read first. Only this connection writes, and an operation
 * runs without a pause: what was read still holds at the insert, which the unique index guards.
 */
function jobCreator(database: Database): Operations['createJob'] {
  const { replayed, writeJob, writeSubject } = submissionWriter(database);
  const refusalOf = queueLimitReader(database);
  const find = jobFinder(database);
  return (submission, limits, now) => {
    const { id, memberId, item } = submission;
    const known = replayed('job', submission);
    if (known !== null) return { kind: 'replayed', value: written(known) };
    const refusal = refusalOf({ memberId, jobs: 1, bytes: item.body.byteLength }, limits);
    if (refusal !== null) return refusal;
    writeJob({ id, submission, item, batch: null }, now);
    writeSubject({ kind: 'job', id }, submission);
    return { kind: 'created', value: written(id) };
  };

  function written(id: string): Job {
    const row = find(id, null);
    if (row === undefined) throw new Error(`the job ${id} is not there`);
    return toJob(row);
  }
}

function submittedJobFinder(database: Database): Operations['findSubmittedJob'] {
  const { replayed } = submissionWriter(database);
  const find = jobFinder(database);
  return (memberId, idempotencyKey) => {
    const id = replayed('job', { memberId, idempotencyKey });
    const row = id === null ? undefined : find(id, memberId);
    return row === undefined ? null : toJob(row);
  };
}

function jobReader(database: Database): Operations['findJob'] {
  const find = jobFinder(database);
  const resultOf = database
    .prepare<[string], string>('select result from job_results where job_id = ?')
    .pluck();
  const assetsOf = database.prepare<[string], AssetRow>(
    `select assets.* from job_assets join assets on assets.id = job_assets.asset_id
     where job_assets.job_id = ? order by job_assets.position`,
  );
  return (id, memberId) => {
    const row = find(id, memberId);
    if (row === undefined) return null;
    return {
      job: toJob(row),
      failedAttempts: JSON.parse(row.failed_attempts) as FailedAttempt[],
      result: resultOf.get(id) ?? null,
      assets: assetsOf.all(id).map(toAsset),
    };
  };
}

function bodyReader(database: Database): Operations['findJobBody'] {
  const find = jobFinder(database);
  const bodyOf = database
    .prepare<[string], Buffer>('select body from job_bodies where job_id = ?')
    .pluck();
  return (id, memberId) => (find(id, memberId) === undefined ? null : (bodyOf.get(id) ?? null));
}
