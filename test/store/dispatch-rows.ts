/** Claims and their ends for store tests, with defaults for fields that a test does not set. */
import type {
  ClaimedJob,
  Finish,
  HeldClaim,
  Job,
  NewClaim,
  Store,
} from '@inference-gateway/coordinator/store/port';
import type { LaneHead } from '@inference-gateway/coordinator/core/jobs/lane';
import { randomId } from '@inference-gateway/shared/ids';
import { LINK_ID, submitJob } from './job-rows.js';
import type { JobOverrides } from './job-rows.js';
import { NOW } from './store-rows.js';

export const LEASE_MS = 60_000;
export const USAGE = {
  promptTokens: 3,
  completionTokens: 4,
  estimated: false,
  energyJ: 310,
  audioMs: 0,
  images: 0,
  firstByteMs: 5,
};
export const RESULT = '{"choices":[]}';

export function newClaim(jobId: string, claim: Partial<NewClaim> = {}): NewClaim {
  return {
    jobId,
    claimId: randomId(),
    providerId: 'den',
    linkId: LINK_ID,
    serviceId: 'llm-1',
    leaseUntil: NOW + LEASE_MS,
    isOwn: false,
    ...claim,
  };
}

export function heldBy(claimId: string, linkId = LINK_ID): HeldClaim {
  return { claimId, linkId };
}

export function newFinish(claimId: string, finish: Partial<Finish> = {}): Finish {
  return {
    claimId,
    linkId: LINK_ID,
    result: Buffer.from(RESULT),
    assets: [],
    assetLimits: { memberBytes: 1_000_000, totalBytes: 1_000_000 },
    usage: USAGE,
    ...finish,
  };
}

/** Claims the job; throws if it cannot be claimed. */
export async function claimed(
  store: Store,
  jobId: string,
  { now = NOW + 1, ...claim }: Partial<NewClaim> & { readonly now?: number } = {},
): Promise<ClaimedJob> {
  const [taken] = await store.claimJobs([newClaim(jobId, claim)], now);
  if (taken === null || taken === undefined) throw new Error(`${jobId} cannot be claimed`);
  return taken[0];
}

/** A new job that a provider has claimed. */
export async function runningJob(
  store: Store,
  memberId: string,
  { claim = {}, ...job }: JobOverrides & { readonly claim?: Partial<NewClaim> } = {},
): Promise<ClaimedJob> {
  return claimed(store, (await submitJob(store, memberId, job)).id, claim);
}

export async function jobOf(store: Store, id: string): Promise<Job> {
  const found = await store.findJob(id, null);
  if (found === null) throw new Error(`no job ${id}`);
  return found.job;
}

/** The lane of a job that may run now; undefined if it may not. */
export async function laneOf(store: Store, jobId: string): Promise<LaneHead | undefined> {
  const heads = await store.laneHeads(1_000);
  return heads.find(({ jobs }) => jobs.some(({ id }) => id === jobId));
}
