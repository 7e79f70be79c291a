/** Written with the end of a job, in the same transaction: usage and webhooks. */
import { sourceOf } from '../../../core/access/caller.js';
import { isFinished } from '../../../core/jobs/job.js';
import { usageNumbers } from '../../../core/usage/usage-bounds.js';
import type { Job, JobUsage, UsageRow } from '../../port.js';
import { statement, together, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { writeJobUsage } from '../usage/usage.js';

interface EndedJob {
  readonly job: Job;
  readonly usage: UsageRow;
}

/** Called when a job has reached a final status. A null usage is that of a run without output. */
export function* concludeJob(
  row: JobRow,
  now: number,
  usage: JobUsage | null,
): Operation<EndedJob> {
  const [ended] = yield* concludeJobs([{ row, now, usage }]);
  if (ended === undefined) throw new Error(`the job ${row.id} was not concluded`);
  return ended;
}

/** The arguments of `concludeJob`. */
interface End {
  readonly row: JobRow;
  readonly now: number;
  readonly usage: JobUsage | null;
}

export function* concludeJobs(ends: readonly End[]): Operation<EndedJob[]> {
  const ended = ends.map(({ row, now, usage }) => {
    if (!isFinished(row.status)) throw new Error(`the job ${row.id} has not ended: ${row.status}`);
    return { job: toJob(row), usage: usageOf(row, now, usage ?? NO_USAGE) };
  });
  yield* together([writeJobUsage(ended.map(({ usage }) => usage)), announce(ends)]);
  return ended;
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
  const job = toJob(row);
  const { memberId, keyId, providerId, model, servedModel, endpoint, attempts, error } = job;
  const outcome = OUTCOMES[row.status] ?? 'failed';
  return {
    requestId: `${id}.${generation}`,
    at: now,
    memberId,
    keyId,
    providerId,
    shareId: row.share_id,
    model: servedModel ?? model,
    alias: job.alias,
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
 * The jobs and batches that have one. Locked, so that of the last two jobs of a batch, ended by two
 * coordinators, one sees that the other has ended.
 */
const HOOKED =
  'select subject_id from webhooks where subject_id in (select value from json_each(@ids))';
const hooked = valueOf<{ ids: string }, string>({
  sqlite: HOOKED,
  postgres: `${HOOKED} order by subject_id for update`,
});
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

/** Queues the webhooks of the jobs, and after the last job of a batch that of the batch. */
function* announce(ends: readonly End[]): Operation<void> {
  const subjects = new Set(ends.flatMap(({ row }) => [row.id, row.batch_id ?? []].flat()));
  const found = new Set(yield* hooked.all({ ids: JSON.stringify([...subjects]) }));
  if (found.size === 0) return;
  yield* announceJob.each(
    ends
      .filter(({ row }) => found.has(row.id))
      .map(({ row: { id, generation, member_id: memberId }, now }) => {
        return { message: `msg_${id}_${generation}`, id, memberId, now };
      }),
  );
  yield* announceBatch.each(
    ends.flatMap(({ row: { batch_id: batchId, member_id: memberId }, now }) => {
      return batchId !== null && found.has(batchId) ? { batchId, memberId, now } : [];
    }),
  );
}
