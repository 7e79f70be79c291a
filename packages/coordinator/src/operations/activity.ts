/**
 * What the whole gateway does now: for administrators, whose tabs share one answer; and a member's
 * last hours.
 */
import * as z from 'zod';
import { quantileMs } from '../core/usage/durations.js';
import { periodOf, periodsBetween } from '../core/usage/periods.js';
import type { UsagePeriod } from '../store/port.js';
import { adminRead } from './operation.js';
import type { AdminContext } from './operation.js';

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

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** A member's requests hour by hour, of the last 24, in UTC; the last one has not ended. */
export async function lastHours({ store, now }: AdminContext, memberId: string) {
  const until = now();
  const since = until - (HOURS - 1) * HOUR_MS;
  const of = { kind: 'member', id: memberId } as const;
  const about = { step: 'hour', since, until, of, model: null, models: null } as const;
  const rows = await store.usagePeriods({ ...about, durations: [] });
  const byHour = new Map(rows.map((row) => [row.period, row]));
  const found = periodsBetween('hour', since, until).map((hour) => byHour.get(hour));
  return {
    requests: found.map((row) => row?.requests ?? 0),
    errors: found.map((row) => row?.failed ?? 0),
    tokens: found.map((row) => (row === undefined ? 0 : row.promptTokens + row.completionTokens)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
