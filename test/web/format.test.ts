import { expect, test } from 'vitest';
import { timesIn } from '../../packages/coordinator/web/src/ui/text/dates.js';
import {
  formatAgo,
  formatSpeed,
  plural,
} from '../../packages/coordinator/web/src/ui/text/format.js';

test.each([
  [0.25, '0.3 tokens/s'],
  [8.42, '8.4 tokens/s'],
  [19.96, '20.0 tokens/s'],
  [20.4, '20 tokens/s'],
  [1_234.5, '1,235 tokens/s'],
])('a speed of %d reads %s', (tokensPerSecond, text) => {
  expect(formatSpeed(tokensPerSecond)).toBe(text);
});

test.each([
  [-3_000, 'now'],
  [-59_000, '59 s ago'],
  [-119_000, '1 min ago'],
  [-90 * 60_000, '1 h ago'],
  [-47 * 3_600_000, '1 d ago'],
  [59_100, 'in 1 min'],
  [61_000, 'in 2 min'],
  [59.5 * 60_000, 'in 1 h'],
  [25 * 3_600_000, 'in 2 d'],
])('%d ms from now reads %s: what is to come is rounded up', (ms, text) => {
  expect(formatAgo(1_000_000_000 + ms, 1_000_000_000)).toBe(text);
});

test('one is one, and many have commas', () => {
  expect([0, 1, 4_096].map((count) => plural(count, 'token'))).toEqual([
    '0 tokens',
    '1 token',
    '4,096 tokens',
  ]);
});

test('times in a sentence are those of the reader, and of another day with their day', () => {
  const now = new Date().toISOString();
  expect(timesIn(`Again at ${now}.`)).toMatch(/^Again at \d{1,2}:\d{2}( [AP]M)?\.$/);
  expect(timesIn('Since 2020-05-14T10:30:00.000Z, and more.')).toMatch(
    /^Since .*14.*, and more\.$/,
  );
});
