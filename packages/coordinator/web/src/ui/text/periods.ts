/** Usage is counted by hours, days and months in UTC; the current one is the last. */

export type Step = 'hour' | 'day' | 'month';

/** Characters of `2026-05-31T14`, `2026-05-31` and `2026-05`. */
const LENGTHS: Readonly<Record<Step, number>> = { hour: 13, day: 10, month: 7 };

/** The names of this many periods, in order. */
export function lastPeriods(step: Step, count: number, now: number): readonly string[] {
  const date = new Date(now);
  return Array.from({ length: count }, (_, index) => {
    const back = count - 1 - index;
    return startBefore(step, back, date).toISOString().slice(0, LENGTHS[step]);
  });
}

function startBefore(step: Step, back: number, date: Date): Date {
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (step) {
    case 'hour':
      return new Date(Date.UTC(year, month, day, date.getUTCHours() - back));
    case 'day':
      return new Date(Date.UTC(year, month, day - back));
    case 'month':
      return new Date(Date.UTC(year, month - back));
  }
}

const hour = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const month = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
});

/** `14:00`, `31 May` or `May 2026`. */
export function shortPeriod(step: Step, period: string): string {
  return { hour, day, month }[step].format(startOf(step, period));
}

/** The same where it stands alone: `31 May, 14:00`. */
export function formatPeriod(step: Step, period: string): string {
  const short = shortPeriod(step, period);
  return step === 'hour' ? `${day.format(startOf(step, period))}, ${short}` : short;
}

function startOf(step: Step, period: string): number {
  return Date.parse({ hour: `${period}:00Z`, day: period, month: `${period}-01` }[step]);
}
