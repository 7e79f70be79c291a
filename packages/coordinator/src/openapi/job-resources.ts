/** Jobs, batches and the queue, as their callers see them (specification, sections 2 and 4). */
import {
  ENDPOINTS,
  ENDPOINT_KEYS,
  INFERENCE_TYPES,
  SERVICE_TYPES,
} from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import {
  labelled,
  MAX_BATCH_ITEMS,
  wellFormed,
} from '@inference-gateway/shared/openai/batch-requests';
import {
  FILE_BATCH_PATHS,
  fileBatchSchema,
  lifetime,
} from '@inference-gateway/shared/openai/batch-files';
import { webhookSchema } from '@inference-gateway/shared/openai/webhook';
import { ERRORS } from '@inference-gateway/shared/errors';
import { FILE_BATCH_STATUSES, FILE_PURPOSES } from '../core/jobs/file-batch.js';
import { JOB_STATUSES } from '../core/jobs/job.js';
import { fileUrl, nextAfter, workNames } from './media-resources.js';
import { chatCompletion, completion } from './text-resources.js';

/** Endpoints that can run as jobs. */
const JOB_PATHS = ENDPOINT_KEYS.map((key) => ENDPOINTS[key])
  .filter(({ inferenceType }) => inferenceType !== null)
  .map(({ path }) => `/v1${path}`);

const count = z.int().min(0);

const time = z.iso.datetime();

const created = z.int().meta({ description: 'Unix seconds.' });

const status = z.enum(JOB_STATUSES);

const inferenceType = z.enum(INFERENCE_TYPES);

const WHILE_QUEUED = 'Only while it is QUEUED.';

const SINGLE_GET = 'Only when the job is fetched by its id.';

const types = [...new Set(Object.values(ERRORS).map(({ type }) => type))];

export const errorDetail = z.object({
  message: z.string().meta({ description: 'What failed, with which value, and what to do.' }),
  type: z.enum(types),
  code: z.enum(Object.keys(ERRORS)),
  param: z.string().nullable().meta({ description: 'The field at fault.' }),
});

export const job = z.object({
  id: z.string(),
  object: z.literal('service.job'),
  status,
  inference_type: inferenceType,
  endpoint: z.enum(JOB_PATHS),
  model: z.string().meta({ description: 'As it was requested.' }),
  served_model: z.string().optional().meta({
    description: 'Only if `model` is an alias: the model that has it, or had it last.',
  }),
  created,
  queued_at: time.meta({ description: 'Of the submission, or of the last retry.' }),
  started_at: time.nullable(),
  finished_at: time.nullable(),
  attempts: count,
  max_attempts: z.int().min(1),
  batch_id: z.string().nullable(),
  error: errorDetail.nullable().meta({ description: 'Why a FAILED job has failed.' }),
  position: z
    .int()
    .min(1)
    .nullable()
    .optional()
    .meta({
      description: `Among the runnable jobs; null while it rests after a failure. ${WHILE_QUEUED}`,
    }),
  waiting_reason: z.string().optional().meta({ description: WHILE_QUEUED }),
  result_url: fileUrl
    .optional()
    .meta({ description: 'The first file of a PROCESSED job that made one.' }),
  ...workNames,
  result: z
    .union([chatCompletion, completion])
    .optional()
    .meta({ description: `The answer of a PROCESSED LLM job. ${SINGLE_GET}` }),
  assets: z
    .array(z.object({ id: z.string(), url: fileUrl, content_type: z.string(), bytes: count }))
    .optional()
    .meta({ description: `The files that it made. ${SINGLE_GET}` }),
});

export const jobList = z.object({
  object: z.literal('list'),
  data: z.array(job),
  has_more: z.boolean(),
  next_after: nextAfter,
});

export const jobCancellation = z.object({
  id: z.string(),
  status,
  canceled: z.boolean().meta({ description: 'False where the job had ended before.' }),
});

