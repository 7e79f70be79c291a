/** Usage as its member sees it: sums, and single requests with the names of their work. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { RequestWork, UsageGroup, UsageRow } from '../../store/port.js';
import { listModels } from '../models.js';
import { listRecentUsage, presentRequests, showSeries, showStats } from '../stats.js';
import { read } from './command.js';
import type { Mine } from './command.js';
import { notYours } from './own.js';

const whose = { user: true, owner: true } as const;

/** True: usage of the member's providers by all callers; false: the member's own usage. */
const given = z.boolean();

export const MY_USAGE = {
  'stats.show': read(showStats.args.omit(whose).extend({ given }), (mine, args) =>
    showStats.run(mine.context, bound(mine, args)),
  ),
  'usage.series': read(showSeries.args.omit(whose).extend({ given }), (mine, args) =>
    showSeries.run(mine.context, bound(mine, args)),
  ),
  'usage.recent': read(
    listRecentUsage.args.omit({ user: true }),
    async ({ context, member }, args) => {
      const recent = await listRecentUsage.run(context, { ...args, user: member.id });
      const ids = recent.requests.map(({ request_id: id }) => id);
      const work = await context.store.requestWork(member.id, ids);
      const byRequest = new Map(work.map((one) => [one.requestId, one]));
      const requests = recent.requests.map((request) => {
        const done = byRequest.get(request.request_id);
        return { ...request, work: done === undefined ? null : presentWork(done) };
      });
      return { ...recent, requests };
    },
  ),
  'usage.request': read(z.strictObject({ request: z.string() }), showRequest),
  /** The models that they may use, a row per provider. */
  'model.list': read(z.strictObject({}), ({ context, member }) =>
    listModels.run(context, { user: member.id }),
  ),
  /** What members of their networks asked for, and nobody served. */
  'model.wanted': read(z.strictObject({}), ({ context: { store, now }, member }) =>
    store.wantedModels(member.id, now()),
  ),
};

/** The job or the files of a request, with its names. */
function presentWork({ jobId, batchId, files, names }: RequestWork) {
  const shown = files.map(({ id, contentType }) => ({ id, content_type: contentType }));
  return {
    job: jobId,
    batch: batchId,
    file: shown[0] ?? null,
    files: shown,
    excerpt: names.excerpt,
    custom_id: names.customId,
    batch_label: names.batchLabel,
  };
}

/** One request that has ended, until its retention time is over. */
async function showRequest(mine: Mine, { request: id }: { readonly request: string }) {
  const { context, member } = mine;
  const { store } = context;
  const row = await store.findUsage(id, member.id);
  if (row === null) throw notYours('request', id);
  const [[shown], [work], own] = await Promise.all([
    presentRequests(context, member.id, [row]),
    store.requestWork(member.id, [id]),
    store.listProviders(member.id),
  ]);
  if (shown === undefined) throw notYours('request', id);
  return {
    ...shown,
    ...timesOf(row),
    /** Its page is their owner's alone; null: it is another member's, or gone. */
    own_provider: own.find((provider) => provider.id === row.providerId)?.id ?? null,
    work: work === undefined ? null : presentWork(work),
    /** Why the job failed in this run; null of other requests, and once the job is retried. */
    job_error: row.outcome === 'failed' ? await jobErrorOf(mine, id, work?.jobId ?? null) : null,
  };
}

/** Usage rows have the code of an error alone; a job has the message, too. */
async function jobErrorOf({ context, member }: Mine, id: string, jobId: string | null) {
  const detail = jobId === null ? null : await context.store.findJob(jobId, member.id);
  if (detail === null || id !== `${detail.job.id}.${detail.job.generation}`) return null;
  return detail.job.status === 'FAILED' ? (detail.job.error?.message ?? null) : null;
}

/** Unix ms, from the durations that were measured. A row is written at the request's end. */
function timesOf(row: UsageRow) {
  const { requestId, at, attempts, queueMs, firstByteMs, totalMs, completionTokens } = row;
  const receivedAt = at - totalMs;
  const workMs = totalMs - queueMs;
  // The first byte of a job, which is metered as its id and its generation, counts from its claim.
  const waitedMs = requestId.includes('.') ? queueMs : 0;
  return {
    received_at: receivedAt,
    /** When it was last sent to a provider; null: it never was. */
    sent_at: attempts === 0 ? null : receivedAt + queueMs,
    first_byte_at: firstByteMs === null ? null : receivedAt + waitedMs + firstByteMs,
    ended_at: at,
    /** From its start at a provider on; null: it made no tokens. */
    tokens_per_s:
      completionTokens === 0 || workMs <= 0 ? null : (completionTokens * 1_000) / workMs,
  };
}

interface Question {
  readonly by: UsageGroup;
  readonly given: boolean;
}

function bound<Args extends Question>({ member }: Mine, { given: isGiven, ...args }: Args) {
  if (isGiven && args.by === 'key') {
    throw new CommandError(EXIT.usage, "by: the keys of others are not told. Ask for 'member'.");
  }
  return isGiven
    ? { ...args, user: null, owner: member.id }
    : { ...args, user: member.id, owner: null };
}
