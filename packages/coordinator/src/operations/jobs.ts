import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { JOB_STATUSES, isFinished } from '../core/jobs/job.js';
import type { JobStatus } from '../core/jobs/job.js';
import type { Job, JobDetail, QueueFull } from '../store/port.js';
import type { Waiting } from '../jobs/job-actions.js';
import { adminChange, adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { listLimit } from './arguments.js';
import { providerNames, memberNames, resolveMember, unknownId } from './references.js';

const ACTIVE = JOB_STATUSES.filter((status) => !isFinished(status));

const listing = z.strictObject({
  user: z.string().nullable(),
  /** Null: every status, or with `active` those of jobs that have not ended. */
  status: z.enum(JOB_STATUSES).nullable(),
  active: z.boolean(),
  limit: listLimit,
  /** The id of the last job seen: older ones follow. */
  after: z.string().nullable().default(null),
});

const oneJob = z.strictObject({ job: z.string() });

export const listJobs = adminRead(listing, async (context, args) => {
  const owner = args.user === null ? null : await resolveMember(context.store, args.user);
  const jobs = await context.store.listJobs({
    memberId: owner?.id ?? null,
    statuses: statusesOf(args),
    endpoints: null,
    model: null,
    limit: args.limit,
    after: args.after,
    order: 'desc',
  });
  return viewJobs(context, jobs);
});

export const showJob = adminRead(oneJob, async (context, args) => {
  const detail = await context.store.findJob(args.job, null);
  if (detail === null) throw unknownId('job', args.job);
  const providers = await providerNames(context.store);
  return { ...(await viewJob(context, detail.job)), ...details(detail, providers) };
});

export const cancelJob = adminChange(oneJob, async ({ store, jobActions }, args) => {
  const outcome = await jobActions.cancel(args.job, null);
  if (outcome.kind === 'unknown') throw unknownId('job', args.job);
  const { job } = outcome;
  if (outcome.kind === 'finished') throw endedAlready(job);
  const wasRunning = outcome.claimId !== null;
  const before = { status: wasRunning ? 'PROCESSING' : 'QUEUED' } as const;
  await store.recordAudit({ action: 'job.cancel', ...changeOf(job), before });
  const provider = wasRunning ? (await providerNames(store)).get(job.providerId ?? '') : null;
  return { id: job.id, status: job.status, was_running: wasRunning, provider: provider ?? null };
});

export const retryJob = adminChange(oneJob, async ({ store, jobActions }, args) => {
  const outcome = await jobActions.retry(args.job, null);
  if (outcome.kind === 'unknown') throw unknownId('job', args.job);
  if (outcome.kind === 'not_retryable') throw notRetryable(outcome.job);
  if (outcome.kind === 'queue_full') throw queueFull(args.job, outcome);
  const { job } = outcome;
  await store.recordAudit({ action: 'job.retry', ...changeOf(job), before: null });
  return { id: job.id, status: job.status };
});

/** As a subject of the audit log. */
function changeOf({ id, status }: Job) {
  return { subject: { kind: 'job', id, name: id }, after: { status } };
}

function statusesOf({ status, active }: z.output<typeof listing>): readonly JobStatus[] | null {
  if (status !== null) return [status];
  return active ? ACTIVE : null;
}

/** The fields of a single job beyond a row of the list. */
function details(detail: JobDetail, providers: ReadonlyMap<string, string>) {
  const { job, assets } = detail;
  return {
    endpoint: job.endpoint,
    scope: job.scope,
    generation: job.generation,
    not_before: job.notBefore,
    failed_attempts: viewFailedAttempts(detail, providers),
    batch_index: job.batchIndex,
    key_id: job.keyId,
    request_id: job.requestId,
    assets: assets.map(({ id, contentType, bytes }) => ({ id, content_type: contentType, bytes })),
  };
}

function endedAlready({ id, status }: Job): CommandError {
  const message = `job ${id} had ended before: it is ${status}, and nothing has changed.`;
  return new CommandError(EXIT.conflict, message);
}

function notRetryable({ id, status }: Job): CommandError {
  const message = `job ${id} is ${status}: only FAILED and CANCELED jobs can be retried.`;
  return new CommandError(EXIT.conflict, message);
}

const SETTING_OF = {
  jobs: 'GATEWAY_MAX_QUEUED',
  bytes: 'GATEWAY_MAX_QUEUED_MB',
} as const satisfies Record<QueueFull['limit'], string>;

function queueFull(id: string, { limit, queued }: QueueFull): CommandError {
  const message =
    `the queue of the owner of job ${id} is full, with ${queued} ${limit} in it: wait until some ` +
    `have ended, cancel some, or raise ${SETTING_OF[limit]}.`;
  return new CommandError(EXIT.conflict, message);
}

// Jobs as administrators see them: caller, model and state, never the request or the answer.

async function viewJobs(context: AdminContext, jobs: readonly Job[]) {
  const surroundings = await surroundingsOf(context, jobs);
  return jobs.map((job) => present(job, surroundings));
}

async function viewJob(context: AdminContext, job: Job) {
  return present(job, await surroundingsOf(context, [job]));
}

/** Failed attempts that were followed by another, the oldest first. */
export function viewFailedAttempts(
  { failedAttempts }: Pick<JobDetail, 'failedAttempts'>,
  providers: ReadonlyMap<string, string>,
) {
  return failedAttempts.map(({ attempt, providerId, startedAt, failedAt, error }) => ({
    attempt,
    provider: providers.get(providerId ?? '') ?? null,
    started_at: startedAt,
    failed_at: failedAt,
    error,
  }));
}

interface Surroundings {
  /** Names of members and providers, by id. */
  readonly members: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, string>;
  readonly waiting: ReadonlyMap<string, Waiting>;
}

async function surroundingsOf(
  { store, jobActions }: AdminContext,
  jobs: readonly Job[],
): Promise<Surroundings> {
  return {
    members: await memberNames(store),
    providers: await providerNames(store),
    waiting: await jobActions.waiting(jobs.filter(({ status }) => status === 'QUEUED')),
  };
}

function present(job: Job, { members, providers, waiting }: Surroundings) {
  return {
    id: job.id,
    status: job.status,
    owner: members.get(job.memberId) ?? null,
    inference_type: ENDPOINTS[job.endpoint].inferenceType,
    model: job.alias ?? job.model,
    served_model: job.servedModel,
    position: waiting.get(job.id)?.position ?? null,
    waiting_reason: waiting.get(job.id)?.reason ?? null,
    error: job.error,
    attempts: job.attempts,
    max_attempts: job.maxAttempts,
    provider: providers.get(job.providerId ?? '') ?? null,
    provider_id: job.providerId,
    batch_id: job.batchId,
    created_at: job.createdAt,
    queued_at: job.queuedAt,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
  };
}
