/** A store with jobs in every state, for an administrator's commands. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import type {
  Asset,
  Job,
  Member,
  NewJobItem,
  Provider,
  Store,
  Submission,
} from '@inference-gateway/coordinator/store/port';
import { NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import { randomId, ulid } from '@inference-gateway/shared/ids';
import { createMember, createProvider, newAsset } from '../../store/store-rows.js';
import type { DataFolder } from './data-folder.js';
import { serveAdminOn } from './running-admin.js';

/** No command may ever print this. */
export const PROMPT = 'a prompt that is nobody else’s business';
/** The link that holds every claim. */
export const LINK = 'link';
export const ANSWER = 'an answer that is nobody else’s business';

const NO_LIMITS = { jobs: 1_000, bytes: 1_000_000_000 };
const USAGE = {
  promptTokens: 1,
  completionTokens: 2,
  estimated: false,
  audioMs: 0,
  images: 0,
  firstByteMs: null,
};

/** All jobs are Anna's except the canceled one; oldest first. */
export interface Jobs {
  readonly anna: Member;
  readonly ben: Member;
  /** Ben's provider. */
  readonly provider: Provider;
  /** A speech job with one file. */
  readonly processed: Job;
  readonly asset: Asset;
  readonly failed: Job;
  readonly canceled: Job;
  readonly running: Job;
  readonly queued: Job;
}

export async function fillWithJobs(store: Store): Promise<Jobs> {
  const [anna, ben] = [await createMember(store, 'anna'), await createMember(store, 'ben')];
  const provider = await createProvider(store, { ownerId: ben.id });
  const processed = await submit(store, anna, { endpoint: 'speech', model: 'kokoro' });
  const asset = newAsset(anna.id, { expiresAt: Date.now() + 3_600_000 });
  await finish(store, await claim(store, processed, provider), { assets: [asset] });
  const failed = await submit(store, anna);
  await fail(store, await claim(store, failed, provider), false);
  const canceled = await submit(store, ben, { model: 'other-model' });
  await store.cancelJob(canceled.id, ben.id, Date.now());
  const running = await submit(store, anna);
  await claim(store, running, provider);
  const queued = await submit(store, anna);
  return { anna, ben, provider, processed, asset, failed, canceled, running, queued };
}

/** Submits a job of the member's, later than all earlier ones. */
export async function submit(
  store: Store,
  { id }: Member,
  item: Partial<NewJobItem> = {},
): Promise<Job> {
  await laterThan(Date.now());
  const now = Date.now();
  const submission = { ...submissionOf(id), id: ulid(now), item: newItem(item) };
  const outcome = await store.createJob(submission, NO_LIMITS, now);
  if (outcome.kind !== 'created') throw new Error(`not created: ${outcome.kind}`);
  return outcome.value;
}

/** Submits a batch of chats; returns its id and those of its jobs. */
export async function submitBatch(
  store: Store,
  { id }: Member,
  { label, count }: { readonly label: string | null; readonly count: number },
): Promise<{ readonly id: string; readonly jobs: readonly string[] }> {
  await laterThan(Date.now());
  const items = Array.from({ length: count }, () => newItem());
  const batch = { ...submissionOf(id), label, items };
  const outcome = await store.createBatch(batch, NO_LIMITS, Date.now());
  if (outcome.kind !== 'created') throw new Error(`not created: ${outcome.kind}`);
  const detail = await store.findBatch(outcome.value.id, null);
  return { id: outcome.value.id, jobs: detail?.jobs.map((job) => job.id) ?? [] };
}

/** Claims the job for the provider; returns the claim's id. */
export async function claim(
  store: Store,
  { id: jobId, alias = null, model = '' }: Pick<Job, 'id'> & Partial<Pick<Job, 'alias' | 'model'>>,
  { id: providerId }: Provider,
): Promise<string> {
  const now = Date.now();
  const claimId = randomId();
  const lease = {
    serviceId: 'llm-1',
    leaseUntil: now + 3_600_000,
    isOwn: false,
    servedModel: alias === null ? null : model,
  };
  const [claimed] = await store.claimJobs(
    [{ jobId, claimId, linkId: LINK, providerId, ...lease }],
    now,
  );
  if (claimed === null || claimed === undefined) throw new Error(`${jobId} is not to be had`);
  await store.acceptJob({ claimId, linkId: LINK }, now + 3_600_000, now);
  return claimId;
}

/** Ends a run successfully: with files, or with an answer. */
export async function finish(
  store: Store,
  claimId: string,
  { assets = [] }: { readonly assets?: readonly Asset[] } = {},
): Promise<void> {
  const answer = Buffer.from(JSON.stringify({ choices: [{ text: ANSWER }] }));
  const result = assets.length > 0 ? null : answer;
  const assetLimits = { memberBytes: 1_000_000, totalBytes: 1_000_000 };
  const held = { claimId, linkId: LINK };
  const done = { ...held, result, assets, assetLimits, usage: USAGE };
  const outcome = await store.finishJob(done, Date.now());
  if (outcome.kind !== 'stored') throw new Error(`not stored: ${outcome.kind}`);
}

/** Ends a run with a failure; a retryable job waits out its back-off. */
export async function fail(store: Store, claimId: string, retryable: boolean): Promise<void> {
  const message = 'The model server of den-pc failed.';
  const error = { message, type: 'upstream_error', code: 'provider_error', param: null } as const;
  const failure = { claimId, linkId: LINK, retryable, error, random: 1 };
  await store.failJob(failure, Date.now());
}

function submissionOf(memberId: string): Submission {
  return {
    memberId,
    keyId: 'key-1',
    scope: 'any',
    requestId: 'req_1',
    maxAttempts: 3,
    idempotencyKey: null,
    webhook: null,
  };
}

function newItem(item: Partial<NewJobItem> = {}): NewJobItem {
  const body = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: PROMPT }] }));
  return { endpoint: 'chat', model: 'llama-3.1-8b', needs: NO_NEEDS, body, ...item };
}

/** Ids sort by millisecond; within one millisecond their order is random. */
async function laterThan(at: number): Promise<void> {
  while (Date.now() <= at) await new Promise(setImmediate);
}

type Prepare = <T>(folder: DataFolder, fill: (store: Store) => Promise<T>) => Promise<T>;

/** Fills the folder and closes it, so that commands open it themselves. */
export async function prepareStopped<T>(
  { path }: DataFolder,
  fill: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(path);
  const filled = await fill(store);
  await store.close();
  return filled;
}

/** The two ways to run a command; both must print and do the same. */
export const WHERE: readonly (readonly [string, Prepare])[] = [
  ['without a coordinator', prepareStopped],
  ['beside a running one', async ({ path }, fill) => fill((await serveAdminOn(path)).store)],
];

/** A batch that is read from a file, of which no line was read yet; returns its id. */
export async function submitFileBatch(
  store: Store,
  { id: memberId }: Pick<Member, 'id'>,
): Promise<string> {
  const path = '/v1/chat/completions';
  const asset = newAsset(memberId, { endpoint: 'chat', createdAt: Date.now() });
  const file = { asset, purpose: 'batch', filename: 'night.jsonl', path, lines: 2 } as const;
  await store.createFile(file, { memberBytes: NO_LIMITS.bytes, totalBytes: NO_LIMITS.bytes });
  const options = { path, metadata: null, windowMs: 3_600_000, outputLifetimeMs: null };
  const batch = { ...submissionOf(memberId), fileId: asset.id, ...options };
  const created = await store.createFileBatch(batch, Date.now());
  if (created.kind !== 'created') throw new Error(created.kind);
  return created.value.id;
}
