/** Usage is counted by whole days, in UTC: today is the last of them. */

export const DAY_S = 86_400;

/** `2026-05-31`, the first to the last. */
export function lastDays(count: number, now: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(now - (count - 1 - index) * DAY_S * 1_000).toISOString().slice(0, 10),
  );
}

/** The query for this many days. */
export function sinceOf(days: number): number {
  return Math.max(1, (days - 1) * DAY_S);
}
