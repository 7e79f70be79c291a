/** Days and times in the format of the reader's locale. */

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const soon = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** `31 May 2026, 14:05:09`: the exact time, in the reader's time zone. */
export function formatDate(at: number): string {
  return exact.format(at);
}

/** `14:05`, in the reader's time zone. */
export function formatClock(at: number): string {
  return clock.format(at);
}

const MINUTE_MS = 60_000;

/** `14:05`, or `1 Jun, 14:05` on another day than today; what is to come is not said too early. */
export function clockText(at: number, now: number): string {
  const shown = new Date(at > now ? Math.ceil(at / MINUTE_MS) * MINUTE_MS : at);
  const isToday = shown.toDateString() === new Date(now).toDateString();
  return (isToday ? clock : soon).format(shown);
}
