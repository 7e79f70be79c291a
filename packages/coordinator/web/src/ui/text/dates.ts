/** Days and times in the format of the reader's locale. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';

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

const STAMP = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** Rewrites the times in a text of the coordinator as `14:05`, or `1 Jun, 14:05` for other days. */
export function timesIn(text: string): string {
  return text.replaceAll(STAMP, (stamp) => {
    const at = new Date(stamp);
    const isToday = at.toDateString() === new Date(SYSTEM_CLOCK.now()).toDateString();
    return (isToday ? clock : soon).format(at);
  });
}
