/** Shared by the submission of a job and of a batch. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { NewJobItem, Submission, QueueFull, QueueLimits } from '../../port.js';
import { lock, statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { enqueueKeys, laneKey, ofAlias } from './job-rows.js';

export interface SubmittedJob {
  readonly id: string;
  readonly submission: Submission;
  readonly item: NewJobItem;
  /** Null for a single job. */
  readonly batch: { readonly id: string; readonly index: number } | null;
}

export interface Subject {
  readonly kind: 'job' | 'batch';
  readonly id: string;
}

const known = valueOf<{ memberId: string; kind: Subject['kind']; key: string }, string>(
  `select coalesce(job_id, batch_id) from idempotency_keys
   where member_id = @memberId and kind = @kind and key = @key`,
);

/** The id of an earlier submission with the same idempotency key; null if there is none. */
export function* replayed(
  kind: Subject['kind'],
  { memberId, idempotencyKey: key }: Pick<Submission, 'memberId' | 'idempotencyKey'>,
): Operation<string | null> {
  return key === null ? null : ((yield* known.get({ memberId, kind, key })) ?? null);
}

const insertJob = statement(
  `insert into jobs (
     id, member_id, key_id, request_id, batch_id, batch_index, endpoint, api, service_type,
     model, alias, scope, needs, body_bytes, status, created_at, queued_at, max_attempts, lane,
     fair_key)
   values (
     @id, @memberId, @keyId, @requestId, @batchId, @batchIndex, @endpoint, @api, @serviceType,
     @model, @alias, @scope, @needs, @bodyBytes, 'QUEUED', @now, @now, @maxAttempts, @lane,
     @fairKey)`,
);
const insertBody = statement(
  'insert into job_bodies (job_id, body, context) values (@id, @body, @context)',
);

/** Writes QUEUED jobs and their bodies. */
export function* writeJobs(jobs: readonly SubmittedJob[], now: number): Operation<void> {
  const keys = yield* fairKeysOf(jobs);
  yield* insertJob.each(jobs.map((job) => rowOf(job, keys.get(job.id) ?? 0, now)));
  yield* insertBody.each(
    jobs.map(({ id, item: { body, translation } }) => ({
      id,
      body,
      context: translation === undefined ? null : JSON.stringify(translation.context),
    })),
  );
}

/** By job. Those of a queue are drawn together. */
function* fairKeysOf(jobs: readonly SubmittedJob[]): Operation<ReadonlyMap<string, number>> {
  const queues = new Map<string, SubmittedJob[]>();
  for (const job of jobs) {
    const queue = JSON.stringify(placeOf(job));
    const others = queues.get(queue);
    if (others === undefined) queues.set(queue, [job]);
    else others.push(job);
  }
  const keys = new Map<string, number>();
  for (const queue of queues.values()) {
    const [first] = queue;
    if (first === undefined) continue;
    const firstKey = yield* enqueueKeys(placeOf(first), queue.length);
    queue.forEach(({ id }, index) => keys.set(id, firstKey + index));
  }
  return keys;
}

function placeOf({ submission: { memberId }, item: { endpoint, model } }: SubmittedJob) {
  return { serviceType: ENDPOINTS[endpoint].serviceType, model, memberId };
}

function rowOf({ id, submission, item, batch }: SubmittedJob, fairKey: number, now: number) {
  const { memberId, keyId, requestId, scope, maxAttempts } = submission;
  const { endpoint, model, alias = null, needs, body, translation } = item;
  const { serviceType } = ENDPOINTS[endpoint];
  return {
    id,
    memberId,
    keyId,
    requestId,
    scope,
    maxAttempts,
    endpoint,
    api: translation?.api ?? null,
    model,
    alias,
    serviceType,
    now,
    batchId: batch?.id ?? null,
    batchIndex: batch?.index ?? null,
    needs: JSON.stringify(needs),
    bodyBytes: body.byteLength,
    lane: laneKey({
      memberId,
      keyId,
      scope,
      needs,
      ...ofAlias(alias),
      excluded: [],
      avoided: [],
    }),
    fairKey,
  };
}

const insertKey = statement(
  `insert into idempotency_keys (member_id, kind, key, job_id, batch_id)
   values (@memberId, @kind, @key, @jobId, @batchId)`,
);
const insertWebhook = statement(
  'insert into webhooks (subject_id, subject, url, secret) values (@id, @kind, @url, @secret)',
);

/** Writes its idempotency key and its webhook. */
export function* writeSubject(
  { kind, id }: Subject,
  submission: Pick<Submission, 'memberId' | 'idempotencyKey' | 'webhook'>,
): Operation<void> {
  const { memberId, idempotencyKey: key, webhook } = submission;
  if (key !== null) {
    const [jobId, batchId] = kind === 'job' ? [id, null] : [null, id];
    yield* insertKey.run({ memberId, kind, key, jobId, batchId });
  }
  if (webhook !== null) yield* insertWebhook.run({ kind, id, ...webhook });
}

/**
 * Before a submission reads the idempotency keys and the limits of the member: none of two at once
 * then misses what the other writes.
 */
export function lockSubmissions(memberId: string): Operation<void> {
  return lock(`jobs of ${memberId}`);
}

interface Addition {
  readonly memberId: string;
  readonly jobs: number;
  readonly bytes: number;
}

const spentBy = statement<{ memberId: string }, QueueLimits>(
  `select coalesce(sum(queued), 0) as jobs, coalesce(sum(bytes), 0) as bytes
   from queue_counts where member_id = @memberId`,
);

/**
 * The limit that this many more jobs of a member would exceed; null if there is room. Requires
 * `lockSubmissions`.
 */
export function* queueRefusal(
  { memberId, ...addition }: Addition,
  limits: QueueLimits,
): Operation<QueueFull | null> {
  const { jobs, bytes } = (yield* spentBy.get({ memberId })) ?? { jobs: 0, bytes: 0 };
  if (jobs + addition.jobs > limits.jobs) {
    return { kind: 'queue_full', limit: 'jobs', queued: jobs };
  }
  if (bytes + addition.bytes > limits.bytes) {
    return { kind: 'queue_full', limit: 'bytes', queued: bytes };
  }
  return null;
}
