/** How long something lasts, as people write it: `90d`, `12h`, `30m`. */
import { InvalidArgumentError } from 'commander';

const UNIT_S = { m: 60, h: 3_600, d: 86_400 } as const;
/** Ten years: longer is never meant, and a date beyond the calendar is no date. */
const MAX_S = 3_650 * UNIT_S.d;

/** In seconds. Throws commander's usage error. */
export function parseDuration(written: string): number {
  const match = /^([1-9]\d{0,6})([mhd])$/.exec(written);
  const seconds = Number(match?.[1]) * UNIT_S[(match?.[2] ?? 'm') as keyof typeof UNIT_S];
  if (seconds <= MAX_S) return seconds;
  throw new InvalidArgumentError('Write 30m, 12h or 90d; at most 3650d.');
}
