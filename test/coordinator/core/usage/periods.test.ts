import { periodOf, periodsBetween } from '@inference-gateway/coordinator/core/usage/periods';
import { expect, test } from 'vitest';

const AT = Date.parse('2024-03-01T00:59:59.999Z');

test.each([
  ['minute', '2024-03-01T00:59'],
  ['hour', '2024-03-01T00'],
  ['day', '2024-03-01'],
  ['month', '2024-03'],
] as const)('the %s of a time is a part of it in UTC', (step, period) => {
  expect(periodOf(step, AT)).toBe(period);
});

test.each([
  ['minute', AT - 60_000, ['2024-03-01T00:58', '2024-03-01T00:59']],
  ['hour', AT - 3_600_000, ['2024-02-29T23', '2024-03-01T00']],
  ['day', AT - 86_400_000, ['2024-02-29', '2024-03-01']],
  ['hour', AT, ['2024-03-01T00']],
] as const)('each %s is listed, with the first and the last one', (step, since, periods) => {
  expect(periodsBetween(step, since, AT)).toEqual(periods);
});

test('months are listed as their days, from the first of the first month', () => {
  const days = periodsBetween('month', Date.parse('2024-02-29T12:00Z'), AT);
  expect([days.length, days[0], days.at(-1)]).toEqual([30, '2024-02-01', '2024-03-01']);
});
