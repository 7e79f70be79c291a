/** Jobs and batches for tests of the store, with defaults for fields that a test does not set. */
import type {
  Asset,
  Batch,
  Job,
  JobQuery,
  NewJobItem,
  Store,
  Submission,
} from '@inference-gateway/coordinator/store/port';
import { randomId, requestId, ulid } from '@inference-gateway/shared/ids';
import { NOW } from './store-rows.js';

export const ROOMY = { jobs: 1_000, bytes: 1_000_000 };
export const NO_NEEDS = { features: [], voices: [], format: null };
/** The id of no job and no batch: a ULID never begins like this. */
export const NO_ID = 'Z'.repeat(26);

/** The newest jobs of all members. */
export const NEWEST_JOBS = {
  memberId: null,
  statuses: null,
  endpoints: null,
  model: null,
  after: null,
  limit: 100,
  order: 'desc',
} as const satisfies JobQuery;

export const BROKEN = {
  message: 'The local server answered 500.',
  type: 'upstream_error',
  code: 'provider_error',
  param: null,
} as const;

const ASSET_LIMITS = { memberBytes: 1_000_000, totalBytes: 1_000_000 };
const USAGE = {
  promptTokens: 3,
  completionTokens: 4,
  estimated: false,
  energyJ: 310,
  audioMs: 0,
  images: 0,
  firstByteMs: 5,
};

export function newItem(item: Partial<NewJobItem> = {}): NewJobItem {
  const body = Buffer.from('{"messages":[]}');
  return { endpoint: 'chat', model: 'llama-3.1-8b', needs: NO_NEEDS, body, ...item };
}

export function newSubmission(memberId: string, submission: Partial<Submission> = {}): Submission {
  return {
    memberId,
    keyId: 'key',
    scope: 'any',
    requestId: requestId(Date.now()),
    maxAttempts: 3,
    idempotencyKey: null,
    webhook: null,
    ...submission,
  };
}

export interface JobOverrides extends Partial<Submission> {
  readonly item?: Partial<NewJobItem>;
  readonly now?: number;
}

export async function submitJob(
  store: Store,
  memberId: string,
  { item, now = NOW, ...submission }: JobOverrides = {},
): Promise<Job> {
  const job = { ...newSubmission(memberId, submission), id: ulid(now), item: newItem(item) };
  return accepted(await store.createJob(job, ROOMY, now));
}

export interface BatchOverrides extends Partial<Submission> {
  readonly items?: readonly NewJobItem[];
  readonly label?: string;
  readonly now?: number;
}

export async function submitBatch(
  store: Store,
  memberId: string,
  { items = [newItem(), newItem()], label, now = NOW, ...submission }: BatchOverrides = {},
): Promise<Batch> {
  const batch = { ...newSubmission(memberId, submission), label: label ?? null, items };
  return accepted(await store.createBatch(batch, ROOMY, now));
}

/** The ids of a batch's jobs, in the batch's order. */
export async function jobIdsOf(store: Store, batchId: string): Promise<string[]> {
  const found = await store.findBatch(batchId, null);
  return (found?.jobs ?? []).map(({ id }) => id);
}

/** The link that holds the claims of tests. */
export const LINK_ID = 'link';

/** Claims the job for a provider; returns the claim's id. */
export async function claimJob(store: Store, jobId: string, now = NOW + 1): Promise<string> {
  const claimId = randomId();
  const [claimed] = await store.claimJobs(
    [
      {
        jobId,
        claimId,
        providerId: 'den',
        linkId: LINK_ID,
        serviceId: 'llm-1',
        leaseUntil: now + 60_000,
        isOwn: false,
      },
    ],
    now,
  );
  if (claimed === null || claimed === undefined) throw new Error(`${jobId} cannot be claimed`);
  return claimId;
}

/** Ends the job as PROCESSED with these files, or, without files, with JSON `{"choices":[]}`. */
export async function finishJob(
  store: Store,
  jobId: string,
  { assets = [], now = NOW + 2 }: { assets?: readonly Asset[]; now?: number } = {},
): Promise<void> {
  const claimId = await claimJob(store, jobId, now);
  const result = assets.length > 0 ? null : Buffer.from('{"choices":[]}');
  const end = { result, assets, assetLimits: ASSET_LIMITS, usage: USAGE };
  const finish = { claimId, linkId: LINK_ID, ...end };
  const { kind } = await store.finishJob(finish, now);
  if (kind !== 'stored') throw new Error(`${jobId} was not finished: ${kind}`);
}

export async function failJob(store: Store, jobId: string, now = NOW + 2): Promise<void> {
  const claimId = await claimJob(store, jobId, now);
  const failure = { claimId, linkId: LINK_ID, retryable: false, error: BROKEN, random: 0.5 };
  const { kind } = await store.failJob(failure, now);
  if (kind !== 'failed') throw new Error(`${jobId} has not failed: ${kind}`);
}

function accepted<T>(
  outcome: { kind: string; value: T } | { kind: 'queue_full' | 'member_gone' },
): T {
  if ('value' in outcome) return outcome.value;
  throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
}
