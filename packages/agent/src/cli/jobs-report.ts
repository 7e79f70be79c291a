/** What `jobs` tells, as it crosses the control socket and as `jobs --json` prints it. */
import * as z from 'zod';
import type { Agent } from '../agent.js';
import { decodeAnswer } from './decode-answer.js';
import { rounded } from './sums-report.js';

const row = z.object({
  /** The job's id, or that of the request where a caller waits for the answer. */
  id: z.string(),
  /** `sync` or `job`. */
  kind: z.string(),
  /** Null of a synchronous call, like the claim. */
  job_id: z.string().nullable(),
  claim_id: z.string().nullable(),
  /** Null where an earlier process ran it, like the tokens and the seconds. */
  service_id: z.string().nullable(),
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
  /** Null until the local server has told. */
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  /** That the run has taken. */
  seconds: z.number().nullable(),
  /** Its share of what the cards took; null where they do not tell. */
  energy_wh: z.number().nullable(),
  /** Of the answer so far. */
  bytes: z.number(),
});

export type JobRow = z.infer<typeof row>;

/** Reads what the running agent answered. */
export function decodeJobsReport(value: unknown): JobRow[] {
  return decodeAnswer(z.array(row), value);
}

export function jobsReport(uses: ReturnType<Agent['uses']>): JobRow[] {
  return uses.map(({ id, kind, model, endpoint, caller, own, phase, since, bytes, ...use }) => ({
    id,
    kind,
    job_id: use.jobId,
    claim_id: use.claimId,
    service_id: use.serviceId,
    model,
    endpoint,
    caller,
    own,
    phase,
    since,
    prompt_tokens: use.promptTokens,
    completion_tokens: use.completionTokens,
    seconds: use.seconds === null ? null : rounded(use.seconds),
    energy_wh: use.energyWh === null ? null : rounded(use.energyWh),
    bytes,
  }));
}
