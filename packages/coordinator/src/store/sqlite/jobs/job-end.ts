/** Written with the end of a job, in the same transaction: usage and webhooks. */
import type { Database } from 'better-sqlite3';
import { sourceOf } from '../../../core/access/caller.js';
import { isFinished } from '../../../core/jobs/job.js';
import { usageNumbers } from '../../../core/usage/usage-bounds.js';
import type { Job, JobUsage, UsageRow } from '../../port.js';
import { JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { usageWriter } from '../usage/usage.js';

interface EndedJob {
  readonly job: Job;
  readonly usage: UsageRow;
}

interface JobEnds {
  /**
   * Called when a job has reached a final status. A null usage is that of a run without output.
   */
  readonly concludeJob: (jobId: string, now: number, usage: JobUsage | null) => EndedJob;
}

export function jobEnds(database: Database): JobEnds {
  const find = database.prepare<[string], JobRow>(`select ${JOB_COLUMNS} from jobs where id = ?`);
  const writeUsage = usageWriter(database);
  const announce = announcer(database);
  return {
    concludeJob: (jobId, now, usage) => {
      const row = find.get(jobId);
      if (row === undefined || !isFinished(row.status)) {
        throw new Error(`the job ${jobId} has not ended: it is ${row?.status ?? 'not there'}`);
      }
      const used = usageOf(row, now, usage ?? NO_USAGE);
      writeUsage([used]);
      announce(row, now);
      return { job: toJob(row), usage: used };
    },
  };
}

const NO_USAGE: JobUsage = {
  promptTokens: 0,
  completionTokens: 0,
  estimated: false,
  audioMs: 0,
  images: 0,
  firstByteMs: null,
};

/** One row per generation: each retry by the caller is metered as another request. */
function usageOf(row: JobRow, now: number, usage: JobUsage): UsageRow {
  const { id, generation, service_type, started_at: startedAt, queued_at: queuedAt } = row;
  const { memberId, keyId, providerId, model, servedModel, endpoint, attempts, error } = toJob(row);
  const outcome = OUTCOMES[row.status] ?? 'failed';
  return {
    requestId: `${id}.${generation}`,
    at: now,
    memberId,
    keyId,
    providerId,
    shareId: row.share_id,
    model: servedModel ?? model,
    serviceType: service_type,
    endpoint,
    // A job that never ran has waited all the time.
    ...usageNumbers({ ...usage, queueMs: (startedAt ?? now) - queuedAt, totalMs: now - queuedAt }),
    attempts,
    outcome,
    errorCode: outcome === 'failed' ? (error?.code ?? null) : null,
    source: sourceOf(keyId),
  };
}

const OUTCOMES: Readonly<Partial<Record<JobRow['status'], UsageRow['outcome']>>> = {
  PROCESSED: 'ok',
  FAILED: 'failed',
  CANCELED: 'canceled',
};

/** Queues the webhook of the job, and after the last job of a batch that of the batch. */
function announcer(database: Database): (row: JobRow, now: number) => void {
  const ofJob = database.prepare(
    `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
     select @message, subject_id, @memberId, @now, @now from webhooks where subject_id = @id
     on conflict (id) do nothing`,
  );
  // A retried job ends its batch again: the sum of the generations distinguishes these ends.
  const ofBatch = database.prepare(
    `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
     select 'msg_' || @batchId || '_' ||
       (select sum(generation) from jobs where batch_id = @batchId),
       subject_id, @memberId, @now, @now
     from webhooks where subject_id = @batchId and not exists (
       select 1 from jobs where batch_id = @batchId and status in ('QUEUED', 'PROCESSING'))
       and not exists (select 1 from file_batches where batch_id = @batchId)
     on conflict (id) do nothing`,
  );
  return ({ id, generation, member_id: memberId, batch_id: batchId }, now) => {
    ofJob.run({ message: `msg_${id}_${generation}`, id, memberId, now });
    if (batchId !== null) ofBatch.run({ batchId, memberId, now });
  };
}
