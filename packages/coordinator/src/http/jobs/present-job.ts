/** Inside to outside: jobs and batches as the specification, section 2, has them. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, InferenceType } from '@inference-gateway/shared/endpoints';
import { batchStatus } from '../../core/jobs/job.js';
import type { BatchStatus, JobError, JobStatus } from '../../core/jobs/job.js';
import type { Waiting } from '../../core/jobs/waiting-reason.js';
import type { Asset, Batch, BatchDetail, BatchJob, Job, JobDetail } from '../../store/port.js';

export interface JobResource {
  readonly id: string;
  readonly object: 'service.job';
  readonly status: JobStatus;
  readonly inference_type: InferenceType | null;
  /** `/v1/chat/completions` */
  readonly endpoint: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  readonly queued_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly batch_id: string | null;
  /** Of a FAILED job. */
  readonly error: JobError | null;
  /** Both only while it is QUEUED. */
  readonly position?: number | null;
  readonly waiting_reason?: string;
  /** The first of its files. */
  readonly result_url?: string;
}

export interface JobDetailResource extends JobResource {
  /** Of a PROCESSED text job. */
  readonly result?: unknown;
  readonly assets: readonly {
    readonly id: string;
    readonly url: string;
    readonly content_type: string;
    readonly bytes: number;
  }[];
}

export interface BatchResource {
  readonly id: string;
  readonly object: 'service.batch';
  readonly label: string | null;
  readonly status: BatchStatus;
  readonly total: number;
  readonly queued: number;
  readonly processing: number;
  readonly processed: number;
  readonly failed: number;
  readonly canceled: number;
  /** Unix seconds. */
  readonly created: number;
}

interface BatchJobResource {
  readonly id: string;
  readonly status: JobStatus;
  readonly inference_type: InferenceType | null;
  readonly index: number;
}

export interface Presentation {
  /** Where a file is fetched. */
  readonly urlOf: (assetId: string) => string;
  /** Where the QUEUED ones stand, by id. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

/** Of a job that was claimed between two looks at it. */
const LEFT_THE_QUEUE: Waiting = { position: null, reason: 'It is about to start.' };

export function presentJob(job: Job, { urlOf, waiting }: Presentation): JobResource {
  const { position, reason } = waiting.get(job.id) ?? LEFT_THE_QUEUE;
  return {
    id: job.id,
    object: 'service.job',
    status: job.status,
    inference_type: inferenceType(job.endpoint),
    endpoint: `/v1${ENDPOINTS[job.endpoint].path}`,
    model: job.model,
    created: unixSeconds(job.createdAt),
    queued_at: iso(job.queuedAt),
    started_at: job.startedAt === null ? null : iso(job.startedAt),
    finished_at: job.finishedAt === null ? null : iso(job.finishedAt),
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    batch_id: job.batchId,
    // The row of any other job may tell of an attempt that is over.
    error: job.status === 'FAILED' ? job.error : null,
    ...(job.status === 'QUEUED' && { position, waiting_reason: reason }),
    ...(job.firstAssetId !== null && { result_url: urlOf(job.firstAssetId) }),
  };
}

/** With its result and its files, as the single get has them. */
function presentJobDetail(
  { job, assets }: JobDetail,
  presentation: Presentation,
): JobDetailResource {
  return {
    ...presentJob(job, presentation),
    assets: assets.map((asset) => presentAsset(asset, presentation.urlOf)),
  };
}

/**
 * The same as JSON. The result goes into it as the JSON that it was when it was kept: parsed and
 * written again, a long one would hold up everybody else.
 */
export function writeJobDetail(detail: JobDetail, presentation: Presentation): string {
  const text = JSON.stringify(presentJobDetail(detail, presentation));
  return detail.result === null ? text : `${text.slice(0, -1)},"result":${detail.result}}`;
}

export function presentBatch({ id, label, createdAt, counts }: Batch): BatchResource {
  return {
    id,
    object: 'service.batch',
    label,
    status: batchStatus(counts),
    total: Object.values(counts).reduce((total, count) => total + count, 0),
    queued: counts.QUEUED,
    processing: counts.PROCESSING,
    processed: counts.PROCESSED,
    failed: counts.FAILED,
    canceled: counts.CANCELED,
    created: unixSeconds(createdAt),
  };
}

/** With its jobs, as the single get has them. */
export function presentBatchDetail({ batch, jobs }: BatchDetail) {
  return { ...presentBatch(batch), jobs: jobs.map(presentBatchJob) };
}

function presentBatchJob({ id, status, endpoint, index }: BatchJob): BatchJobResource {
  return { id, status, inference_type: inferenceType(endpoint), index };
}

function presentAsset({ id, contentType, bytes }: Asset, urlOf: Presentation['urlOf']) {
  return { id, url: urlOf(id), content_type: contentType, bytes };
}

function inferenceType(endpoint: EndpointKey): InferenceType | null {
  return ENDPOINTS[endpoint].inferenceType;
}

function unixSeconds(unixMs: number): number {
  return Math.floor(unixMs / 1000);
}

function iso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
