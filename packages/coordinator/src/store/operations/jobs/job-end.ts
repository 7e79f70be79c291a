/** Written with the end of a job, in the same transaction: usage and webhooks. */
import { sourceOf } from '../../../core/access/caller.js';
import { isFinished } from '../../../core/jobs/job.js';
import { usageNumbers } from '../../../core/usage/usage-bounds.js';
import type { Job, JobUsage, UsageRow } from '../../port.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { forUpdate, JOB_COLUMNS, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { writeUsage } from '../usage/usage.js';

interface EndedJob {
  readonly job: Job;
  readonly usage: UsageRow;
}

const find = statement<{ id: string }, JobRow>(`select ${JOB_COLUMNS} from jobs where id = @id`);

/** Called when a job has reached a final status. A null usage is that of a run without output. */
export function* concludeJob(
  jobId: string,
  now: number,
  usage: JobUsage | null,
): Operation<EndedJob> {
  const row = yield* find.get({ id: jobId });
  if (row === undefined || !isFinished(row.status)) {
    throw new Error(`the job ${jobId} has not ended: it is ${row?.status ?? 'not there'}`);
  }
  const used = usageOf(row, now, usage ?? NO_USAGE);
  yield* writeUsage([used]);
  yield* announce(row, now);
  return { job: toJob(row), usage: used };
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

const announceJob = statement(
  `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
   select @message, subject_id, @memberId, @now, @now from webhooks where subject_id = @id
   on conflict (id) do nothing`,
);
/**
 * Locked, so that of the last two jobs of a batch, ended by two coordinators, one sees that the
 * other has ended.
 */
const lockWebhook = statement<{ batchId: string }>(
  forUpdate('select subject_id from webhooks where subject_id = @batchId'),
);
// A retried job ends its batch again: the sum of the generations distinguishes these ends.
const announceBatch = statement(
  `insert into webhook_deliveries (id, subject_id, member_id, created_at, next_at)
   select 'msg_' || @batchId || '_' ||
     (select sum(generation) from jobs where batch_id = @batchId),
     subject_id, @memberId, @now, @now
   from webhooks where subject_id = @batchId and not exists (
     select 1 from jobs where batch_id = @batchId and status in ('QUEUED', 'PROCESSING'))
     and not exists (select 1 from file_batches where batch_id = @batchId)
   on conflict (id) do nothing`,
);

/** Queues the webhook of the job, and after the last job of a batch that of the batch. */
function* announce(row: JobRow, now: number): Operation<void> {
  const { id, generation, member_id: memberId, batch_id: batchId } = row;
  yield* announceJob.run({ message: `msg_${id}_${generation}`, id, memberId, now });
  if (batchId === null || (yield* lockWebhook.get({ batchId })) === undefined) return;
  yield* announceBatch.run({ batchId, memberId, now });
}
