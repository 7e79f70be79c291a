import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { quantileMs } from '../core/usage/durations.js';
import type { DurationCounts } from '../core/usage/durations.js';
import { USAGE_AMOUNTS, USAGE_GROUPS } from '../store/port.js';
import type {
  UsageAmount,
  UsageGroup,
  UsageOf,
  UsagePeriod,
  UsageStat,
  UsageRow,
} from '../store/port.js';
import { periodOf, periodsBetween } from '../core/usage/periods.js';
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

const DAY_S = 86_400;
/** A row per period and group. */
const MAX_DAYS = 400;
const MAX_DAYS_OF_HOURS = 31;
/** Charts show seven, and add up the others. */
const MAX_MODELS = 10;

export const SERIES_STEPS = ['hour', 'day', 'month'] as const;

/**
 * The same per day, for charts. With a step: per hour, day or month, with speeds, and with
 * quantiles of durations where models are not told apart.
 */
export const showSeries = adminRead(
  question.extend({
    since_s: z
      .int()
      .min(1)
      .max(MAX_DAYS * DAY_S, `a series has at most ${MAX_DAYS} days`),
    step: z.enum(SERIES_STEPS).optional(),
    /** Only requests for this model; null: for any. */
    model: z.string().nullable().optional(),
    /** With a step, by which the models with the most are found. */
    most: z.enum(USAGE_AMOUNTS).default('requests'),
  }),
  async (context, { step, model = null, most, ...args }) => {
    if (step !== undefined) return showPeriods(context, { ...args, step, model, most });
    if (model !== null) throw wrong("model: name a step, too, 'hour', 'day' or 'month'.");
    const query = { ...(await queryOf(context, args)), groups: MAX_GROUPS };
    const points = await context.store.usageSeries(query);
    const names = await namesOf(context, args.by, points);
    return points.map((point) => ({ day: point.day, ...present(point, names) }));
  },
);

interface PeriodsQuestion extends Question {
  readonly since_s: number;
  readonly step: (typeof SERIES_STEPS)[number];
  readonly model: string | null;
  readonly most: UsageAmount;
}

async function showPeriods(context: AdminContext, args: PeriodsQuestion) {
  const { step, by, since_s: sinceS, model, most } = args;
  if (by !== 'day' && by !== 'model') {
    throw wrong(`by: with a step it is 'model', or 'day' for all models together, not '${by}'.`);
  }
  if (step === 'hour' && sinceS > MAX_DAYS_OF_HOURS * DAY_S) {
    throw wrong(
      `since_s: by the hour it is ${MAX_DAYS_OF_HOURS * DAY_S} at most, not ${sinceS}. ` +
        "Take the step 'day'.",
    );
  }
  const until = context.now();
  const isTogether = by === 'day';
  const periods = await context.store.usagePeriods({
    step,
    since: Math.max(0, until - sinceS * 1_000),
    until,
    of: await usageOf(context, args),
    model,
    models: isTogether ? null : { count: MAX_MODELS, by: most },
    durations: isTogether ? DURATIONS : [],
  });
  return periods.map(presentPeriod);
}

async function usageOf({ store }: AdminContext, { user, owner }: Question): Promise<UsageOf> {
  if (user !== null && owner !== null) {
    throw wrong('owner: with a step, name a user or an owner, not both.');
  }
  if (user !== null) return { kind: 'member', id: (await resolveMember(store, user)).id };
  if (owner !== null) return { kind: 'owner', id: (await resolveMember(store, owner)).id };
  return { kind: 'gateway' };
}

const DURATIONS = ['firstByte', 'queue', 'total'] as const;

function presentPeriod(period: UsagePeriod) {
  const { generationMs, completionTokens, durations } = period;
  const { firstByte, queue, total } = durations;
  return {
    /** `2026-05-31T14`, `2026-05-31` or `2026-05`, in UTC. */
    period: period.period,
    ...present({ ...period, group: period.model }, null),
    /** Of the requests that made tokens, from their start at a provider; null: there are none. */
    tokens_per_s: generationMs === 0 ? null : (completionTokens * 1_000) / generationMs,
    ...(firstByte !== null && quantiles('first_byte', firstByte)),
    ...(queue !== null && quantiles('queue', queue)),
    ...(total !== null && quantiles('total', total)),
  };
}

/** Null where no request has been counted. */
type Quantiles<Name extends string> = Readonly<
  Record<`${Name}_p50_ms` | `${Name}_p95_ms`, number | null>
>;

