/** The last 24 hours of a machine, as its agent tells its owner alone: what the charts show. */
import type { MyResult } from '../../api/commands.js';
import { formatMib } from '../../ui/text/format.js';

export type MachineDay = Extract<MyResult<'provider.gpu-day'>, { state: 'on' }>;

type Card = MachineDay['cards'][number];

type Measured = Card['use_percent'];

interface DayLine {
  readonly name: string;
  /** A CSS variable. */
  readonly colour: string;
  /** Means and highest values of the minutes; null: not measured. */
  readonly mean: readonly (number | null)[];
  readonly max: readonly (number | null)[];
}

export interface DayChart {
  readonly title: string;
  /** Of the first minute, in Unix ms by the machine's clock. */
  readonly firstAt: number;
  /** One with its highest values, or several upon each other. */
  readonly lines: readonly DayLine[];
  /** The end of the axis; null: a little above the highest value. */
  readonly top: number | null;
  readonly text: (value: number) => string;
  /** Possible distances of the axis' marks. */
  readonly steps?: readonly number[];
}

/** In MiB. */
const MEMORY_STEPS = [0.5, 1, 2, 4, 8, 16, 32, 64, 128].map((gib) => gib * 1_024);

export const MINUTE_MS = 60_000;

export const DAY_MINUTES = 1_440;

type Axis = Pick<DayChart, 'top' | 'text' | 'steps'>;

/** Without what was never measured. */
export function cardCharts({ day }: MachineDay, card: Card): readonly DayChart[] {
  const chart = (title: string, measured: Measured, axis: Axis) => {
    const line = { name: title, colour: '--chart-1', ...measured };
    return { title, firstAt: day.first_at, lines: [line], ...axis };
  };
  const charts: readonly DayChart[] = [
    chart('In use', card.use_percent, { top: 100, text: percent }),
    chart('Memory used', card.memory_used_mib, {
      top: card.memory_mib,
      text: formatMib,
      steps: MEMORY_STEPS,
    }),
    chart('Temperature', card.temperature_c, { top: 100, text: (c) => `${Math.round(c)} °C` }),
    chart('Power', card.power_watts, { top: null, text: (watts) => `${Math.round(watts)} W` }),
  ];
  return charts.filter(isMeasured);
}

/** What uses the machine; `slots` is their number. */
export function machineCharts({ day }: MachineDay, slots: number): readonly DayChart[] {
  const firstAt = day.first_at;
  const lines = [
    { name: 'My calls', colour: '--chart-1', ...day.own_slots },
    { name: 'Others’ calls', colour: '--chart-2', ...day.others_slots },
  ];
  const programs = { name: 'Other programs', colour: '--chart-3', ...day.programs_percent };
  const charts: readonly DayChart[] = [
    { title: 'Slots in use', firstAt, lines, top: Math.max(1, slots), text: slotsText },
    { title: 'Other programs', firstAt, lines: [programs], top: 100, text: percent },
  ];
  return charts.filter(isMeasured);
}

function percent(value: number): string {
  return `${Math.round(value)} %`;
}

function slotsText(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function isMeasured({ lines }: DayChart): boolean {
  return lines.some(({ mean }) => mean.some((value) => value !== null));
}

/** `In use: 43 % on average, at most 100 %.` */
export function sentenceOf({ title, lines, text }: DayChart): string {
  const parts = lines.map(({ name, mean, max }) => {
    const about = lines.length > 1 ? `${name} ` : '';
    return `${about}${textOf(meanOf(mean), text)} on average, at most ${textOf(maxOf(max), text)}`;
  });
  return `${title}: ${parts.join('; ')}.`;
}

/** The values at a minute, for the tooltip: a line each. */
export function valuesAt({ lines, text }: DayChart, index: number): readonly DayValue[] {
  return lines.flatMap(({ name, colour, mean, max }) => {
    const [value, most] = [mean[index] ?? null, max[index] ?? null];
    if (value === null) return [];
    const peak = most !== null && text(most) !== text(value) ? `, at most ${text(most)}` : '';
    return [{ name, colour, text: `${text(value)}${peak}` }];
  });
}

interface DayValue {
  readonly name: string;
  readonly colour: string;
  readonly text: string;
}

interface DayHour {
  /** Unix ms. */
  readonly at: number;
  /** A text for each line of each chart. */
  readonly cells: readonly string[];
}

/** The newest hour first, as a table. */
export function hoursOf(charts: readonly DayChart[]): {
  readonly heads: readonly string[];
  readonly hours: readonly DayHour[];
} {
  const lines = charts.flatMap((chart) => chart.lines.map((line) => ({ ...line, chart })));
  const [first] = lines;
  if (first === undefined) return { heads: [], hours: [] };
  const { firstAt } = first.chart;
  const byHour = new Map<number, number[]>();
  for (const index of first.mean.keys()) {
    const at = firstAt + index * MINUTE_MS;
    const hour = new Date(at).setMinutes(0, 0, 0);
    byHour.set(hour, [...(byHour.get(hour) ?? []), index]);
  }
  const hours = [...byHour].map(([at, places]): DayHour => {
    const cells = lines.map(({ mean, max, chart: { text } }) => {
      const value = meanOf(places.map((index) => mean[index] ?? null));
      if (value === null) return '–';
      const most = maxOf(places.map((index) => max[index] ?? null));
      return `${text(value)} (${textOf(most, text)})`;
    });
    return { at, cells };
  });
  return { heads: lines.map(({ name }) => name), hours: hours.toReversed() };
}

function textOf(value: number | null, text: DayChart['text']): string {
  return value === null ? '–' : text(value);
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function maxOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
