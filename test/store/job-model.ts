/**
 * A model of a job: the chart of `core/jobs/job.ts`, and the facts that the chart leaves to the
 * store.
 */
import { nextStatus } from '@inference-gateway/coordinator/core/jobs/job';
import type { JobEvent, JobStatus } from '@inference-gateway/coordinator/core/jobs/job';

export const MAX_ATTEMPTS = 3;

export interface Modelled {
  readonly id: string;
  readonly claims: string[];
  status: JobStatus;
  /** The last claim; null if the job was not claimed since it was created or last retried. */
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

/** Applies an event of the chart; false if it changes nothing. */
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

/** Counts an attempt that was given back although its agent went on with it. */
export function counted(job: Modelled): void {
  if (!job.counted) job.attempts += 1;
  job.counted = true;
}

export function retried(job: Modelled): void {
  if (!move(job, 'retry')) return;
  job.generation += 1;
  Object.assign(job, { claimId: null, attempts: 0, releases: 0, backsOff: false });
}
