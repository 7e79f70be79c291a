/** Jobs, batches and the queue (specification, section 4). */
import type { ErrorAnswerName } from '../error-answers.js';
import * as examples from '../examples.js';
import { jobAnswer } from '../inference-answers.js';
import type { Answer, Operation, Paths } from '../open-api.js';
import {
  callerOperation,
  eitherOperation,
  examplesOf,
  jsonAnswer,
  jsonBody,
} from '../operation.js';
import type { OperationParts } from '../operation.js';
import { CALLER_HEADERS, headers } from '../response-headers.js';
import { ref } from '../schemas.js';

/** Answers that all of them have. */
const OFF = 'UnavailableOrAsyncDisabled';

export function jobPaths(): Paths {
  return {
    '/v1/jobs': { get: listJobs() },
    '/v1/jobs/{id}': { get: getJob() },
    '/v1/jobs/{id}/cancel': { post: cancelJob() },
    '/v1/jobs/{id}/retry': { post: retryJob() },
    '/v1/batches': { get: listBatches(), post: createBatch() },
    '/v1/batches/{id}': { get: getBatch() },
    '/v1/batches/{id}/cancel': { post: cancelBatch() },
    '/api/inference/queue/summary': { get: summarizeQueue() },
  };
}

function listJobs(): Operation {
  return job('listJobs', [], {
    summary: 'List your jobs, the newest first',
    parameters: [
      'JobStatus',
      'Active',
      'JobType',
      'JobModel',
      'Search',
      'JobModelId',
      'JobBatch',
      'Order',
      'JobLimit',
      'After',
    ],
    answers: {
      200: jsonAnswer({
        schema: 'JobList',
        description: 'Without results and assets.',
        example: { object: 'list', data: [examples.queuedJob], has_more: false },
      }),
    },
    errors: ['InvalidQuery'],
  });
}

function getJob(): Operation {
  return job('getJob', ['JobNotFound'], {
    summary: 'Get a job, its result and its files',
    description: 'With `wait` the answer comes when the job has ended, or when the time is over.',
    parameters: ['JobId', 'Wait', 'ReasoningField'],
    answers: {
      200: jsonAnswer({
        schema: 'Job',
        description: 'The job as it is now.',
        example: examples.finishedJob,
      }),
    },
    errors: ['InvalidQuery'],
  });
}

function cancelJob(): Operation {
  return job('cancelJob', ['JobNotFound'], {
    summary: 'Cancel a job that is QUEUED or PROCESSING',
    parameters: ['JobId'],
    answers: {
      200: jsonAnswer({
        schema: 'JobCancellation',
        description: 'A job that had ended is unchanged, and `canceled` is false.',
        example: examples.jobCancellation,
      }),
    },
  });
}

function retryJob(): Operation {
  return job('retryJob', ['JobNotFound', 'JobNotRetryable', 'RateLimitedOrQueueFull'], {
    summary: 'Queue a job that is FAILED or CANCELED once more',
    description: 'With the same payload; attempts, error and result are cleared.',
    parameters: ['JobId'],
    answers: { 202: jobAnswer('It is queued.') },
  });
}

function createBatch(): Operation {
  const { content } = jsonBody('BatchRequest', examples.batchRequest);
  const schema = { anyOf: [ref('BatchRequest'), ref('FileBatchRequest')] };
  const media = { ...content['application/json'], schema };
  const errors = ['BodyTooLarge', 'UnsupportedBody', 'RateLimitedOrQueueFull'] as const;
  return batch('createBatch', ['FileNotFound', ...errors], {
    summary: 'Submit up to 256 jobs at once, or the requests of a file',
    description:
      'All items are checked before anything is created. With `input_file_id` the requests are ' +
      'the lines of an uploaded file.',
    parameters: ['IdempotencyKey', 'ProviderScope'],
    body: { required: true, content: { 'application/json': media } },
    answers: {
      200: jsonAnswer({
        schema: 'FileBatch',
        description: 'The lines of the file become jobs, a portion at a time.',
        example: examples.fileBatch,
        headers: [...CALLER_HEADERS, 'Idempotency-Replayed'],
      }),
      202: jsonAnswer({
        schema: 'Batch',
        description: 'Every item is a job.',
        example: examples.batch,
        headers: [...CALLER_HEADERS, 'Idempotency-Replayed'],
      }),
    },
    errors: ['InvalidBatch', 'EndpointNotAllowed'],
  });
}

function listBatches(): Operation {
  return batch('listBatches', [], {
    summary: 'List your batches, the newest first',
    parameters: ['BatchLimit', 'After'],
    answers: {
      200: jsonAnswer({
        schema: 'BatchList',
        description: 'Without their jobs.',
        example: { object: 'list', data: [examples.batch], has_more: false },
      }),
    },
    errors: ['InvalidQuery'],
  });
}

function getBatch(): Operation {
  return batch('getBatch', ['BatchNotFound'], {
    summary: 'Get a batch and the states of its jobs',
    description: 'The jobs of a batch that is read from a file are not listed.',
    parameters: ['BatchId'],
    answers: { 200: eitherBatch(examples.batchWithJobs) },
  });
}

function cancelBatch(): Operation {
  return batch('cancelBatch', ['BatchNotFound'], {
    summary: 'Cancel every job of a batch that is QUEUED or PROCESSING',
    parameters: ['BatchId'],
    answers: { 200: eitherBatch(examples.batch) },
  });
}

/** A batch in the form in which it was submitted. */
function eitherBatch(example: object): Answer {
  const schema = { anyOf: [ref('Batch'), ref('FileBatch')] };
  return {
    description: 'The batch as it is now, in the form in which it was submitted.',
    headers: headers(...CALLER_HEADERS),
    content: { 'application/json': { schema, ...examplesOf(example) } },
  };
}

function summarizeQueue(): Operation {
  return eitherOperation({
    id: 'getQueueSummary',
    tag: 'Jobs',
    summary: 'See how the queue stands, as far as it concerns you',
    parameters: ['IfNoneMatch'],
    answers: {
      200: jsonAnswer({
        schema: 'QueueSummary',
        description: 'The queue as it is now.',
        example: examples.queueSummary,
        headers: [...CALLER_HEADERS, 'ETag'],
      }),
      304: { description: 'Nothing has changed.', headers: headers(...CALLER_HEADERS, 'ETag') },
    },
    errors: ['InvalidQuery', 'Unavailable'],
  });
}

type Parts = Omit<OperationParts, 'id' | 'tag'>;

function job(id: string, errors: readonly ErrorAnswerName[], parts: Parts): Operation {
  const all = ['InvalidQuery' as const, ...errors, ...(parts.errors ?? []), OFF] as const;
  return callerOperation({ ...parts, id, tag: 'Jobs', errors: [...new Set(all)] });
}

function batch(id: string, errors: readonly ErrorAnswerName[], parts: Parts): Operation {
  const all = [...(parts.errors ?? ['InvalidQuery' as const]), ...errors, OFF] as const;
  return callerOperation({ ...parts, id, tag: 'Batches', errors: all });
}
