/** What a member is told when the page is closed: the events of their Atom feed, and its token. */
import { newSecret } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import * as z from 'zod';
import { fileBatchStatus } from '../../core/jobs/file-batch.js';
import { batchStatus } from '../../core/jobs/job.js';
import type { Links } from '../../core/routing/links.js';
import { describeNear, nearLimits, periodAt } from '../../core/usage/quota.js';
import type { Batch, Job, Member, Store } from '../../store/port.js';
import { change, read } from './command.js';

const none = z.strictObject({});

export const MY_FEED = {
  'feed.show': read(none, async ({ context, member }) => ({
    /** Unix ms; null: the member has no feed. */
    made_at: await context.store.feedMadeAt(member.id),
  })),
  /** Replaces an earlier token. The URL is shown only this once. */
  'feed.create': change(none, async ({ context, member }) => {
    const token = newSecret('gwe');
    await context.store.setFeed(member.id, hashSecret(token), context.now());
    const origin = context.server?.publicUrl ?? context.server?.address ?? '';
    return { url: `${origin}${FEED_PATH}?token=${token}` };
  }),
  'feed.revoke': change(none, async ({ context, member }) => {
    if (await context.store.setFeed(member.id, null, context.now())) return {};
    throw new CommandError(EXIT.notFound, 'you have no feed. There is nothing to revoke');
  }),
};

export const FEED_PATH = '/api/feed';

/** An entry of the feed. It names no content of requests or answers. */
export interface FeedEvent {
  /** The same event has the same id in every answer. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Unix ms. */
  readonly at: number;
  /** The page that shows it. */
  readonly path: string;
}

/** Entries of the feed. Programs that read it ask more often than this many events come. */
const MAX_EVENTS = 50;

/** The latest jobs, those of batches among them, and batches. */
const MAX_JOBS = 200;
const MAX_BATCHES = 50;

/** A shorter absence is a restart, or a network that failed for a moment. */
const OFFLINE_MS = 5 * 60_000;

export interface FeedSources {
  readonly store: Pick<Store, 'listJobs' | 'listBatches' | 'listProviders' | 'quotaUse'>;
  readonly links: Pick<Links, 'providers'>;
}

/** The newest first. */
export async function feedEvents(
  { store, links }: FeedSources,
  member: Pick<Member, 'id' | 'limits'>,
  now: number,
): Promise<readonly FeedEvent[]> {
  const page = { memberId: member.id, after: null };
  const [jobs, batches, providers, quota] = await Promise.all([
    store.listJobs({ ...page, ...ANY_JOB, limit: MAX_JOBS }),
    store.listBatches({ ...page, limit: MAX_BATCHES }),
    store.listProviders(member.id),
    quotaEvents(store, member, now),
  ]);
  const linked = new Set(
    links.providers().flatMap(({ providerId, link }) => (link === null ? [] : [providerId])),
  );
  const offline = providers.filter(({ id, lastSeenAt }) => {
    return !linked.has(id) && lastSeenAt !== null && now - lastSeenAt > OFFLINE_MS;
  });
  const events = [
    ...jobs.flatMap(jobEvent),
    ...batches.flatMap((batch) => batchEvent(batch, jobs)),
    ...offline.map(({ id, name, lastSeenAt }) => ({
      id: `provider:${id}:offline:${lastSeenAt}`,
      title: `${name} is offline`,
      text: 'Its agent is not connected.',
      at: lastSeenAt ?? now,
      path: `/providers/${id}`,
    })),
    ...quota,
  ];
  return events.toSorted((a, b) => b.at - a.at).slice(0, MAX_EVENTS);
}

const ANY_JOB = {
  statuses: ['PROCESSED', 'FAILED', 'CANCELED'],
  endpoints: null,
  model: null,
  order: 'desc',
} as const;

const ENDS: Readonly<Partial<Record<Job['status'], string>>> = {
  PROCESSED: 'done',
  FAILED: 'failed',
  CANCELED: 'canceled',
};

/** Those of a batch are told with it. */
function jobEvent(job: Job): readonly FeedEvent[] {
  const { id, status, batchId, finishedAt, error } = job;
  const end = ENDS[status];
  if (batchId !== null || finishedAt === null || end === undefined) return [];
  // The code alone: a message may repeat what the model server said of the request.
  const text = status === 'FAILED' && error !== null ? `Job ${id}: ${error.code}` : `Job ${id}`;
  const title = `${job.alias ?? job.model}: job ${end}`;
  return [{ id: `job:${id}:${finishedAt}`, title, text, at: finishedAt, path: `/jobs/${id}` }];
}

function batchEvent(batch: Batch, jobs: readonly Job[]): readonly FeedEvent[] {
  const { id, label, createdAt, counts, file } = batch;
  const hasEnded = file === null ? batchStatus(counts) === 'DONE' : file.endedAt !== null;
  if (!hasEnded) return [];
  const ends = jobs.flatMap((job) => (job.batchId === id ? (job.finishedAt ?? []) : []));
  const title = `Batch ${label ?? id}: ${file === null ? 'done' : fileBatchStatus(file)}`;
  const text = `${counts.PROCESSED} done, ${counts.FAILED} failed, ${counts.CANCELED} canceled`;
  // The end of a batch that was sent is that of its last job, where that is among the latest.
  const at = file?.endedAt ?? Math.max(createdAt, ...ends);
  return [{ id: `batch:${id}`, title, text, at, path: `/batches/${id}` }];
}

async function quotaEvents(
  store: Pick<Store, 'quotaUse'>,
  { id, limits }: Pick<Member, 'id' | 'limits'>,
  now: number,
): Promise<readonly FeedEvent[]> {
  const quota = limits.quota ?? null;
  if (quota === null) return [];
  const use = await store.quotaUse({ memberId: id, keyId: null }, now);
  return nearLimits(quota, use, now).map((near) => {
    const { start } = periodAt(near.period, now);
    return {
      id: `quota:${near.period}:${near.unit}:${start}`,
      title: 'A limit is near',
      text: describeNear(near),
      at: start,
      path: '/usage',
    };
  });
}
