import { formatDayHours, isOpenAt, parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const MINUTE_MS = 60_000;
const BERLIN = 'Europe/Berlin';

function hours(text: string, timeZone = 'UTC'): DayHours {
  const read = parseDayHours(text, timeZone);
  if (read === null) throw new Error(`${text} ${timeZone} are no hours`);
  return read;
}

describe('written hours', () => {
  test('are read as minutes of the day', () => {
    expect(hours('22:00-07:30', BERLIN)).toEqual({ from: 1_320, until: 450, timeZone: BERLIN });
    expect(hours('00:00-23:59')).toEqual({ from: 0, until: 1_439, timeZone: 'UTC' });
  });

  test.each([
    '',
    '22-07',
    '22:00',
    '2:00-7:00',
    '24:00-07:00',
    '22:60-07:00',
    '22:00–07:00',
    ' 22:00-07:00',
    '22:00-07:00 UTC',
  ])('%j is refused', (text) => {
    expect(parseDayHours(text, 'UTC')).toBeNull();
  });

  test('hours without length are refused: nobody can tell never from always', () => {
    expect(parseDayHours('07:00-07:00', 'UTC')).toBeNull();
  });

  test.each(['Mars/Olympus', '', 'Europe'])('the zone %j is refused', (zone) => {
    expect(parseDayHours('22:00-07:00', zone)).toBeNull();
  });

  test('are written as they are read', () => {
    expect(formatDayHours(hours('22:05-07:00', BERLIN))).toBe('22:05-07:00 Europe/Berlin');
    const minute = fc.integer({ min: 0, max: 1_439 });
    fc.assert(
      fc.property(minute, minute, fc.constantFrom('UTC', BERLIN, 'Asia/Kolkata'), (...some) => {
        const [from, until, timeZone] = some;
        fc.pre(from !== until);
        const [text = '', zone = ''] = formatDayHours({ from, until, timeZone }).split(' ');
        expect(parseDayHours(text, zone)).toEqual({ from, until, timeZone });
      }),
    );
  });
});

describe('a time of the day', () => {
  test.each([
    // hours, UTC, whether they are open
    ['09:00-17:00', '08:59:59', false],
    ['09:00-17:00', '09:00:00', true],
    ['09:00-17:00', '16:59:59', true],
    ['09:00-17:00', '17:00:00', false],
    ['22:00-07:00', '21:59:59', false],
    ['22:00-07:00', '22:00:00', true],
    ['22:00-07:00', '23:59:59', true],
    ['22:00-07:00', '00:00:00', true],
    ['22:00-07:00', '06:59:59', true],
    ['22:00-07:00', '07:00:00', false],
    ['22:00-00:00', '23:59:59', true],
    ['22:00-00:00', '00:00:00', false],
    ['00:00-07:00', '00:00:00', true],
    ['00:00-07:00', '23:59:59', false],
  ])('%s at %s UTC: %s', (text, time, open) => {
    expect(isOpenAt(hours(text), Date.parse(`2026-06-01T${time}Z`))).toBe(open);
  });

  test.each([
    // 12:30 UTC in summer is a different time of day in each zone.
    ['12:00-13:00', 'UTC', true],
    ['14:00-15:00', BERLIN, true],
    ['12:00-13:00', BERLIN, false],
    ['18:00-18:01', 'Asia/Kolkata', true],
    ['08:00-09:00', 'America/New_York', true],
    ['02:00-03:00', 'Pacific/Kiritimati', true],
  ])('%s in %s is open at 12:30 UTC: %s', (text, zone, open) => {
    expect(isOpenAt(hours(text, zone), Date.parse('2026-06-01T12:30:00Z'))).toBe(open);
  });
});

describe('the days on which clocks change in Berlin', () => {
  const SPRING = '2026-03-29';
  const AUTUMN = '2026-10-25';

  test.each([
    // Clocks go forward from 02:00 to 03:00, at 01:00 UTC.
    ['02:00-03:00', SPRING, 0],
    ['01:30-03:30', SPRING, 60],
    ['22:00-07:00', SPRING, 8 * 60],
    // Clocks go back from 03:00 to 02:00, at 01:00 UTC.
    ['02:00-03:00', AUTUMN, 120],
    ['01:30-03:30', AUTUMN, 180],
    ['22:00-07:00', AUTUMN, 10 * 60],
    ['02:00-03:00', '2026-06-01', 60],
  ])('%s on %s are %i minutes', (text, day, expected) => {
    const share = hours(text, BERLIN);
    // The night that ends on this day: from noon UTC of the day before to noon UTC.
    const noon = Date.parse(`${day}T12:00:00Z`);
    const minutes = Array.from({ length: 1_440 }, (_, index) => noon - (index + 1) * MINUTE_MS);
    expect(minutes.filter((at) => isOpenAt(share, at))).toHaveLength(expected);
  });
});
