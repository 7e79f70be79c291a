/** The member's keys, for the screens of Settings: they share one request. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { lastDays, sinceOf } from '../../ui/text/last-days.js';

export type Key = MyResult<'key.list'>[number];
/** A key that was just created or rotated: only this answer contains the whole secret. */
export type WholeKey = MyResult<'key.create'>;

const EVERY_MS = 5_000;

export function useKeys() {
  return useMy('key.list', {}, { everyMs: EVERY_MS });
}

export const USAGE_DAYS = 30;
const USAGE_EVERY_MS = 30_000;

/** For each key, the requests of each of the last 30 days (UTC), today's at the end. */
export type KeyUsage = ReadonlyMap<string, readonly number[]>;

/** The usage of all keys, with one request. Undefined until it is answered. */
export function useKeyUsage(): KeyUsage | undefined {
  const args = { by: 'key', given: false, since_s: sinceOf(USAGE_DAYS) } as const;
  const { data } = useMy('usage.series', args, { everyMs: USAGE_EVERY_MS });
  const points = data?.flatMap((point) => ('day' in point ? [point] : []));
  return points && usageByKey(points, SYSTEM_CLOCK.now());
}

interface Point {
  readonly day: string;
  readonly id: string | null;
  readonly requests: number;
}

function usageByKey(points: readonly Point[], now: number): KeyUsage {
  const days = lastDays(USAGE_DAYS, now);
  const byKey = new Map<string, number[]>();
  for (const { day, id, requests } of points) {
    const index = days.indexOf(day);
    if (id === null || index < 0) continue;
    const counts = byKey.get(id) ?? days.map(() => 0);
    counts[index] = requests;
    byKey.set(id, counts);
  }
  return byKey;
}
