/** What `jobs` tells, as it crosses the control socket and as `jobs --json` prints it. */
import * as z from 'zod';
import type { Agent } from '../agent.js';
import { otherVersion } from './status-report.js';

const job = z.object({
  job_id: z.string(),
  claim_id: z.string(),
  model: z.string(),
  endpoint: z.string(),
  /** The caller's public name. */
  caller: z.string(),
  /** Whether the caller owns this machine. */
  own: z.boolean(),
  /** `loading`, `running` or `spooled`. */
  phase: z.string(),
  /** Unix ms at which the run began. */
  since: z.number(),
  /** Of the answer so far. */
  bytes: z.number(),
});

export type JobRow = z.infer<typeof job>;

/** Reads what the running agent answered. */
export function decodeJobsReport(value: unknown): JobRow[] {
  const parsed = z.array(job).safeParse(value);
  if (parsed.success) return parsed.data;
  throw otherVersion(parsed.error);
}

export function jobsReport(jobs: ReturnType<Agent['owner']['jobs']>): JobRow[] {
  return jobs.map(({ jobId, claimId, model, endpoint, caller, own, phase, since, bytes }) => ({
    job_id: jobId,
    claim_id: claimId,
    model,
    endpoint,
    caller,
    own,
    phase,
    since,
    bytes,
  }));
}
