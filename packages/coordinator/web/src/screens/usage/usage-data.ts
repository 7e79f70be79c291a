/** What the charts of usage show: amounts by model, and quantiles of durations, by period. */
import type { MyResult } from '../../api/commands.js';
import { DAY_S } from '../../ui/text/last-days.js';
import { formatMs, formatSpeed, plural } from '../../ui/text/format.js';
import { formatPeriod, lastPeriods } from '../../ui/text/periods.js';
import type { Step } from '../../ui/text/periods.js';

export type Stat = MyResult<'stats.show'>[number];
export type Point = Extract<MyResult<'usage.series'>[number], { readonly period: string }>;

interface Span {
  readonly label: string;
  /** As it is read: "in 24 hours". */
  readonly text: string;
  readonly step: Step;
  readonly periods: number;
  /** From now back into its first period, or into the one before. */
  readonly seconds: number;
}

const HOUR_S = 3_600;

/** By their values in the address. */
export const SPANS = {
  day: { label: '24 h', text: '24 hours', step: 'hour', periods: 24, seconds: 23 * HOUR_S },
  week: { label: '7 d', text: '7 days', step: 'hour', periods: 168, seconds: 167 * HOUR_S },
  month: { label: '30 d', text: '30 days', step: 'day', periods: 30, seconds: 29 * DAY_S },
  quarter: { label: '90 d', text: '90 days', step: 'day', periods: 90, seconds: 89 * DAY_S },
  year: { label: '12 mo', text: '12 months', step: 'month', periods: 12, seconds: 365 * DAY_S },
} as const satisfies Readonly<Record<string, Span>>;

export type SpanName = keyof typeof SPANS;

export const MEASURES = [
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'errors', label: 'Errors' },
  { value: 'audio', label: 'Audio' },
  { value: 'images', label: 'Images' },
  { value: 'first', label: 'First token, p50 and p95' },
  { value: 'queue', label: 'Queue time, p50 and p95' },
  { value: 'total', label: 'Total time, p50 and p95' },
  { value: 'speed', label: 'Tokens per second' },
] as const;
export type Measure = (typeof MEASURES)[number]['value'];

export type AmountMeasure = 'requests' | 'tokens' | 'errors' | 'audio' | 'images';

/** Amounts add up, so that those of the models are stacked; durations and speeds do not. */
export function isAmount(measure: Measure): measure is AmountMeasure {
  return ['requests', 'tokens', 'errors', 'audio', 'images'].includes(measure);
}

type Counts = Pick<
  Stat,
  'requests' | 'failed' | 'prompt_tokens' | 'completion_tokens' | 'audio_ms' | 'images'
>;

function amountOf(counts: Counts, measure: AmountMeasure): number {
  switch (measure) {
    case 'requests':
      return counts.requests;
    case 'tokens':
      return counts.prompt_tokens + counts.completion_tokens;
    case 'errors':
      return counts.failed;
    case 'audio':
      return counts.audio_ms / 1_000;
    case 'images':
      return counts.images;
  }
}

/** `3 requests`, `1,200 tokens`, `3 min 5 s of audio`, `340 ms`, `42 tokens/s` */
export function valueText(value: number, measure: Measure): string {
  switch (measure) {
    case 'requests':
      return plural(value, 'request');
    case 'tokens':
      return plural(value, 'token');
    case 'errors':
      return plural(value, 'error');
    case 'audio':
      return `${formatMs(value * 1_000)} of audio`;
    case 'images':
      return plural(value, 'image');
    case 'speed':
      return formatSpeed(value);
    case 'first':
    case 'queue':
    case 'total':
      return formatMs(value);
  }
}

