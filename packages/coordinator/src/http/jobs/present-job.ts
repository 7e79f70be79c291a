/** Presenters: jobs and batches as in the specification, section 2. */
import { callPath, ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, InferenceType } from '@inference-gateway/shared/endpoints';
import type * as z from 'zod';
import { fileBatchStatus } from '../../core/jobs/file-batch.js';
import { batchStatus } from '../../core/jobs/job.js';
import type { JobError } from '../../core/jobs/job.js';
import type { Waiting } from '../../core/jobs/waiting-reason.js';
import type { batch, fileBatch, job } from '../../openapi/job-resources.js';
import type {
  Asset,
  Batch,
  BatchDetail,
  BatchFile,
  BatchJob,
  Job,
  JobDetail,
  NamedBatchJob,
  WorkNames,
} from '../../store/port.js';

// The types of the OpenAPI schemas.
export type JobResource = Readonly<Omit<z.output<typeof job>, 'result' | 'assets'>>;
export type JobDetailResource = With<z.output<typeof job>, 'assets'>;
export type BatchResource = Readonly<Omit<z.output<typeof batch>, 'jobs'>>;
export type FileBatchResource = Readonly<z.output<typeof fileBatch>>;
export type BatchDetailResource = With<z.output<typeof batch>, 'jobs'>;

/** A type with this optional field required. */
type With<Resource, Field extends keyof Resource> = Readonly<Omit<Resource, Field>> & {
  readonly [Name in Field]-?: NonNullable<Resource[Name]>;
};

export interface Presentation {
  /** The URL of a file. */
  readonly urlOf: (assetId: string) => string;
  /** Positions of QUEUED jobs, by id. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

/** The position of a job that was claimed between two reads. */
const LEFT_THE_QUEUE: Waiting = { position: null, reason: 'It is about to start.' };

export function presentJob(job: Job, { urlOf, waiting }: Presentation): JobResource {
  const { position, reason } = waiting.get(job.id) ?? LEFT_THE_QUEUE;
  return {
    id: job.id,
    object: 'service.job',
    status: job.status,
    inference_type: inferenceType(job.endpoint),
    endpoint: callPath(job),
    model: job.alias ?? job.model,
    ...(job.servedModel !== null && { served_model: job.servedModel }),
    created: unixSeconds(job.createdAt),
    queued_at: iso(job.queuedAt),
    started_at: job.startedAt === null ? null : iso(job.startedAt),
    finished_at: job.finishedAt === null ? null : iso(job.finishedAt),
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    batch_id: job.batchId,
    // The row of any other job may contain an earlier attempt.
    error: job.status === 'FAILED' ? job.error : null,
    ...(job.status === 'QUEUED' && { position, waiting_reason: reason }),
    ...(job.firstAssetId !== null && { result_url: urlOf(job.firstAssetId) }),
  };
}

/** Only in answers to their owner: webhooks and administrators are not told. */
export function presentNames({ excerpt, customId, batchLabel }: WorkNames) {
  return {
    ...(excerpt !== null && { excerpt }),
    ...(customId !== null && { custom_id: customId }),
    ...(batchLabel !== null && { batch_label: batchLabel }),
  };
}

/** A job with its result and its files, as in the single get; with its names only for its owner. */
type ShownDetail = JobDetail & { readonly names?: WorkNames };

function presentJobDetail(
  { job, assets, names }: ShownDetail,
  presentation: Presentation,
): JobDetailResource {
  return {
    ...presentJob(job, presentation),
    ...(names && presentNames(names)),
    assets: assets.map((asset) => presentAsset(asset, presentation.urlOf)),
  };
}

/**
 * The same as JSON. The result is inserted as stored JSON: to parse and serialize a long one would
 * block the event loop.
 */
export function writeJobDetail(detail: ShownDetail, presentation: Presentation): string {
  const text = JSON.stringify(presentJobDetail(detail, presentation));
  return detail.result === null ? text : `${text.slice(0, -1)},"result":${detail.result}}`;
}

export function presentBatch(batch: Batch): BatchResource | FileBatchResource {
  return batch.file === null ? presentSentBatch(batch) : presentFileBatch(batch, batch.file);
}

function presentSentBatch({ id, label, createdAt, counts }: Batch): BatchResource {
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

/** With its jobs, as in the single get. */
export function presentBatchDetail({
  batch,
  jobs,
}: BatchDetail): BatchDetailResource | FileBatchResource {
  if (batch.file !== null) return presentFileBatch(batch, batch.file);
  return { ...presentSentBatch(batch), jobs: jobs.map(presentBatchJob) };
}

/** In the form of OpenAI's API. */
function presentFileBatch({ id, createdAt, counts }: Batch, file: BatchFile): FileBatchResource {
  const { cancellingAt, expiredAt, finalizingAt, endedAt } = file;
  const status = fileBatchStatus(file);
  const endedAs = (word: FileBatchResource['status']) =>
    status === word && endedAt !== null ? unixSeconds(endedAt) : null;
  return {
    id,
    object: 'batch',
    endpoint: file.path,
    errors: errorsOf(file),
    input_file_id: fileId(file.inputFileId),
    completion_window: `${file.windowMs / HOUR_MS}h`,
    status,
    output_file_id: file.outputFileId && fileId(file.outputFileId),
    error_file_id: file.errorFileId && fileId(file.errorFileId),
    created_at: unixSeconds(createdAt),
    in_progress_at: unixSeconds(createdAt),
    expires_at: unixSeconds(file.expiresAt),
    finalizing_at: finalizingAt === null ? null : unixSeconds(finalizingAt),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: expiredAt === null ? null : unixSeconds(expiredAt),
    cancelling_at: cancellingAt === null ? null : unixSeconds(cancellingAt),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: file.lines, completed: counts.PROCESSED, failed: counts.FAILED },
    metadata: JSON.parse(file.metadata ?? 'null') as Record<string, string> | null,
  };
}

const HOUR_MS = 3_600_000;

/** The id of a file of the API. */
export function fileId(assetId: string): string {
  return `file-${assetId}`;
}

function errorsOf({ fault }: BatchFile): FileBatchResource['errors'] {
  if (fault === null) return null;
  const { code, message, param } = JSON.parse(fault) as JobError;
  return { object: 'list', data: [{ code, message, param, line: null }] };
}

/** The same for its owner. */
export function presentOwnBatch(
  { batch, jobs }: { readonly batch: Batch; readonly jobs: readonly NamedBatchJob[] },
  urlOf: Presentation['urlOf'],
): BatchDetailResource | FileBatchResource {
  if (batch.file !== null) return presentFileBatch(batch, batch.file);
  return {
    ...presentSentBatch(batch),
    jobs: jobs.map(({ names, model, firstAssetId, ...job }) => ({
      ...presentBatchJob(job),
      model,
      ...(firstAssetId !== null && { result_url: urlOf(firstAssetId) }),
      // Its label is that of the batch.
      ...presentNames({ ...names, batchLabel: null }),
    })),
  };
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
