/** Draws a chart of usage with uPlot: amounts as bars upon each other, the rest as lines. */
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import { useCell } from '../../api/cell.js';
import { theme } from '../../shell/preferences.js';
import { formatShort } from '../../ui/text/format.js';
import { shortPeriod } from '../../ui/text/periods.js';
import { isAmount } from './usage-data.js';
import type { Chart, Line, Measure } from './usage-data.js';

export const HEIGHT = 240;

/** By the names of lines: CSS variables. */
export type ColourTokens = ReadonlyMap<string, string>;

const MODEL_COLOURS = [1, 2, 3, 4, 5, 6, 7].map((number) => `--chart-${number}`);
const OTHER_COLOURS = {
  others: '--chart-others',
  median: '--chart-1',
  high: '--chart-3',
} as const;

/** A model keeps its colour in all charts, until the page is loaded again. */
const places = new Map<string, number>();

/** If two models of a chart have one colour, the smaller one gets another there. */
export function colourTokens(lines: readonly Pick<Line, 'name' | 'kind'>[]): ColourTokens {
  const tokens = new Map<string, string>();
  for (const { name, kind } of lines) {
    tokens.set(
      name,
      kind === 'model' ? modelColour(name, [...tokens.values()]) : OTHER_COLOURS[kind],
    );
  }
  return tokens;
}

function modelColour(name: string, taken: readonly string[]): string {
  const place = places.get(name) ?? places.size;
  places.set(name, place);
  const inOrder = MODEL_COLOURS.map((_, i) => MODEL_COLOURS[(place + i) % MODEL_COLOURS.length]);
  return inOrder.find((token = '') => !taken.includes(token)) ?? OTHER_COLOURS.others;
}

interface Drawing {
  readonly tokens: ColourTokens;
  /** Called with the place of the period under the pointer; null: there is none. */
  readonly onPlace: (index: number | null) => void;
}

export function drawChart(element: HTMLElement, chart: Chart, { tokens, onPlace }: Drawing): UPlot {
  const { lines, periods, measure } = chart;
  const isStacked = isAmount(measure);
  const drawn = isStacked ? stacked(lines) : lines;
  const series = drawn.map(({ name }) => {
    const shown = colour(tokens.get(name) ?? '--chart-others');
    return isStacked ? { ...BARS, fill: shown } : { ...LINE, stroke: shown };
  });
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [-0.5, periods.length - 0.5] },
      y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.05)] },
    },
    axes: axesOf(chart),
    series: [{}, ...series],
    hooks: { setCursor: [({ cursor }) => onPlace(cursor.idx ?? null)] },
  };
  const places = periods.map((_, index) => index);
  return new UPlot(options, [places, ...drawn.map(({ values }) => [...values])], element);
}

/** Most of a period's width, and at most 48 px. */
const bars = UPlot.paths.bars?.({ size: [0.8, 48] });
const BARS = { width: 0, points: { show: false }, ...(bars !== undefined && { paths: bars }) };
const LINE = { width: 2, points: { show: true, size: 4 } };

/** Each bar reaches from zero to the sum with those below it; the lower ones are drawn over it. */
function stacked(lines: readonly Line[]): readonly Line[] {
  const sums: Line[] = [];
  for (const line of lines) {
    const below = sums.at(-1)?.values;
    const values = line.values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0));
    sums.push({ ...line, values });
  }
  return sums.toReversed();
}

/** Of a label with the space beside it: `14:00` and `31 May`, `May 2026`. */
const LABEL_PX = { hour: 64, day: 64, month: 88 } as const;
const AXIS_PX = 60;

function axesOf(chart: Chart): UPlot.Axis[] {
  const [soft, line] = [colour('--text-soft'), colour('--line')];
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const places = (plot: UPlot): number[] => labelledPlaces(chart, plot.width - AXIS_PX);
  return [
    {
      ...axis,
      grid: { show: false },
      splits: places,
      values: (_, splits) => splits.map((index) => labelOf(chart, index)),
    },
    {
      ...axis,
      size: AXIS_PX,
      values: (_, splits) => splits.map((one) => axisText(one, chart.measure)),
    },
  ];
}

/** Hours of several days are labelled at midnight. */
function isInDays({ step, periods }: Chart): boolean {
  return step === 'hour' && periods.length > 24;
}

function labelledPlaces(chart: Chart, widthPx: number): number[] {
  const all = chart.periods.map((_, index) => index);
  const candidates = isInDays(chart)
    ? all.filter((index) => chart.periods[index]?.endsWith('T00') === true)
    : all;
  const every = Math.max(1, Math.ceil((candidates.length * LABEL_PX[chart.step]) / widthPx));
  return candidates.filter((_, index) => index % every === 0);
}

function labelOf(chart: Chart, index: number): string {
  const period = chart.periods[index] ?? '';
  return isInDays(chart)
    ? shortPeriod('day', period.slice(0, 10))
    : shortPeriod(chart.step, period);
}

function axisText(value: number, measure: Measure): string {
  if (measure !== 'first' && measure !== 'queue' && measure !== 'total') return formatShort(value);
  if (value < 1_000) return `${Math.round(value)} ms`;
  return value < 120_000 ? `${formatShort(value / 1_000)} s` : `${formatShort(value / 60_000)} min`;
}

/** Draws into `place` anew when `inputs` or the theme change, and follows the width of the page. */
export function useDrawn(
  draw: (element: HTMLElement) => UPlot,
  height: number,
  inputs: readonly unknown[],
) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const chosen = useCell(theme);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const redraw = (): void => {
      plot.current?.destroy();
      plot.current = draw(element);
    };
    redraw();
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', redraw);
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height }),
    );
    resized.observe(element);
    return () => {
      system.removeEventListener('change', redraw);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [...inputs, chosen]);
  return { place, plot };
}

/** A canvas cannot use CSS variables, so this returns the token's colour in the current theme. */
export function colour(token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
