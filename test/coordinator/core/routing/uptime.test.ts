import {
  MAX_DISCONNECTIONS,
  UPTIME_DAYS,
  uptimeOf,
} from '@inference-gateway/coordinator/core/routing/uptime';
import type { LinkPeriod } from '@inference-gateway/coordinator/core/routing/uptime';
import { expect, test } from 'vitest';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 4, 31, 6);

function period(from: number, to: number | null): LinkPeriod {
  return { linkedAt: from, endedAt: to, reason: to === null ? null : 'connection_lost' };
}

test('each day is online for a share of what is known of it', () => {
  const periods = [
    period(NOW - 40 * DAY_MS, NOW - 3 * DAY_MS),
    period(NOW - 2 * DAY_MS, NOW - DAY_MS - 6 * HOUR_MS),
    period(NOW - HOUR_MS, null),
  ];
  const since = NOW - 40 * DAY_MS;
  const { days } = uptimeOf({ since, periods }, { now: NOW, openUntil: NOW });
  expect(days).toHaveLength(UPTIME_DAYS);
  expect(days[0]).toEqual({ day: '2026-05-02', onlineMs: DAY_MS, knownMs: DAY_MS });
  expect(days.slice(-4)).toEqual([
    { day: '2026-05-28', onlineMs: 6 * HOUR_MS, knownMs: DAY_MS },
    { day: '2026-05-29', onlineMs: 18 * HOUR_MS, knownMs: DAY_MS },
    { day: '2026-05-30', onlineMs: 0, knownMs: DAY_MS },
    { day: '2026-05-31', onlineMs: HOUR_MS, knownMs: 6 * HOUR_MS },
  ]);
});

test('what was before the first link is not known; an open link lasts while it is held', () => {
  const since = NOW - 2 * HOUR_MS;
  const history = { since, periods: [period(since, null)] };
  const { days } = uptimeOf(history, { now: NOW, openUntil: NOW - HOUR_MS });
  expect(days.at(-1)).toMatchObject({ onlineMs: HOUR_MS, knownMs: 2 * HOUR_MS });
  expect(days.at(-2)).toMatchObject({ onlineMs: 0, knownMs: 0 });
  const none = uptimeOf({ since: null, periods: [] }, { now: NOW, openUntil: NOW });
  expect(none.days.every(({ knownMs }) => knownMs === 0)).toBe(true);
  expect(none.disconnections).toEqual([]);
});

test('the last disconnections are told, with when it came back', () => {
  const periods = Array.from({ length: MAX_DISCONNECTIONS + 2 }, (_, index) =>
    period(NOW - 50 + index * 2, NOW - 49 + index * 2),
  );
  const [last] = periods.slice(-1);
  const told = uptimeOf({ since: NOW - 50, periods }, { now: NOW, openUntil: NOW });
  expect(told.disconnections).toHaveLength(MAX_DISCONNECTIONS);
  expect(told.disconnections.slice(0, 2)).toEqual([
    { at: last?.endedAt, reason: 'connection_lost', backAt: null },
    { at: (last?.endedAt ?? 0) - 2, reason: 'connection_lost', backAt: last?.linkedAt },
  ]);
});