export const batch = z
  .object({
    id: z.string(),
    object: z.literal('service.batch'),
    label: z.string().nullable(),
    status: z.enum(['PENDING', 'PROCESSING', 'DONE']),
    total: z.int().min(1),
    queued: count,
    processing: count,
    processed: count,
    failed: count,
    canceled: count,
    created,
    jobs: z
      .array(
        z.object({
          id: z.string(),
          status,
          inference_type: inferenceType,
          index: count,
          model: z.string().optional(),
          result_url: fileUrl.optional(),
          excerpt: workNames.excerpt,
          custom_id: workNames.custom_id,
        }),
      )
      .optional()
      .meta({ description: 'In the order of the request. Only when fetched by its id.' }),
  })
  .meta({ description: 'The counts of the five states add up to `total`.' });

const unixTime = created.nullable();

/** A file of the API. */
export const apiFile = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: count,
  created_at: created,
  expires_at: created,
  filename: z.string(),
  purpose: z.enum(FILE_PURPOSES),
  status: z.literal('processed').meta({ description: 'A file is checked before it is kept.' }),
});

export const apiFileList = z.object({
  object: z.literal('list'),
  data: z.array(apiFile),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});

export const deletedFile = z.object({
  id: z.string(),
  object: z.literal('file'),
  deleted: z.literal(true),
});

/** The form of an upload. */
export const fileUpload = z.looseObject({
  file: z.string().meta({ format: 'binary' }),
  purpose: z.literal('batch'),
  'expires_after[anchor]': lifetime.shape.anchor.optional(),
  'expires_after[seconds]': lifetime.shape.seconds.optional(),
});

/** A batch whose requests are the lines of a file, in the form of OpenAI's API. */
export const fileBatch = z.object({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.enum(FILE_BATCH_PATHS),
  errors: z
    .object({
      object: z.literal('list'),
      data: z.array(
        z.object({
          code: z.string(),
          message: z.string(),
          param: z.string().nullable(),
          line: z.int().nullable(),
        }),
      ),
    })
    .nullable()
    .meta({ description: 'Why its files could not be written, or not yet.' }),
  input_file_id: z.string(),
  completion_window: z.string(),
  status: z.enum(FILE_BATCH_STATUSES),
  output_file_id: z.string().nullable(),
  error_file_id: z.string().nullable(),
  created_at: created,
  in_progress_at: created,
  expires_at: created,
  finalizing_at: unixTime,
  completed_at: unixTime,
  failed_at: unixTime,
  expired_at: unixTime,
  cancelling_at: unixTime,
  cancelled_at: unixTime,
  request_counts: z.object({ total: z.int().min(1), completed: count, failed: count }),
  metadata: z.record(z.string(), z.string()).nullable(),
});

export const batchList = z.object({
  object: z.literal('list'),
  data: z.array(z.union([batch, fileBatch])),
  has_more: z.boolean(),
});

export const queueSummary = z.object({
  async_enabled: z.boolean(),
  worker_stalled: z
    .boolean()
    .meta({ description: 'Jobs are queued, and the dispatcher has not ticked for 60 seconds.' }),
  paused: z.boolean(),
  queued: count,
  processing: count,
  oldest_queued_seconds: z.number().min(0).nullable(),
  last_tick_at: time.nullable(),
  capacity: z.object({ slots: count, free_slots: count, providers_online: count }),
  by_model: z.array(
    z.object({
      model: z.string(),
      service_type: z.enum(SERVICE_TYPES),
      queued: count,
      running: count,
      slots: count,
      free_slots: count,
      oldest_queued_seconds: z.number().min(0).nullable(),
      providers_online: count,
    }),
  ),
});

const event = { timestamp: time };

export const jobFinished = z.object({
  type: z.literal('job.finished'),
  ...event,
  data: job,
});

export const batchFinished = z.object({
  type: z.literal('batch.finished'),
  ...event,
  data: z.union([batch, fileBatch]),
});

// The body of a batch, and the fields of a submission besides those of its endpoint.
export const webhook = webhookSchema.meta({
  description: 'Who is told when the job or batch has ended. No provider sees it.',
});

/** The number of items is checked separately, because each error has its own code. */
export const batchRequest = z.looseObject({
  requests: wellFormed.shape.requests.min(1).max(MAX_BATCH_ITEMS),
  ...labelled.shape,
  webhook: webhook.nullish(),
});

export const fileBatchRequest = z.looseObject({
  ...fileBatchSchema.shape,
  webhook: webhook.nullish(),
});

// The error object: in an answer, an event of a stream, a failed job.

export const errorBody = z.object({ error: errorDetail });
