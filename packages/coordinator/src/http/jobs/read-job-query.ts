/** What a caller asks of the list of their jobs. */
import { ENDPOINT_KEYS, ENDPOINTS, INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { JOB_STATUSES } from '../../core/jobs/job.js';
import type { JobStatus } from '../../core/jobs/job.js';
import type { JobQuery, ListOrder } from '../../store/port.js';
import { callerOf } from '../edge/context.js';
import type { Context } from '../edge/context.js';
import { queryText, readPage } from '../edge/read-query.js';

const MAX_LIMIT = 500;
/** Of the part of a model's id that is looked for. */
const MAX_MODEL_CHARACTERS = 256;
const ACTIVE: readonly JobStatus[] = ['QUEUED', 'PROCESSING'];

/** Throws `invalid_value` where a field of the query is none of what it may be. */
export function readJobQuery(ctx: Context): JobQuery {
  return {
    memberId: callerOf(ctx).memberId,
    statuses: readStatuses(ctx),
    endpoints: readEndpoints(ctx),
    model: readModel(ctx),
    order: readOrder(ctx),
    ...readPage(ctx, MAX_LIMIT),
  };
}

/** Null: every status. Both filters at once are what both let through. */
function readStatuses(ctx: Context): readonly JobStatus[] | null {
  const asked = readStatus(ctx);
  if (!readActive(ctx)) return asked === null ? null : [asked];
  return ACTIVE.filter((status) => asked === null || status === asked);
}

function readStatus(ctx: Context): JobStatus | null {
  const written = queryText(ctx, 'status');
  const status = JOB_STATUSES.find((one) => one === written);
  if (written === null || status !== undefined) return status ?? null;
  const message = `status is '${written}': it must be one of ${JOB_STATUSES.join(', ')}.`;
  throw new ApiError('invalid_value', message, { param: 'status' });
}

function readActive(ctx: Context): boolean {
  const written = queryText(ctx, 'active') ?? '0';
  if (written === '0' || written === '1') return written === '1';
  const message = `active is '${written}': it must be 1, for what has not ended, or 0, for all.`;
  throw new ApiError('invalid_value', message, { param: 'active' });
}

/** Those of one inference type; null: of all. */
function readEndpoints(ctx: Context): readonly EndpointKey[] | null {
  const written = queryText(ctx, 'type');
  if (written === null) return null;
  const type = INFERENCE_TYPES.find((one) => one === written);
  if (type !== undefined) {
    return ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].inferenceType === type);
  }
  const message = `type is '${written}': it must be one of ${INFERENCE_TYPES.join(', ')}.`;
  throw new ApiError('invalid_value', message, { param: 'type' });
}

function readModel(ctx: Context): string | null {
  const written = queryText(ctx, 'model');
  if (written === null) return null;
  const { length } = written;
  if (length >= 1 && length <= MAX_MODEL_CHARACTERS) return written;
  const message =
    `model has ${length} characters: it must be a part of a model's id, ` +
    `from 1 to ${MAX_MODEL_CHARACTERS}.`;
  throw new ApiError('invalid_value', message, { param: 'model' });
}

function readOrder(ctx: Context): ListOrder {
  const written = queryText(ctx, 'order') ?? 'desc';
  if (written === 'asc' || written === 'desc') return written;
  const message = `order is '${written}': it must be desc, the newest first, or asc, the oldest.`;
  throw new ApiError('invalid_value', message, { param: 'order' });
}
