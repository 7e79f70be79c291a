/** Jobs as administrators see them: who, what and how far, never what was asked or answered. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { Waiting } from '../jobs/job-actions.js';
import type { Job, JobDetail } from '../store/port.js';
import type { AdminContext } from './operation.js';
import { memberNames, providerNames } from './names.js';

export async function viewJobs(context: AdminContext, jobs: readonly Job[]) {
  const surroundings = await surroundingsOf(context, jobs);
  return jobs.map((job) => present(job, surroundings));
}

export async function viewJob(context: AdminContext, job: Job) {
  return present(job, await surroundingsOf(context, [job]));
}

/** Those that another attempt came after, the oldest first. */
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
  /** Of members and of providers, by their ids. */
  readonly members: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, string>;
  readonly waiting: ReadonlyMap<string, Waiting>;
}

async function surroundingsOf(
  { store, desk }: AdminContext,
  jobs: readonly Job[],
): Promise<Surroundings> {
  return {
    members: await memberNames(store),
    providers: await providerNames(store),
    waiting: await desk.waiting(jobs.filter(({ status }) => status === 'QUEUED')),
  };
}

function present(job: Job, { members, providers, waiting }: Surroundings) {
  return {
    id: job.id,
    status: job.status,
    owner: members.get(job.memberId) ?? null,
    inference_type: ENDPOINTS[job.endpoint].inferenceType,
    model: job.model,
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
