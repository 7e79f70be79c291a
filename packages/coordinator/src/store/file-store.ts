/**
 * The part of the store's port for files of the API, and for batches whose requests are the lines
 * of such a file. The file's bytes are in the byte store, under the id of its asset.
 */
import type { ProviderScope } from '../core/access/caller.js';
import type { FilePurpose } from '../core/jobs/file-batch.js';
import type { JobError, JobStatus } from '../core/jobs/job.js';
import type { Asset, AssetLimits } from './asset-store.js';
import type {
  Batch,
  BatchFile,
  Canceled,
  ListOrder,
  NewJobItem,
  PageQuery,
  MemberGone,
  QueueFull,
  QueueLimits,
  Submission,
  SubmitOutcome,
} from './job-store.js';

export interface ApiFile {
  readonly asset: Asset;
  readonly purpose: FilePurpose;
  readonly filename: string;
  /** The path of the API that all its lines are for: `/v1/chat/completions`. */
  readonly path: string;
  readonly lines: number;
}

export interface FileQuery extends PageQuery {
  readonly memberId: string;
  /** Null: any. */
  readonly purpose: FilePurpose | null;
  readonly order: ListOrder;
}

export interface NewFileBatch extends Submission {
  readonly fileId: string;
  readonly path: string;
  readonly metadata: string | null;
  readonly windowMs: number;
  readonly outputLifetimeMs: number | null;
}

/** A batch that is being read from its file, or whose jobs are not yet deleted. */
export interface OpenFileBatch extends BatchFile {
  readonly id: string;
  readonly memberId: string;
  readonly keyId: string;
  readonly scope: ProviderScope;
  readonly requestId: string;
  readonly outputLifetimeMs: number | null;
  readonly fedLines: number;
  readonly fedBytes: number;
  /** Its jobs that have not ended. */
  readonly openJobs: number;
}

/** A line that was read: a job, or why it became none. */
export interface FedLine {
  /** From 1. */
  readonly line: number;
  readonly customId: string;
  readonly made: NewJobItem | JobError;
}

export interface FeedRequest {
  readonly batchId: string;
  /** Must be `fedBytes` of the batch: another coordinator may have read on. */
  readonly fromByte: number;
  readonly toByte: number;
  readonly lines: readonly FedLine[];
  readonly maxAttempts: number;
}

/** How a line that was read has ended. */
export interface EndedLine {
  readonly line: number;
  readonly customId: string;
  /** Null if it became no job, or its job is gone. */
  readonly jobId: string | null;
  readonly status: JobStatus | null;
  readonly error: JobError | null;
  /** Bytes of its result; 0 without one. */
  readonly resultBytes: number;
}

export interface FileBatchEnd {
  readonly batchId: string;
  /** `fileBatchRetries` before the lines were read: a retried job changes it. */
  readonly retries: number;
  readonly output: ApiFile | null;
  readonly errors: ApiFile | null;
  readonly completed: number;
  readonly failed: number;
  /** Set if the batch could not be carried out. */
  readonly fault: JobError | null;
}

export interface FileStore {
  /** Writes the rows of a file that is already in place. */
  createFile(
    file: ApiFile,
    limits: AssetLimits,
  ): Promise<'created' | 'member_full' | 'full' | 'too_many'>;
  /** Null if it is unknown, or another member's. */
  findFile(id: string, memberId: string): Promise<ApiFile | null>;
  /** If `after` is unknown or not in the list, the list is empty. */
  listFiles(query: FileQuery): Promise<readonly ApiFile[]>;
  /** `in_use`: a batch that has not ended reads it. */
  deleteFile(id: string, memberId: string): Promise<'deleted' | 'in_use' | 'unknown'>;

  /** `no_file`: the member has no such file any more. `too_many`: see `MAX_OPEN_FILE_BATCHES`. */
  createFileBatch(
    batch: NewFileBatch,
    now: number,
  ): Promise<
    | Exclude<SubmitOutcome<Batch>, QueueFull | MemberGone>
    | { readonly kind: 'no_file' | 'too_many' }
  >;
  /** The oldest first, with those that have ended and still have jobs. */
  openFileBatches(): Promise<readonly OpenFileBatch[]>;
  /** Creates the jobs of these lines, or nothing. `stale`: it has been read on, or has ended. */
  feedFileBatch(
    request: FeedRequest,
    limits: QueueLimits,
    now: number,
  ): Promise<{ readonly kind: 'fed' | 'stale' } | QueueFull>;
  /** No more lines are read, and its jobs are canceled. */
  expireFileBatch(id: string, now: number): Promise<readonly Canceled[]>;
  /** Its files are written from now on, if nothing of it is left to do. */
  finalizeFileBatch(id: string, now: number): Promise<void>;
  /** How often its jobs were retried by their caller. */
  fileBatchRetries(id: string): Promise<number>;
  /** The lines after this one that were read, in order. */
  endedLines(id: string, after: number, limit: number): Promise<readonly EndedLine[]>;
  /** JSON of PROCESSED jobs, in this order; null for any other. */
  jobResults(jobIds: readonly string[]): Promise<readonly (string | null)[]>;
  /** Notes why its files cannot be written now. */
  faultFileBatch(id: string, fault: JobError): Promise<void>;
  /** Ends it and writes the rows of its files. `changed`: a job of it has not ended. */
  endFileBatch(
    end: FileBatchEnd,
    limits: AssetLimits,
    now: number,
  ): Promise<'ended' | 'changed' | 'member_full' | 'full'>;
  /** Deletes jobs of a batch that has ended, up to a limit; returns their number. */
  clearFileBatch(id: string, limit: number): Promise<number>;
}
