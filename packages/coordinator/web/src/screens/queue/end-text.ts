import { plural } from '../../ui/text/format.js';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** Rounded up: `ends in about 13 min`; an end that is not known is said to be so. */
export function endText(seconds: number | null): string {
  if (seconds === null) return 'end unknown';
  if (seconds <= MINUTE_S) return 'ends within a minute';
  if (seconds <= HOUR_S) return `ends in about ${Math.ceil(seconds / MINUTE_S)} min`;
  if (seconds <= 2 * DAY_S) return `ends in about ${Math.ceil(seconds / HOUR_S)} h`;
  return `ends in about ${plural(Math.ceil(seconds / DAY_S), 'day')}`;
}
