/** What may be said of a share, whoever says it. */
import { parseDayHours } from '@inference-gateway/shared/day-hours';

export const SHARE_LIMITS = {
  /** At once, of all who use it together. */
  slots: 1_024,
  /** Of one answer. */
  tokens: 1_000_000,
  /** Of the id of a service or model. */
  subjectCharacters: 256,
} as const;

/** Why they are none: the hours and the zone are told apart, for whoever has one of them right. */
export function hoursFault(hours: string, timeZone: string): string {
  return parseDayHours(hours, 'UTC') === null
    ? `hours are written 22:00-07:00, with an end that is not the beginning, not '${hours}'.`
    : `'${timeZone}' is no time zone. Write one like Europe/Berlin.`;
}
