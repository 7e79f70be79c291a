/** Shared by the submission of a job and of a batch. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { MemberGone, NewJobItem, Submission, QueueFull, QueueLimits } from '../../port.js';
import { lock, statement, together, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';
import { enqueueKeys, laneKey, ofAlias } from './job-rows.js';

export interface SubmittedJob {
  readonly id: string;
  readonly submission: Submission;
  readonly item: NewJobItem;
  /** Null for a single job. */
  readonly batch: { readonly id: string; readonly index: number } | null;
  /** Whether its member keeps excerpts. */
  readonly keepsExcerpt: boolean;
  readonly now: number;
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
     fair_key, excerpt)
   values (
     @id, @memberId, @keyId, @requestId, @batchId, @batchIndex, @endpoint, @api, @serviceType,
     @model, @alias, @scope, @needs, @bodyBytes, 'QUEUED', @now, @now, @maxAttempts, @lane,
     @fairKey, @excerpt)`,
);
const insertBody = statement(
  'insert into job_bodies (job_id, body, context) values (@id, @body, @context)',
);

/** Writes QUEUED jobs and their bodies. */
export function* writeJobs(jobs: readonly SubmittedJob[]): Operation<void> {
  const rows = yield* rowsOf(jobs);
  yield* together([insertJob.each(rows), insertBody.each(jobs.map(bodyOf))]);
}

function* rowsOf(jobs: readonly SubmittedJob[]) {
  const keys = yield* fairKeysOf(jobs);
  return jobs.map((job) => rowOf(job, keys.get(job.id) ?? 0));
}

function bodyOf({ id, item: { body, translation } }: SubmittedJob) {
  return {
    id,
    body,
    context: translation === undefined ? null : JSON.stringify(translation.context),
  };
}

/** By job. Those of a queue are drawn together. */
function* fairKeysOf(jobs: readonly SubmittedJob[]): Operation<ReadonlyMap<string, number>> {
  const queues = new Map<string, [SubmittedJob, ...SubmittedJob[]]>();
  for (const job of jobs) {
    const queue = JSON.stringify(placeOf(job));
    const others = queues.get(queue);
    if (others === undefined) queues.set(queue, [job]);
    else others.push(job);
  }
  // In one order, so that two submissions do not wait for each other.
  const drawn = [...queues].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
  const firstKeys = yield* together(
    drawn.map(([first, ...others]) => enqueueKeys(placeOf(first), 1 + others.length)),
  );
  const keys = new Map<string, number>();
  for (const [i, queue] of drawn.entries()) {
    queue.forEach(({ id }, index) => keys.set(id, (firstKeys[i] ?? 0) + index));
  }
  return keys;
}

function placeOf({ submission: { memberId }, item: { endpoint, model } }: SubmittedJob) {
  return { serviceType: ENDPOINTS[endpoint].serviceType, model, memberId };
}

function rowOf(job: SubmittedJob, fairKey: number) {
  const { id, submission, item, batch, keepsExcerpt, now } = job;
  const { memberId, keyId, requestId, scope, maxAttempts } = submission;
  const { endpoint, model, alias = null, needs, body, excerpt = null, translation } = item;
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
    excerpt: keepsExcerpt ? excerpt : null,
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
  return lock(submissionsOf(memberId));
}

/** The name of that lock. */
export const submissionsOf = (memberId: string): string => `jobs of ${memberId}`;

interface Addition {
  readonly memberId: string;
  readonly jobs: number;
  readonly bytes: number;
}

/** With the number of members of this id: 0 once it is deleted. */
export interface Queued extends QueueLimits {
  readonly members: number;
  /** Whether excerpts of the member's requests are kept. */
  readonly excerpts: 0 | 1;
}

export const NOBODY: Queued = { jobs: 0, bytes: 0, members: 0, excerpts: 0 };

const spentBy = statement<{ memberId: string }, Queued>(
  `select coalesce(sum(queued), 0) as jobs, coalesce(sum(bytes), 0) as bytes,
     (select count(*) from members where id = @memberId) as members,
     coalesce((select excerpts from members where id = @memberId), 0) as excerpts
   from queue_counts where member_id = @memberId`,
);

/** What a member has queued. Requires `lockSubmissions`, at the latest in the same step. */
export function* queuedBy(memberId: string): Operation<Queued> {
  return (yield* spentBy.get({ memberId })) ?? NOBODY;
}

/**
 * The limit that this many more jobs of a member would exceed; null if there is room. Requires
 * `lockSubmissions`.
 */
export function* queueRefusal(
  { memberId, ...addition }: Addition,
  limits: QueueLimits,
): Operation<QueueFull | null> {
  return fullBy(yield* queuedBy(memberId), addition, limits);
}

/** Deletion takes the same lock: the member stays until the submission is written. */
export function refusalOf(
  queued: Queued,
  addition: QueueLimits,
  limits: QueueLimits,
): QueueFull | MemberGone | null {
  return queued.members === 0 ? { kind: 'member_gone' } : fullBy(queued, addition, limits);
}

/** The limit that this many more jobs would exceed; null if there is room. */
export function fullBy(
  { jobs, bytes }: QueueLimits,
  addition: QueueLimits,
  limits: QueueLimits,
): QueueFull | null {
  if (jobs + addition.jobs > limits.jobs) {
    return { kind: 'queue_full', limit: 'jobs', queued: jobs };
  }
  if (bytes + addition.bytes > limits.bytes) {
    return { kind: 'queue_full', limit: 'bytes', queued: bytes };
  }
  return null;
}
