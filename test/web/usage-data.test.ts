/** The sums behind the Usage screen: in totals, day by day, and in words. */
import { expect, test } from 'vitest';
import {
  amountText,
  chartOf,
  nameOf,
  sentenceOf,
  totalOf,
} from '../../packages/coordinator/web/src/screens/usage/usage-data.js';
import type { Point } from '../../packages/coordinator/web/src/screens/usage/usage-data.js';

/** Shortly before midnight in UTC: it is the next day east of it. */
const NOW = Date.parse('2026-03-03T23:59:59Z');
const NOTHING = {
  requests: 0,
  ok: 0,
  failed: 0,
  canceled: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  audio_ms: 0,
  images: 0,
  total_ms: 0,
};

function point(day: string, name: string, counts: number | Partial<Point>): Point {
  const more = typeof counts === 'number' ? { requests: counts } : counts;
  return { ...NOTHING, day, id: name, name, ...more };
}

function chart(points: readonly Point[], days = 3) {
  return chartOf(points, { days, measure: 'requests', now: NOW });
}

test('the days end with today in UTC, and a day without calls is a zero', () => {
  const { days, lines } = chart([point('2026-03-01', 'a', 2), point('2026-03-03', 'a', 5)]);
  expect(days).toEqual(['2026-03-01', '2026-03-02', '2026-03-03']);
  expect(lines).toEqual([{ name: 'a', amounts: [2, 0, 5] }]);
});

test('days before the first one do not count', () => {
  expect(chart([point('2026-02-28', 'a', 2)]).lines).toEqual([]);
});

test('the largest line comes first, and from the sixth on the small ones are one line', () => {
  const points = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index) =>
    point('2026-03-02', name, index + 1),
  );
  expect(chart(points.slice(1)).lines.map(({ name }) => name)).toEqual(['f', 'e', 'd', 'c', 'b']);
  expect(chart(points).lines.map(({ name }) => name)).toEqual(['f', 'e', 'd', 'c', '2 others']);
  expect(chart(points).lines.at(-1)?.amounts).toEqual([0, 3, 0]);
});

test('two groups of one name are one line', () => {
  const points = [
    point('2026-03-02', 'a', 2),
    point('2026-03-02', 'a', { requests: 3, id: 'other' }),
  ];
  expect(chart(points).lines).toEqual([{ name: 'a', amounts: [0, 5, 0] }]);
});

test.each([
  ['tokens', { prompt_tokens: 3, completion_tokens: 4 }, 7],
  ['audio', { audio_ms: 2_500 }, 2.5],
  ['images', { images: 2 }, 2],
] as const)('%s are measured by what they are', (measure, more, amount) => {
  const points = [point('2026-03-03', 'a', more)];
  const { lines } = chartOf(points, { days: 1, measure, now: NOW });
  expect(lines).toEqual([{ name: 'a', amounts: [amount] }]);
});

test('the sentence says the sum, the fullest day, and who has most of it', () => {
  const points = [
    point('2026-03-01', 'a', 1),
    point('2026-03-02', 'b', 2),
    point('2026-03-02', 'a', 5),
  ];
  expect(sentenceOf(chart(points), 'requests')).toBe(
    '8 requests in 3 days, the most on 2026-03-02 (7 requests); a has 75 %.',
  );
  expect(sentenceOf(chart([]), 'tokens')).toBe('No tokens in these 3 days.');
});

test.each([
  [1, 'requests', '1 request'],
  [1_200, 'tokens', '1,200 tokens'],
  [185, 'audio', '3 min 5 s of audio'],
  [2, 'images', '2 images'],
] as const)('%d %s reads as %s', (amount, measure, text) => {
  expect(amountText(amount, measure)).toBe(text);
});

test('totals are the sums of all groups', () => {
  const total = totalOf([
    point('', 'a', { requests: 2, ok: 1, failed: 1, images: 4 }),
    point('', 'b', { requests: 3, ok: 3, audio_ms: 500 }),
  ]);
  expect(total).toMatchObject({ requests: 5, ok: 4, failed: 1, images: 4, audio_ms: 500 });
  expect(totalOf([])).toMatchObject({ requests: 0 });
});

test('what has no name any more goes by its id', () => {
  expect(nameOf({ id: 'k1', name: 'laptop' })).toBe('laptop');
  expect(nameOf({ id: 'k1', name: null })).toBe('k1');
  expect(nameOf({ id: null, name: null })).toBe('none');
});
