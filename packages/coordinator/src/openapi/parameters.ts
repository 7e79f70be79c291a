/** Parameters in paths, queries and headers. */
import { INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import { REASONING_FIELDS } from '@inference-gateway/shared/protocol/messages';
import { FILE_PURPOSES } from '../core/jobs/file-batch.js';
import { JOB_STATUSES } from '../core/jobs/job.js';
import type { Parameter, Reference } from './open-api.js';

const id = { type: 'string', minLength: 1 } as const;

/** A wait of this length still ends before proxies and clients give up. */
const MAX_WAIT_SECONDS = 60;

export const PARAMETERS = {
  IdempotencyKey: header('Idempotency-Key', {
    description:
      'Submissions with the same key are one: the second is answered with what the first made. ' +
      'It counts only where the call runs as a job, and is kept as long as that.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  }),
  ProviderScope: header('x-provider-scope', {
    description: '`own` keeps the call on the caller’s own machines.',
    schema: { type: 'string', enum: ['own', 'any'], default: 'any' },
  }),
  ReasoningField: header('x-reasoning-field', {
    description: 'The name under which the thinking text of a model is sent.',
    schema: { type: 'string', enum: [...REASONING_FIELDS], default: REASONING_FIELDS[0] },
  }),
  FeedToken: query('token', {
    description: 'Of the feed: the dashboard shows it once, under Settings, Notifications.',
    schema: { ...id, examples: ['gwe_…'] },
  }),
  After: query('after', {
    description: 'The id of the last one seen: what follows it is listed.',
    schema: id,
  }),
  AssetLimit: limit(500),
  JobLimit: limit(500),
  BatchLimit: limit(50),
  FileLimit: limit(500),
  Purpose: query('purpose', {
    description: 'Only files with this purpose.',
    schema: { type: 'string', enum: [...FILE_PURPOSES] },
  }),
  JobStatus: query('status', {
    description: 'Only jobs in this state.',
    schema: { type: 'string', enum: [...JOB_STATUSES] },
  }),
  Active: query('active', {
    description: 'Only jobs that are QUEUED or PROCESSING.',
    schema: { type: 'string', const: '1' },
  }),
  JobType: query('type', {
    description: 'Only jobs of this `inference_type`.',
    schema: { type: 'string', enum: [...INFERENCE_TYPES] },
  }),
  JobModel: query('model', {
    description: 'Only jobs whose model has this in its id; A and a are the same.',
    schema: { ...id, maxLength: 256, examples: ['qwen'] },
  }),
  Search: query('search', {
    description:
      'Only what has this in its excerpt, its model, its `custom_id` or the label of its batch, ' +
      'in capital or small letters. One request searches 10,000; `next_after` of its answer is ' +
      '`after` of the request that searches on.',
    schema: { type: 'string', maxLength: 100, examples: ['red fox'] },
  }),
  JobModelId: query('model_id', {
    description: 'Only jobs that wait or run as this model: its whole id.',
    schema: { ...id, maxLength: 256, examples: ['qwen3:8b'] },
  }),
  JobBatch: query('batch_id', {
    description: 'Only jobs of this batch, or `none` for jobs of no batch.',
    schema: { ...id, examples: ['none'] },
  }),
  Order: query('order', {
    description: 'By age; `asc` begins with the oldest.',
    schema: { type: 'string', enum: ['asc', 'desc'], default: 'desc' },
  }),
  Wait: query('wait', {
    description: 'Seconds to wait for the job to end; it is answered as it then is.',
    schema: { type: 'number', minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
  }),
  VoiceModel: query('model', {
    required: true,
    description: 'A `tts` model.',
    schema: { ...id, maxLength: 256 },
  }),
  ModelId: path('A model; slashes in it raw or percent-encoded.'),
  JobId: path('A job of the caller’s.'),
  ResponseId: path('A response of the caller’s: `resp_…`.'),
  BatchId: path('A batch of the caller’s.'),
  FileId: path('A file of the caller’s: `file-…`.'),
  ShareId: path('A share of the agent’s own provider.'),
  AssetId: path('A generated file of the caller’s.'),
  DownloadFile: {
    name: 'file',
    in: 'path',
    required: true,
    description: 'Its name in `release.json`, or `release.json` itself.',
    schema: { type: 'string', examples: ['release.json'] },
  },
  Command: {
    name: 'command',
    in: 'path',
    required: true,
    description: 'A noun and a verb.',
    schema: { type: 'string', pattern: '^[a-z]+\\.[a-z-]+$', examples: ['key.list'] },
  },
  CommandArgs: query('args', {
    description: 'Arguments of the command in JSON; absent where it takes none.',
    schema: { type: 'string', examples: ['{"limit":50,"after":null}'] },
  }),
  Range: header('Range', {
    description: 'One range of bytes.',
    schema: { type: 'string', examples: ['bytes=0-1023'] },
  }),
  LinkExpires: query('expires', {
    description: 'Of a link: Unix seconds until which it is good.',
    schema: { type: 'string', pattern: String.raw`^\d{1,12}$` },
  }),
  LinkSignature: query('signature', {
    description: 'Of a link, as the answer that told the address had it.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
  }),
  IfNoneMatch: header('If-None-Match', {
    description: 'The ETag of a copy that may still be good.',
    schema: { type: 'string' },
  }),
  WebhookId: header('webhook-id', {
    required: true,
    description: 'The same for every try: receivers tell repetitions by it.',
    schema: id,
  }),
  WebhookTimestamp: header('webhook-timestamp', {
    required: true,
    description: 'Unix seconds of this try.',
    schema: { type: 'integer' },
  }),
  WebhookSignature: header('webhook-signature', {
    required: true,
    description: 'HMAC-SHA256 over `id.timestamp.body`, as Standard Webhooks has it.',
    schema: { type: 'string', examples: ['v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='] },
  }),
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;

export function parameters(...names: readonly ParameterName[]): Reference[] {
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

type Rest = Omit<Parameter, 'name' | 'in'>;

function header(name: string, rest: Rest): Parameter {
  return { name, in: 'header', ...rest };
}

function query(name: string, rest: Rest): Parameter {
  return { name, in: 'query', ...rest };
}

function path(description: string): Parameter {
  return { name: 'id', in: 'path', required: true, description, schema: id };
}

function limit(maximum: number): Parameter {
  return query('limit', {
    description: 'How many to list.',
    schema: { type: 'integer', minimum: 1, maximum, default: 50 },
  });
}
