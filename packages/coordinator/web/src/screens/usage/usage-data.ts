/** Sums of usage: totals, by group, and by day. */
import type { MyResult } from '../../api/commands.js';
import { formatCount, formatMs, plural } from '../../ui/text/format.js';
import { lastDays } from '../../ui/text/last-days.js';

export type Stat = MyResult<'stats.show'>[number];
export type Point = MyResult<'usage.series'>[number];

export const MEASURES = [
  { value: 'requests', label: 'Requests' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'audio', label: 'Audio' },
  { value: 'images', label: 'Images' },
] as const;
export type Measure = (typeof MEASURES)[number]['value'];

type Counts = Omit<Stat, 'id' | 'name'>;

function amountOf(counts: Counts, measure: Measure): number {
  switch (measure) {
    case 'requests':
      return counts.requests;
    case 'tokens':
      return counts.prompt_tokens + counts.completion_tokens;
    case 'audio':
      return counts.audio_ms / 1_000;
    case 'images':
      return counts.images;
  }
}

/** `3 requests`, `1,200 tokens`, `3 min 5 s of audio`, `2 images` */
export function amountText(amount: number, measure: Measure): string {
  switch (measure) {
    case 'requests':
      return plural(amount, 'request');
    case 'tokens':
      return plural(amount, 'token');
    case 'audio':
      return `${formatMs(amount * 1_000)} of audio`;
    case 'images':
      return plural(amount, 'image');
  }
}

export function totalOf(stats: readonly Stat[]): Counts {
  const sum = (pick: (stat: Stat) => number): number =>
    stats.reduce((total, stat) => total + pick(stat), 0);
  return {
    requests: sum((one) => one.requests),
    ok: sum((one) => one.ok),
    failed: sum((one) => one.failed),
    canceled: sum((one) => one.canceled),
    prompt_tokens: sum((one) => one.prompt_tokens),
    completion_tokens: sum((one) => one.completion_tokens),
    audio_ms: sum((one) => one.audio_ms),
    images: sum((one) => one.images),
    total_ms: sum((one) => one.total_ms),
  };
}

/** More lines in one chart would be hard to tell apart. */
const MAX_LINES = 5;

interface Line {
  readonly name: string;
  /** One amount per day. */
  readonly amounts: readonly number[];
}

export interface Chart {
  /** `2026-05-31`, in UTC, today's at the end. */
  readonly days: readonly string[];
  /** The largest first; the others are added up in one line at the end. */
  readonly lines: readonly Line[];
}

interface Asked {
  readonly days: number;
  readonly measure: Measure;
  readonly now: number;
}

export function chartOf(points: readonly Point[], { days: count, measure, now }: Asked): Chart {
  const days = lastDays(count, now);
  const byName = new Map<string, number[]>();
  for (const point of points) {
    const index = days.indexOf(point.day);
    const amount = amountOf(point, measure);
    if (index < 0 || amount === 0) continue;
    const name = nameOf(point);
    const amounts = byName.get(name) ?? days.map(() => 0);
    amounts[index] = (amounts[index] ?? 0) + amount;
    byName.set(name, amounts);
  }
  const lines = [...byName]
    .map(([name, amounts]) => ({ name, amounts }))
    .toSorted((a, b) => sumOf(b.amounts) - sumOf(a.amounts));
  return { days, lines: lines.length > MAX_LINES ? withOthers(lines) : lines };
}

function withOthers(lines: readonly Line[]): readonly Line[] {
  const shown = lines.slice(0, MAX_LINES - 1);
  const rest = lines.slice(MAX_LINES - 1);
  const amounts = (rest[0]?.amounts ?? []).map((_, day) =>
    rest.reduce((total, line) => total + (line.amounts[day] ?? 0), 0),
  );
  return [...shown, { name: `${formatCount(rest.length)} others`, amounts }];
}

/** A text alternative of the chart. */
export function sentenceOf({ days, lines }: Chart, measure: Measure): string {
  const perDay = days.map((_, day) =>
    lines.reduce((total, line) => total + (line.amounts[day] ?? 0), 0),
  );
  const total = sumOf(perDay);
  const [first] = lines;
  if (first === undefined || total === 0) return `No ${measure} in these ${days.length} days.`;
  const most = Math.max(...perDay);
  const share = Math.round((sumOf(first.amounts) / total) * 100);
  return (
    `${amountText(total, measure)} in ${days.length} days, the most on ` +
    `${days[perDay.indexOf(most)]} (${amountText(most, measure)}); ` +
    `${first.name} has ${share} %.`
  );
}

/** A deleted key or provider has no name any more. */
export function nameOf({ id, name }: Pick<Stat, 'id' | 'name'>): string {
  return name ?? id ?? 'none';
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