export function totalOf(points: readonly Counts[]): Counts {
  const sum = (name: keyof Counts): number =>
    points.reduce((total, point) => total + point[name], 0);
  return {
    requests: sum('requests'),
    failed: sum('failed'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    audio_ms: sum('audio_ms'),
    images: sum('images'),
  };
}

/** More bars upon each other would be hard to tell apart. */
const MAX_MODELS = 7;

export interface Line {
  readonly name: string;
  /** What it stands for, for its colour. */
  readonly kind: 'model' | 'others' | 'median' | 'high';
  /** One value a period; null where nothing was measured. */
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly measure: Measure;
  readonly step: Step;
  /** `2026-05-31T14`, `2026-05-31` or `2026-05`, in UTC, the current one at the end. */
  readonly periods: readonly string[];
  /** Amounts: the largest first; the models beyond the first seven are added up at the end. */
  readonly lines: readonly Line[];
}

interface Asked<Of extends Measure> {
  readonly span: SpanName;
  readonly measure: Of;
  readonly now: number;
}

export interface Points {
  /** Of each model, of those with the most requests. */
  readonly models: readonly Point[];
  /** Of all models together. */
  readonly all: readonly Point[];
}

export function amountChart(
  { models, all }: Points,
  { span, measure, now }: Asked<AmountMeasure>,
): Chart {
  const { step, periods: count } = SPANS[span];
  const periods = lastPeriods(step, count, now);
  const lines = [...new Map(models.map((point) => [nameOf(point), point])).keys()]
    .map((name) => {
      const own = models.filter((point) => nameOf(point) === name);
      return { name, kind: 'model', values: amountsIn(periods, own, measure) } as const;
    })
    .filter(({ values }) => sumOf(values) > 0)
    .toSorted((a, b) => sumOf(b.values) - sumOf(a.values))
    .slice(0, MAX_MODELS);
  const others = amountsIn(periods, all, measure).map((amount, index) =>
    Math.max(0, amount - sumOf(lines.map(({ values }) => values[index] ?? 0))),
  );
  const rest = { name: 'Others', kind: 'others', values: others } as const;
  return { measure, step, periods, lines: sumOf(others) > 0 ? [...lines, rest] : lines };
}

function amountsIn(
  periods: readonly string[],
  points: readonly Point[],
  measure: AmountMeasure,
): readonly number[] {
  const byPeriod = new Map(points.map((point) => [point.period, amountOf(point, measure)]));
  return periods.map((period) => byPeriod.get(period) ?? 0);
}

/** Without the period before the first one, which an answer may begin with. */
export function pointsIn(span: SpanName, points: readonly Point[], now: number): readonly Point[] {
  const { step, periods } = SPANS[span];
  const [first = ''] = lastPeriods(step, periods, now);
  return points.filter(({ period }) => period >= first);
}

/** Of points of all models together, or of one. */
export function measuredChart(points: readonly Point[], asked: Asked<Measure>): Chart {
  const { span, measure, now } = asked;
  const { step, periods: count } = SPANS[span];
  const periods = lastPeriods(step, count, now);
  const byPeriod = new Map(points.map((point) => [point.period, point]));
  const line = (name: string, kind: Line['kind'], valueOf: (point: Point) => Value): Line => ({
    name,
    kind,
    values: periods.map((period) => {
      const point = byPeriod.get(period);
      return point === undefined ? null : (valueOf(point) ?? null);
    }),
  });
  const lines =
    measure === 'speed'
      ? [line('Tokens per second', 'median', (point) => point.tokens_per_s)]
      : [
          line('Median (p50)', 'median', (point) => quantileOf(point, measure, 'p50')),
          line('95 % are faster (p95)', 'high', (point) => quantileOf(point, measure, 'p95')),
        ];
  return { measure, step, periods, lines: lines.filter(({ values }) => values.some(isNumber)) };
}

type Value = number | null | undefined;

function isNumber(value: number | null): value is number {
  return value !== null;
}

function quantileOf(point: Point, measure: Measure, share: 'p50' | 'p95'): Value {
  const isMedian = share === 'p50';
  switch (measure) {
    case 'first':
      return isMedian ? point.first_byte_p50_ms : point.first_byte_p95_ms;
    case 'queue':
      return isMedian ? point.queue_p50_ms : point.queue_p95_ms;
    default:
      return isMedian ? point.total_p50_ms : point.total_p95_ms;
  }
}

/** A summary of the chart. */
export function sentenceOf({ periods, lines, measure, step }: Chart, span: SpanName): string {
  const { text } = SPANS[span];
  const [first] = lines;
  if (first === undefined) return `${NOTHING[measure]} in these ${text}.`;
  if (!isAmount(measure)) return `${MEASURED[measure]} in ${text}.`;
  const sums = periods.map((_, index) => sumOf(lines.map(({ values }) => values[index] ?? 0)));
  const total = sumOf(sums);
  const most = Math.max(...sums);
  const share = Math.round((sumOf(first.values) / total) * 100);
  const fullest = formatPeriod(step, periods[sums.indexOf(most)] ?? '');
  return (
    `${valueText(total, measure)} in ${text}, the most ${PLACES[step]} ${fullest} ` +
    `(${valueText(most, measure)}); ${first.name} has ${share} %.`
  );
}

const PLACES: Readonly<Record<Step, string>> = { hour: 'in the hour of', day: 'on', month: 'in' };

const NOTHING: Readonly<Record<Measure, string>> = {
  requests: 'No requests',
  tokens: 'No tokens',
  errors: 'No errors',
  audio: 'No audio',
  images: 'No images',
  first: 'No first tokens',
  queue: 'No requests',
  total: 'No successful requests',
  speed: 'No tokens',
};

const MEASURED: Readonly<Record<Exclude<Measure, AmountMeasure>, string>> = {
  first: 'Time from a request to the first part of its answer, of successful requests,',
  queue: 'Time that requests waited for a free slot',
  total: 'Time from a request to the end of its answer, of successful requests,',
  speed: 'Tokens in answers per second that a provider worked on them',
};

/** A deleted key or provider has no name any more. */
export function nameOf({ id, name }: Pick<Stat, 'id' | 'name'>): string {
  return name ?? id ?? 'none';
}

function sumOf(amounts: readonly (number | null)[]): number {
  return amounts.reduce<number>((total, amount) => total + (amount ?? 0), 0);
}
