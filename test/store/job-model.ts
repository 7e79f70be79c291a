/** A job as the chart of `core/jobs/job.ts` has it, with what the chart leaves to the store. */
import { nextStatus } from '@inference-gateway/coordinator/core/jobs/job';
import type { JobEvent, JobStatus } from '@inference-gateway/coordinator/core/jobs/job';

export const MAX_ATTEMPTS = 3;

export interface Modelled {
  readonly id: string;
  readonly claims: string[];
  status: JobStatus;
  /** Of the last claim; null if there is none since the last retry. */
  claimId: string | null;
  providerId: string;
  accepted: boolean;
  counted: boolean;
  backsOff: boolean;
  attempts: number;
  releases: number;
  generation: number;
  ends: number;
}

export function queued(id: string): Modelled {
  return {
    id,
    claims: [],
    status: 'QUEUED',
    claimId: null,
    providerId: 'den',
    accepted: false,
    counted: false,
    backsOff: false,
    attempts: 0,
    releases: 0,
    generation: 1,
    ends: 0,
  };
}

/** Follows the chart; false if the event changes nothing. */
export function move(job: Modelled, event: JobEvent): boolean {
  const next = nextStatus(job.status, event);
  if (next === null) return false;
  job.status = next;
  if (next !== 'QUEUED') job.backsOff = false;
  if (next !== 'QUEUED' && next !== 'PROCESSING') job.ends += 1;
  return true;
}

export function giveBack(job: Modelled): boolean {
  if (!move(job, 'release')) return false;
  job.attempts -= 1;
  job.counted = false;
  return true;
}

export function failed(job: Modelled): void {
  const lastOne = job.attempts >= MAX_ATTEMPTS;
  if (move(job, lastOne ? 'give_up' : 'fail')) job.backsOff = !lastOne;
}

/** A claim that had been given back, and was worked on all the same. */
export function counted(job: Modelled): void {
  if (!job.counted) job.attempts += 1;
  job.counted = true;
}

export function retried(job: Modelled): void {
  if (!move(job, 'retry')) return;
  job.generation += 1;
  Object.assign(job, { claimId: null, attempts: 0, releases: 0, backsOff: false });
}
