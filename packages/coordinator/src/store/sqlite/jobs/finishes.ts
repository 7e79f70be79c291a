import type { Database } from 'better-sqlite3';
import type { Finish, FinishOutcome } from '../../port.js';
import { assetWriter } from '../assets/assets.js';
import { jobEnds } from './job-end.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';

export function finishOperations(database: Database): Pick<Operations, 'finishJob'> {
  const find = database.prepare<[string], Pick<JobRow, 'id' | 'status'>>(
    'select id, status from jobs where last_claim_id = ?',
  );
  // A result that comes late, when the job waits again, was an attempt that counts.
  const finish = database.prepare<{ claimId: string; now: number }>(
    `update jobs set
       status = 'PROCESSED', finished_at = @now, error = null,
       attempt = attempt + 1 - attempt_counted, attempt_counted = 1,
       claim_id = null, session_id = null, accepted_at = null, lease_until = null,
       run_deadline = null, not_before = null, excluded_until = null
     where last_claim_id = @claimId and status in ('QUEUED', 'PROCESSING')`,
  );
  const writeAssets = assetWriter(database);
  const writeResult = resultWriter(database);
  const { concludeJob } = jobEnds(database);
  return {
    finishJob: (outcome, now) => {
      const job = find.get(outcome.claimId);
      if (job?.status === 'PROCESSED') return { kind: 'duplicate' };
      if (job?.status !== 'QUEUED' && job?.status !== 'PROCESSING') return STALE;
      // First: where they do not fit, nothing has changed.
      const space = writeAssets(outcome.assets, outcome.assetLimits);
      if (space !== 'created') return { kind: space };
      if (finish.run({ claimId: outcome.claimId, now }).changes === 0) {
        throw new Error(`the job ${job.id} could not be finished as ${job.status}`);
      }
      writeResult(job.id, outcome);
      return { kind: 'stored', ...concludeJob(job.id, now, outcome.usage) };
    },
  };
}

const STALE: FinishOutcome = { kind: 'stale' };

function resultWriter(database: Database): (jobId: string, finish: Finish) => void {
  const insert = database.prepare<[string, string]>('insert into job_results values (?, ?)');
  const link = database.prepare<[string, number, string]>(
    'insert into job_assets values (?, ?, ?)',
  );
  const eraseBody = database.prepare<[string]>('delete from job_bodies where job_id = ?');
  const utf8 = new TextDecoder();
  return (jobId, { result, assets }) => {
    if (result !== null) insert.run(jobId, utf8.decode(result));
    assets.forEach(({ id }, position) => link.run(jobId, position, id));
    eraseBody.run(jobId);
  };
}
