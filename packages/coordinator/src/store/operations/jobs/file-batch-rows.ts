/** Rows of `file_batches`: their mapping to what a batch has besides if it is read from a file. */
import type { JobCounts } from '../../../core/jobs/job.js';
import type { BatchFile } from '../../port.js';

/** All null for a batch without a file. */
export interface FileColumns {
  input_file_id: string | null;
  path: string | null;
  metadata: string | null;
  window_ms: number | null;
  lines: number | null;
  fed_lines: number | null;
  /** Lines that became no job. */
  refused_lines: number | null;
  expires_at: number | null;
  finalizing_at: number | null;
  cancelling_at: number | null;
  expired_at: number | null;
  ended_at: number | null;
  completed: number | null;
  failed_lines: number | null;
  output_file_id: string | null;
  error_file_id: string | null;
  fault: string | null;
}

export const FILE_COLUMNS = `file_batches.input_file_id, file_batches.path,
  file_batches.metadata, file_batches.window_ms, file_batches.lines, file_batches.fed_lines,
  (select count(*) from batch_lines where batch_lines.batch_id = file_batches.batch_id
     and job_id is null and file_batches.ended_at is null) as refused_lines,
  file_batches.expires_at, file_batches.finalizing_at, file_batches.cancelling_at,
  file_batches.expired_at, file_batches.ended_at, file_batches.completed,
  file_batches.failed as failed_lines, file_batches.output_file_id, file_batches.error_file_id,
  file_batches.fault`;

/** Null for a batch without a file. */
export function toBatchFile(row: FileColumns): BatchFile | null {
  const { input_file_id: inputFileId, path, lines, window_ms: windowMs } = row;
  if (inputFileId === null || path === null || lines === null || windowMs === null) return null;
  return {
    inputFileId,
    path,
    metadata: row.metadata,
    windowMs,
    lines,
    expiresAt: row.expires_at ?? 0,
    finalizingAt: row.finalizing_at,
    cancellingAt: row.cancelling_at,
    expiredAt: row.expired_at,
    endedAt: row.ended_at,
    outputFileId: row.output_file_id,
    errorFileId: row.error_file_id,
    fault: row.fault,
  };
}

/** `jobs`: the counts of its jobs that are still there. */
export function countsOfFile(row: FileColumns, jobs: JobCounts): JobCounts {
  const { lines, fed_lines: fed, ended_at: endedAt } = row;
  if (lines === null) return jobs;
  const failed = row.failed_lines ?? 0;
  const completed = row.completed ?? 0;
  if (endedAt !== null) {
    const canceled = lines - completed - failed;
    return { QUEUED: 0, PROCESSING: 0, PROCESSED: completed, FAILED: failed, CANCELED: canceled };
  }
  const unread = lines - (fed ?? 0);
  return {
    ...jobs,
    QUEUED: jobs.QUEUED + unread,
    FAILED: jobs.FAILED + (row.refused_lines ?? 0),
  };
}
