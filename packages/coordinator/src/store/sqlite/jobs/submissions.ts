/** Shared by the submission of a job and of a batch. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { Database } from 'better-sqlite3';
import type { NewJobItem, Submission, QueueFull, QueueLimits } from '../../port.js';
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

export interface SubmissionWriter {
  /** The id of an earlier submission with the same idempotency key; null if there is none. */
  readonly replayed: (
    kind: Subject['kind'],
    submission: Pick<Submission, 'memberId' | 'idempotencyKey'>,
  ) => string | null;
  /** Writes a QUEUED job and its body. */
  readonly writeJob: (job: SubmittedJob, now: number) => void;
  /** Writes its idempotency key and its webhook. */
  readonly writeSubject: (subject: Subject, submission: Submission) => void;
}

export function submissionWriter(database: Database): SubmissionWriter {
  const known = database
    .prepare<[string, string, string], string>(
      `select coalesce(job_id, batch_id) from idempotency_keys
       where member_id = ? and kind = ? and key = ?`,
    )
    .pluck();
  const insert = jobInserter(database);
  const insertBody = database.prepare(
    'insert into job_bodies (job_id, body, context) values (?, ?, ?)',
  );
  const insertKey = database.prepare(
    `insert into idempotency_keys (member_id, kind, key, job_id, batch_id)
     values (
       @memberId, @kind, @key,
       iif(@kind = 'job', @id, null), iif(@kind = 'batch', @id, null))`,
  );
  const insertWebhook = database.prepare(
    'insert into webhooks (subject_id, subject, url, secret) values (@id, @kind, @url, @secret)',
  );
  return {
    replayed: (kind, { memberId, idempotencyKey: key }) =>
      key === null ? null : (known.get(memberId, kind, key) ?? null),
    writeJob: (job, now) => {
      insert(job, now);
      const { body, translation } = job.item;
      insertBody.run(job.id, body, contextOf(translation));
    },
    writeSubject: (subject, { memberId, idempotencyKey: key, webhook }) => {
      if (key !== null) insertKey.run({ ...subject, memberId, key });
      if (webhook !== null) insertWebhook.run({ ...subject, ...webhook });
    },
  };
}

function contextOf(translation: NewJobItem['translation']): string | null {
  return translation === undefined ? null : JSON.stringify(translation.context);
}

function jobInserter(database: Database): (job: SubmittedJob, now: number) => void {
  const insert = database.prepare(
    `insert into jobs (
       id, member_id, key_id, request_id, batch_id, batch_index, endpoint, api, service_type,
       model, alias, scope, needs, body_bytes, status, created_at, queued_at, max_attempts, lane,
       fair_key)
     values (
       @id, @memberId, @keyId, @requestId, @batchId, @batchIndex, @endpoint, @api, @serviceType,
       @model, @alias, @scope, @needs, @bodyBytes, 'QUEUED', @now, @now, @maxAttempts, @lane,
       @fairKey)`,
  );
  const nextKey = enqueueKeys(database);
  return ({ id, submission, item, batch }, now) => {
    const { memberId, keyId, requestId, scope, maxAttempts } = submission;
    const { endpoint, model, alias = null, needs, body, translation } = item;
    const { serviceType } = ENDPOINTS[endpoint];
    insert.run({
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
      fairKey: nextKey({ serviceType, model, memberId }),
    });
  };
}

interface Addition {
  readonly memberId: string;
  readonly jobs: number;
  readonly bytes: number;
}

/** The limit that this many more jobs of a member would exceed; null if there is room. */
export function queueLimitReader(
  database: Database,
): (addition: Addition, limits: QueueLimits) => QueueFull | null {
  const spent = database.prepare<[string], QueueLimits>(
    `select coalesce(sum(queued), 0) as jobs, coalesce(sum(bytes), 0) as bytes
     from queue_counts where member_id = ?`,
  );
  return (addition, limits) => {
    const { jobs, bytes } = spent.get(addition.memberId) ?? { jobs: 0, bytes: 0 };
    if (jobs + addition.jobs > limits.jobs) {
      return { kind: 'queue_full', limit: 'jobs', queued: jobs };
    }
    if (bytes + addition.bytes > limits.bytes) {
      return { kind: 'queue_full', limit: 'bytes', queued: bytes };
    }
    return null;
  };
}