function quantiles<Name extends string>(name: Name, counts: DurationCounts): Quantiles<Name> {
  const values = {
    [`${name}_p50_ms`]: rounded(counts, 0.5),
    [`${name}_p95_ms`]: rounded(counts, 0.95),
  };
  return values as Quantiles<Name>;
}

function rounded(counts: DurationCounts, share: number): number | null {
  const ms = quantileMs(counts, share);
  return ms === null ? null : Math.round(ms);
}

function wrong(message: string): CommandError {
  return new CommandError(EXIT.usage, message);
}

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
    return {
      requests: await presentRequests(context, memberId, rows.slice(0, limit)),
      has_more: rows.length > limit,
    };
  },
);

/** Requests of a member, with the names of their keys and providers. */
export async function presentRequests(
  context: AdminContext,
  memberId: string,
  rows: readonly UsageRow[],
) {
  const keys = await context.store.listKeys(memberId);
  const answered = rows.map(({ providerId }) => providerId);
  const names = {
    keys: new Map(keys.map(({ id, name }) => [id, name])),
    providers: await namesOfProviders(context, answered),
  };
  return rows.map((row) => presentRecent(row, names));
}

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
    /** The alias that the caller named; null: the model itself. */
    alias: row.alias ?? null,
    source: row.source,
    /** Null if it came from the dashboard. */
    key: keys.get(row.keyId) ?? null,
    provider: providers.get(row.providerId ?? '') ?? null,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    estimated: row.estimated,
    /** Joules of the card, or its share of them; null: unknown. */
    energy_j: row.energyJ ?? null,
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

// What the whole gateway does now: for administrators, whose tabs share one answer.

/** An answer that is newer than this is shared: however many tabs poll, the store is asked once. */
const SHARED_MS = 1_000;

const MINUTES = 60;
const MINUTE_MS = 60_000;

/** The last hour, minute by minute, and what runs and waits. */
export const showActivity = adminRead(z.strictObject({}), (context) => {
  const at = context.now();
  const last = shared.get(context.jobActions);
  if (last !== undefined && at >= last.at && at - last.at < SHARED_MS) return last.answer;
  const answer = readActivity(context);
  shared.set(context.jobActions, { at, answer });
  // The next one asks again.
  answer.catch(() => shared.delete(context.jobActions));
  return answer;
});

interface Shared {
  readonly at: number;
  readonly answer: ReturnType<typeof readActivity>;
}

/** By coordinator, of which a process may have several. */
const shared = new WeakMap<object, Shared>();

async function readActivity({ store, links, now }: AdminContext) {
  const until = now();
  const since = until - (MINUTES - 1) * MINUTE_MS;
  const [periods, queues] = await Promise.all([
    store.usagePeriods({
      step: 'minute',
      since,
      until,
      of: { kind: 'gateway' },
      model: null,
      models: null,
      durations: ['firstByte'],
    }),
    store.modelQueues(null),
  ]);
  const views = links?.providers() ?? [];
  const firstByte = periods.reduce<readonly number[]>(
    (sums, { durations }) => (durations.firstByte ?? []).map((one, i) => one + (sums[i] ?? 0)),
    [],
  );
  return {
    /** The last 60, in UTC; the last one has just begun. */
    minutes: minutesOf(periods, periodsBetween('minute', since, until)),
    /** Of the last whole minute. */
    ...lastMinute(periods, periodOf('minute', until - MINUTE_MS)),
    errors_60m: sum(periods.map(({ failed }) => failed)),
    /** Of successful requests in these minutes; null: there are none. */
    first_byte_p50_ms: quantileMs(firstByte, 0.5),
    first_byte_p95_ms: quantileMs(firstByte, 0.95),
    /** Calls and jobs at providers. */
    running: sum(views.map(({ link }) => link?.busy ?? 0)),
    /** Jobs. */
    queued: sum(queues.map(({ queued }) => queued)),
    providers_online: views.filter(({ link }) => link !== null).length,
    providers: views.length,
  };
}

function minutesOf(periods: readonly UsagePeriod[], minutes: readonly string[]) {
  const byMinute = new Map(periods.map((one) => [one.period, one]));
  return minutes.map((minute) => {
    const { requests = 0, failed = 0, completionTokens = 0 } = byMinute.get(minute) ?? {};
    return { minute, requests, failed, completion_tokens: completionTokens };
  });
}

function lastMinute(periods: readonly UsagePeriod[], minute: string) {
  const found = periods.find(({ period }) => period === minute);
  return {
    requests_per_minute: found?.requests ?? 0,
    tokens_per_s: (found?.completionTokens ?? 0) / 60,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
