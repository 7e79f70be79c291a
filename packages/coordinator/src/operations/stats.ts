import * as z from 'zod';
import { USAGE_GROUPS } from '../store/port.js';
import type { UsageGroup, UsageStat, UsageRow } from '../store/port.js';
import { adminRead } from './operation.js';
import type { AdminContext } from './operation.js';
import { memberNames, namesOfProviders, resolveMember } from './references.js';
import { listLimit } from './arguments.js';

const question = z.strictObject({
  /** Null: no lower bound. */
  since_s: z.int().min(1).nullable(),
  by: z.enum(USAGE_GROUPS),
  /** The caller; null: all members. */
  user: z.string().nullable(),
  /** The owner of the answering providers; null: any. */
  owner: z.string().nullable().default(null),
});

type Question = z.output<typeof question>;

export const showStats = adminRead(question, async (context, args) => {
  const stats = await context.store.usageStats(await queryOf(context, args));
  const names = await namesOf(context, args.by, stats);
  return stats.map((stat) => present(stat, names));
});

/** Groups of a chart: further ones would be too thin to be seen. */
const MAX_GROUPS = 100;

/** A row per day and group. */
const MAX_SERIES_S = 400 * 86_400;

/** The same per day, for charts. */
export const showSeries = adminRead(
  question.extend({ since_s: z.int().min(1).max(MAX_SERIES_S, 'a series has at most 400 days') }),
  async (context, args) => {
    const query = { ...(await queryOf(context, args)), groups: MAX_GROUPS };
    const points = await context.store.usageSeries(query);
    const names = await namesOf(context, args.by, points);
    return points.map((point) => ({ day: point.day, ...present(point, names) }));
  },
);

async function queryOf({ store, now }: AdminContext, { by, since_s, user, owner }: Question) {
  const member = user === null ? null : await resolveMember(store, user);
  // A time long before the first day is no valid date.
  const since = since_s === null ? null : Math.max(0, now() - since_s * 1_000);
  const answered = owner === null ? {} : { ownerId: (await resolveMember(store, owner)).id };
  return { since, by, memberId: member?.id ?? null, ...answered };
}

/** Names of the groups; null if a group's id is its name. */
async function namesOf(
  context: AdminContext,
  by: UsageGroup,
  stats: readonly Pick<UsageStat, 'group'>[],
): Promise<ReadonlyMap<string, string> | null> {
  const { store } = context;
  switch (by) {
    case 'member':
      return memberNames(store);
    case 'key':
      return new Map(
        (await store.listKeys(null)).map((key) => [key.id, `${key.memberEmail}/${key.name}`]),
      );
    case 'provider':
      return namesOfProviders(
        context,
        stats.map(({ group }) => group),
      );
    case 'day':
    case 'model':
    case 'endpoint':
    case 'source':
      return null;
  }
}

function present(stat: UsageStat, names: ReadonlyMap<string, string> | null) {
  const id = stat.group === '' ? null : stat.group;
  return {
    id,
    name: names === null ? id : (names.get(stat.group) ?? null),
    requests: stat.requests,
    ok: stat.ok,
    failed: stat.failed,
    canceled: stat.canceled,
    prompt_tokens: stat.promptTokens,
    completion_tokens: stat.completionTokens,
    audio_ms: stat.audioMs,
    images: stat.images,
    total_ms: stat.totalMs,
  };
}

const recentQuestion = z.strictObject({
  user: z.string(),
  limit: listLimit,
  /** The request id of the last one seen; null begins at the newest. */
  after: z.string().nullable(),
});

/** One member's requests, the newest first. */
export const listRecentUsage = adminRead(
  recentQuestion,
  async (context, { user, limit, after }) => {
    const { store } = context;
    const { id: memberId } = await resolveMember(store, user);
    // One more than requested shows whether there are more.
    const rows = await store.recentUsage({ memberId, limit: limit + 1, after });
    const keys = new Map((await store.listKeys(memberId)).map(({ id, name }) => [id, name]));
    const answered = rows.map(({ providerId }) => providerId);
    const names = { keys, providers: await namesOfProviders(context, answered) };
    return {
      requests: rows.slice(0, limit).map((row) => presentRecent(row, names)),
      has_more: rows.length > limit,
    };
  },
);

interface Names {
  readonly keys: ReadonlyMap<string, string>;
  readonly providers: ReadonlyMap<string, string>;
}

function presentRecent(row: UsageRow, { keys, providers }: Names) {
  return {
    request_id: row.requestId,
    at: row.at,
    endpoint: row.endpoint,
    model: row.model,
    source: row.source,
    /** Null if it came from the dashboard. */
    key: keys.get(row.keyId) ?? null,
    provider: providers.get(row.providerId ?? '') ?? null,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    estimated: row.estimated,
    audio_ms: row.audioMs,
    images: row.images,
    queue_ms: row.queueMs,
    first_byte_ms: row.firstByteMs,
    total_ms: row.totalMs,
    attempts: row.attempts,
    outcome: row.outcome,
    error_code: row.errorCode,
  };
}
