/**
 * Batches in the form of OpenAI's API: the lines of a JSONL file, and the body of `POST /batches`
 * with `input_file_id`.
 */
import * as z from 'zod';
import { ENDPOINTS } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { BATCHABLE, parseRequestAt } from './batch-requests.js';
import type { BatchItem } from './batch-requests.js';
import { check } from './check.js';
import { refuseMisspelledNames } from './field-names.js';
import type { RequestLimits } from './requests.js';
import { parseWebhook } from './webhook.js';
import type { WebhookTarget } from './webhook.js';

/** OpenAI's own limits. */
export const MAX_BATCH_FILE_BYTES = 200 * 1024 * 1024;
export const MAX_BATCH_FILE_LINES = 50_000;
const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_NAME_CHARACTERS = 64;
const MAX_METADATA_CHARACTERS = 512;

const MAX_CUSTOM_ID_CHARACTERS = 256;
/** 30 days. */
const MAX_WINDOW_H = 720;
const HOUR_MS = 3_600_000;
const MIN_LIFETIME_S = 3_600;
export const MAX_LIFETIME_S = 2_592_000;

/** The paths that the lines of a file may have; those whose answer is JSON in the OpenAI form. */
export const FILE_BATCH_PATHS: readonly string[] = [...BATCHABLE]
  .filter(([, { endpoint, api }]) => ENDPOINTS[endpoint].media === null && api !== 'messages')
  .map(([path]) => path);

/** A line whose form is right. */
export interface BatchLine {
  readonly customId: string;
  readonly path: string;
  /** Throws an `ApiError` if its request is not valid for its endpoint. */
  readonly take: () => BatchItem;
}

const path = z.enum(FILE_BATCH_PATHS, `it must be one of ${FILE_BATCH_PATHS.join(', ')}`);

const lineSchema = z.looseObject(
  {
    custom_id: z.string().min(1).max(MAX_CUSTOM_ID_CHARACTERS),
    method: z.literal('POST', 'it must be POST'),
    url: path,
    body: z.looseObject({}, 'it must be an object'),
  },
  'it must be an object with custom_id, method, url and body',
);

/** Throws an `ApiError` if the form of the line is wrong. */
export function parseBatchLine(value: unknown, limits: RequestLimits): BatchLine {
  const line = check(lineSchema, value);
  return {
    customId: line.custom_id,
    path: line.url,
    take: () => {
      const batchable = BATCHABLE.get(line.url);
      if (batchable === undefined) throw new Error(`no batch takes ${line.url}`);
      return parseRequestAt('body', { ...batchable, body: line.body }, limits);
    },
  };
}

const metadata = z.record(
  z.string().min(1).max(MAX_METADATA_NAME_CHARACTERS),
  z.string().max(MAX_METADATA_CHARACTERS),
);

const WINDOW_RULE = `it must be 1h to ${MAX_WINDOW_H}h, such as 24h`;

export const lifetime = z.looseObject({
  anchor: z.literal('created_at', 'it must be created_at'),
  seconds: z.int().min(MIN_LIFETIME_S).max(MAX_LIFETIME_S),
});

/** The body of `POST /batches` with `input_file_id`. */
export const fileBatchSchema = z.looseObject({
  input_file_id: z.string().min(1).max(64),
  endpoint: path,
  completion_window: z
    .string()
    .regex(/^[1-9]\d{0,2}h$/, WINDOW_RULE)
    .refine((window) => Number.parseInt(window, 10) <= MAX_WINDOW_H, WINDOW_RULE),
  metadata: metadata
    .refine(
      (pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS,
      `it must have at most ${MAX_METADATA_PAIRS} pairs`,
    )
    .nullish(),
  output_expires_after: lifetime.nullish(),
});

export interface ParsedFileBatch {
  readonly inputFileId: string;
  readonly path: string;
  readonly windowMs: number;
  /** JSON; null if there is none. */
  readonly metadata: string | null;
  readonly outputLifetimeMs: number | null;
  readonly webhook: WebhookTarget | null;
}

/** Whether the body of `POST /batches` is in this form. */
export function namesFile(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'input_file_id' in value;
}

/** Throws an `ApiError` for the first invalid field. */
export function parseFileBatch(value: unknown): ParsedFileBatch {
  const batch = check(fileBatchSchema, value);
  refuseMisspelledNames(batch);
  if (batch['requests'] !== undefined) {
    const message = "A batch has either 'input_file_id' or 'requests'. Leave one of them away.";
    throw new ApiError('unsupported_value', message, { param: 'requests' });
  }
  const { metadata: pairs, output_expires_after: expiry } = batch;
  return {
    inputFileId: batch.input_file_id,
    path: batch.endpoint,
    windowMs: Number.parseInt(batch.completion_window, 10) * HOUR_MS,
    metadata: pairs ? JSON.stringify(pairs) : null,
    outputLifetimeMs: expiry ? expiry.seconds * 1_000 : null,
    webhook: parseWebhook(batch['webhook']),
  };
}
