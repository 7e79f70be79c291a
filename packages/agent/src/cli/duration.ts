/** Times as people write them: for how long (`2h`), and until when (`22:00`). */
import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Longer is never meant. */
const MAX_MS = 365 * UNIT_MS.d;

/** In milliseconds. Throws commander's usage error. */
export function parseDuration(written: string): number {
  const match = /^([1-9]\d{0,6})([smhd])$/.exec(written);
  const ms = Number(match?.[1]) * UNIT_MS[(match?.[2] ?? 's') as keyof typeof UNIT_MS];
  if (ms <= MAX_MS) return ms;
  throw new InvalidArgumentError('Write 90s, 30m, 2h or 7d; at most 365d.');
}

/** The next time at which a clock on this machine's wall shows it, in Unix ms. */
export function parseTimeOfDay(written: string): number {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(written);
  if (match === null) throw new InvalidArgumentError('Write a time of day, like 22:00.');
  const at = new Date();
  at.setHours(Number(match[1]), Number(match[2]), 0, 0);
  if (at.getTime() <= Date.now()) at.setDate(at.getDate() + 1);
  return at.getTime();
}
