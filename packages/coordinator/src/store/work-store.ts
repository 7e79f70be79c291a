/**
 * The part of the store's port for work as its owner sees it: jobs, batches and files with the
 * names by which they find it again. No other operation returns an excerpt.
 */
import type { Asset, AssetQuery } from './asset-store.js';
import type { Batch, BatchJob, Job, JobDetail, JobQuery } from './job-store.js';

export interface WorkNames {
  /** Of the last text of its user (`shared/openai/excerpt.ts`). */
  readonly excerpt: string | null;
  /** Of a line of a file of requests, until the batch has ended. */
  readonly customId: string | null;
  readonly batchLabel: string | null;
}

export interface NamedJob {
  readonly job: Job;
  readonly names: WorkNames;
}

export interface NamedBatchJob extends BatchJob {
  /** As it was requested. */
  readonly model: string;
  /** The first of its files that still exists. */
  readonly firstAssetId: string | null;
  readonly names: WorkNames;
}

export interface NamedAsset extends Asset {
  readonly names: WorkNames;
}

/** The job or the file of a request that was metered. */
export interface RequestWork {
  readonly requestId: string;
  readonly jobId: string | null;
  readonly batchId: string | null;
  /** Those that still exist, in their order. */
  readonly files: readonly Pick<Asset, 'id' | 'contentType'>[];
  readonly names: WorkNames;
}

interface OfMember {
  readonly memberId: string;
}

export interface WorkStore {
  /** As `listJobs`. */
  listOwnJobs(query: JobQuery & OfMember): Promise<readonly NamedJob[]>;
  /** As `findJob`. */
  findOwnJob(id: string, memberId: string): Promise<(JobDetail & Pick<NamedJob, 'names'>) | null>;
  /** As `findBatch`. */
  findOwnBatch(
    id: string,
    memberId: string,
  ): Promise<{ readonly batch: Batch; readonly jobs: readonly NamedBatchJob[] } | null>;
  /** As `listAssets`. */
  listOwnAssets(query: AssetQuery & OfMember): Promise<readonly NamedAsset[]>;
  /** Of those requests of a member that have a job or a file. */
  requestWork(memberId: string, requestIds: readonly string[]): Promise<readonly RequestWork[]>;

  /**
   * Whether excerpts of the member's requests are kept from now on; `eraseExcerpts` then erases
   * those that are. False if the member is unknown.
   */
  setExcerpts(memberId: string, areKept: boolean): Promise<boolean>;
  /**
   * Erases excerpts of work from before this time, and those of members who keep none, up to a
   * limit of jobs and of files. Returns the number of the kind of which it erased more.
   */
  eraseExcerpts(before: number, limit: number): Promise<number>;
}
