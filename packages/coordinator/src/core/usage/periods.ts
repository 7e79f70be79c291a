/** The periods by which usage is added up: parts of ISO times, all in UTC. */

export type PeriodStep = 'minute' | 'hour' | 'day' | 'month';

/** Characters of `2026-05-31T14:05`, `2026-05-31T14`, `2026-05-31` and `2026-05`. */
const LENGTHS: Readonly<Record<PeriodStep, number>> = { minute: 16, hour: 13, day: 10, month: 7 };

const STEP_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** The name of the period that a time is in. */
export function periodOf(step: PeriodStep, atMs: number): string {
  return new Date(atMs).toISOString().slice(0, LENGTHS[step]);
}

/** All from the one of the first time to that of the last, in order; the days of months. */
export function periodsBetween(step: PeriodStep, sinceMs: number, untilMs: number): string[] {
  const small = step === 'month' ? 'day' : step;
  const ms = STEP_MS[small];
  const first = step === 'month' ? monthStart(sinceMs) : Math.floor(sinceMs / ms) * ms;
  const periods: string[] = [];
  for (let at = first; at <= untilMs; at += ms) periods.push(periodOf(small, at));
  return periods;
}

function monthStart(atMs: number): number {
  return Date.parse(`${periodOf('month', atMs)}-01T00:00Z`);
}
