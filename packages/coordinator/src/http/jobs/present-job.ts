/** Inside to outside: jobs and batches as the specification, section 2, has them. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, InferenceType } from '@inference-gateway/shared/endpoints';
import type * as z from 'zod';
import { batchStatus } from '../../core/jobs/job.js';
import type { Waiting } from '../../core/jobs/waiting-reason.js';
import type { batch, job } from '../../openapi/job-resources.js';
import type { Asset, Batch, BatchDetail, BatchJob, Job, JobDetail } from '../../store/port.js';

// What the API documents is what it answers: these are the types of the OpenAPI schemas.
export type JobResource = Readonly<Omit<z.output<typeof job>, 'result' | 'assets'>>;
export type JobDetailResource = With<z.output<typeof job>, 'assets'>;
export type BatchResource = Readonly<Omit<z.output<typeof batch>, 'jobs'>>;
type BatchDetailResource = With<z.output<typeof batch>, 'jobs'>;

/** One of which a field is there that others do not have. */
type With<Resource, Field extends keyof Resource> = Readonly<Omit<Resource, Field>> & {
  readonly [Name in Field]-?: NonNullable<Resource[Name]>;
};

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
export function presentBatchDetail({ batch, jobs }: BatchDetail): BatchDetailResource {
  return { ...presentBatch(batch), jobs: jobs.map(presentBatchJob) };
}

function presentBatchJob({ id, status, endpoint, index }: BatchJob) {
  return { id, status, inference_type: inferenceType(endpoint), index };
}

function presentAsset({ id, contentType, bytes }: Asset, urlOf: Presentation['urlOf']) {
  return { id, url: urlOf(id), content_type: contentType, bytes };
}

function inferenceType(endpoint: EndpointKey): InferenceType {
  const type = ENDPOINTS[endpoint].inferenceType;
  if (type === null) throw new Error(`a job of ${endpoint}, which has no jobs`);
  return type;
}

function unixSeconds(unixMs: number): number {
  return Math.floor(unixMs / 1000);
}

function iso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
