/** What the charts of usage show: amounts, durations and speeds by period, in UTC, and in words. */
import { expect, test } from 'vitest';
import { formatPeriod, lastPeriods } from '../../packages/coordinator/web/src/ui/text/periods.js';
import {
  amountChart,
  measuredChart,
  nameOf,
  pointsIn,
  sentenceOf,
  totalOf,
  valueText,
} from '../../packages/coordinator/web/src/screens/usage/usage-data.js';
import type { Point } from '../../packages/coordinator/web/src/screens/usage/usage-data.js';

/** Shortly before midnight in UTC: it is the next day east of it. */
const NOW = Date.parse('2026-03-03T23:59:59Z');
const MONTH = { span: 'month', now: NOW } as const;

const NOTHING = {
  ok: 0,
  canceled: 0,
  failed: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  audio_ms: 0,
  images: 0,
  total_ms: 0,
  tokens_per_s: null,
};

function point(period: string, model: string | null, more: number | Partial<Point>): Point {
  const counts = typeof more === 'number' ? { requests: more } : { requests: 1, ...more };
  return { ...NOTHING, period, id: model, name: model, ...counts };
}

function requests(models: readonly Point[], all: readonly Point[] = models) {
  return amountChart({ models, all }, { ...MONTH, measure: 'requests' });
}

test.each([
  ['hour', 3, ['2026-03-03T21', '2026-03-03T22', '2026-03-03T23']],
  ['day', 4, ['2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03']],
  ['month', 4, ['2025-12', '2026-01', '2026-02', '2026-03']],
] as const)('the last %ss end with the current one in UTC', (step, count, periods) => {
  expect(lastPeriods(step, count, NOW)).toEqual(periods);
});

test('an hour is read with its day', () => {
  const texts = [
    formatPeriod('hour', '2026-03-03T09'),
    formatPeriod('day', '2026-03-03'),
    formatPeriod('month', '2026-03'),
  ];
  expect(texts[0]).toMatch(/3.*09:00/);
  expect(texts[1]).toMatch(/Mar.*3|3.*Mar/);
  expect(texts[2]).toMatch(/Mar.*2026/);
});

test('a period without calls is a zero, and those before the first one are left out', () => {
  const points = [point('2026-03-01', 'a', 2), point('2026-03-03', 'a', 5)];
  const { periods, lines } = requests(points);
  expect(periods).toHaveLength(30);
  expect(lines).toMatchObject([{ name: 'a', kind: 'model' }]);
  expect(lines[0]?.values.slice(-3)).toEqual([2, 0, 5]);
  const early = point('2026-02-01', 'a', 9);
  expect(pointsIn('month', [early, ...points], NOW)).toEqual(points);
});

test('the largest comes first, and the models beyond seven are others, sent or not', () => {
  const models = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, index) =>
    point('2026-03-02', name, index + 1),
  );
  const all = [point('2026-03-02', null, 50)];
  const { lines } = requests(models, all);
  expect(lines.map(({ name }) => name).join(' ')).toBe('h g f e d c b Others');
  // One of `a`, and 14 of models that the answer has left out.
  expect(lines.at(-1)).toMatchObject({ kind: 'others' });
  expect(lines.at(-1)?.values.slice(-2)).toEqual([15, 0]);
  expect(requests(models.slice(1)).lines).toHaveLength(7);
});

test.each([
  ['tokens', { prompt_tokens: 3, completion_tokens: 4 }, 7],
  ['errors', { failed: 3 }, 3],
  ['audio', { audio_ms: 2_500 }, 2.5],
  ['images', { images: 2 }, 2],
] as const)('%s are measured by what they are', (measure, more, amount) => {
  const models = [point('2026-03-03', 'a', more), point('2026-03-03', 'b', {})];
  const { lines } = amountChart({ models, all: models }, { ...MONTH, measure });
  expect(lines.map(({ name, values }) => [name, values.at(-1)])).toEqual([['a', amount]]);
});

test('durations are two lines, a speed is one, and where nothing was measured is a gap', () => {
  const points = [
    point('2026-03-01', null, { first_byte_p50_ms: 300, first_byte_p95_ms: 900, queue_p50_ms: 0 }),
    point('2026-03-03', null, { first_byte_p50_ms: null, tokens_per_s: 42 }),
  ];
  const first = measuredChart(points, { ...MONTH, measure: 'first' });
  expect(first.lines.map(({ kind, values }) => [kind, values.slice(-3)])).toEqual([
    ['median', [300, null, null]],
    ['high', [900, null, null]],
  ]);
  const speed = measuredChart(points, { ...MONTH, measure: 'speed' });
  expect(speed.lines.map(({ values }) => values.slice(-3))).toEqual([[null, null, 42]]);
  const total = measuredChart(points, { ...MONTH, measure: 'total' });
  expect(sentenceOf(total, 'month')).toBe('No successful requests in these 30 days.');
  expect(sentenceOf(first, 'month')).toMatch(
    /^Time from a request to the first part .* 30 days\.$/,
  );
});

test('the sentence says the sum, the fullest period, and which model has most of it', () => {
  const points = [
    point('2026-03-01', 'a', 1),
    point('2026-03-02', 'b', 2),
    point('2026-03-02', 'a', 5),
  ];
  const all = [point('2026-03-01', null, 1), point('2026-03-02', null, 7)];
  const fullest = formatPeriod('day', '2026-03-02');
  expect(sentenceOf(requests(points, all), 'month')).toBe(
    `8 requests in 30 days, the most on ${fullest} (7 requests); a has 75 %.`,
  );
  expect(sentenceOf(requests([]), 'month')).toBe('No requests in these 30 days.');
});

test.each([
  [1, 'requests', '1 request'],
  [1_200, 'tokens', '1,200 tokens'],
  [2, 'errors', '2 errors'],
  [185, 'audio', '3 min 5 s of audio'],
  [2, 'images', '2 images'],
  [340, 'first', '340 ms'],
  [42, 'speed', '42 tokens/s'],
] as const)('%d %s reads as %s', (value, measure, text) => {
  expect(valueText(value, measure)).toBe(text);
});

test('totals are the sums of all periods', () => {
  const total = totalOf([
    point('2026-03-01', null, { requests: 2, failed: 1, images: 4 }),
    point('2026-03-02', null, { requests: 3, audio_ms: 500 }),
  ]);
  expect(total).toMatchObject({ requests: 5, failed: 1, images: 4, audio_ms: 500 });
  expect(totalOf([])).toMatchObject({ requests: 0 });
});

test('what has no name any more goes by its id', () => {
  expect(nameOf({ id: 'k1', name: 'laptop' })).toBe('laptop');
  expect(nameOf({ id: 'k1', name: null })).toBe('k1');
  expect(nameOf({ id: null, name: null })).toBe('none');
});
