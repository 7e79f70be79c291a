import UPlot from 'uplot';
import { useState } from 'preact/hooks';
import { Table } from '../../ui/table/table.js';
import { formatClock } from '../../ui/text/dates.js';
import { colour, useDrawn } from '../usage/draw-chart.js';
import '../usage/usage.css';
import {
  cardCharts,
  DAY_MINUTES,
  hoursOf,
  MINUTE_MS,
  sentenceOf,
  machineCharts,
  valuesAt,
} from './day-data.js';
import type { DayChart, MachineDay } from './day-data.js';

interface DayChartsProps {
  readonly told: MachineDay;
  /** Of all services. */
  readonly slots: number;
}

/** What used the machine, then each of its cards. */
export function DayCharts({ told, slots }: DayChartsProps) {
  const { cards } = told;
  return (
    <>
      <ChartGroup charts={machineCharts(told, slots)} caption="Use by the hour" />
      {cards.map((card, index) => {
        const name = `${cards.length > 1 ? `${index + 1}: ` : ''}${card.name ?? 'Graphics card'}`;
        return (
          <div key={index}>
            <h3 class="day-card">{name}</h3>
            <ChartGroup charts={cardCharts(told, card)} caption={`${name}, by the hour`} />
          </div>
        );
      })}
    </>
  );
}

interface ChartGroupProps {
  readonly charts: readonly DayChart[];
  readonly caption: string;
}

function ChartGroup({ charts, caption }: ChartGroupProps) {
  return (
    <>
      <div class="day-charts">
        {charts.map((chart) => (
          <Plot key={chart.title} chart={chart} />
        ))}
      </div>
      <Hours charts={charts} caption={caption} />
    </>
  );
}

/** The canvas. The pointer and the arrow keys move through the minutes. */
function Plot({ chart }: { readonly chart: DayChart }) {
  const [at, setAt] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const { place, plot } = useDrawn((element) => drawDay(element, chart, setAt), HEIGHT, [chart]);
  const count = chart.lines[0]?.mean.length ?? 0;
  const show = (index: number | null): void => {
    const left =
      index === null
        ? HIDDEN_PX
        : (plot.current?.valToPos(secondsAt(chart, index), 'x') ?? HIDDEN_PX);
    plot.current?.setCursor({ left, top: index === null ? HIDDEN_PX : 0 }, false);
    setAt(index);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = minuteAfter(event.key, at, count);
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  };
  const onBlur = (): void => {
    setFocused(false);
    show(null);
  };
  return (
    <figure class="day-figure">
      <figcaption class="small">{sentenceOf(chart)}</figcaption>
      {chart.lines.length > 1 && <Key lines={chart.lines} />}
      <div class="usage-plot">
        <div
          ref={place}
          class="day-chart"
          role="group"
          aria-roledescription="chart"
          aria-label={`${chart.title}. ${KEYS}`}
          tabIndex={0}
          onFocus={() => setFocused(true)}
          onBlur={onBlur}
          onKeyDown={onKeyDown}
        />
        {at !== null && plot.current !== null && (
          <Tooltip chart={chart} at={at} plot={plot.current} />
        )}
        <p class="unseen" role="status">
          {isFocused && at !== null ? readOut(chart, at) : ''}
        </p>
      </div>
    </figure>
  );
}

function Key({ lines }: Pick<DayChart, 'lines'>) {
  return (
    <p class="day-key small" aria-hidden="true">
      {lines.map(({ name, colour: token }) => (
        <span key={name}>
          <i style={{ background: `var(${token})` }} />
          {name}
        </span>
      ))}
    </p>
  );
}

const KEYS = 'The arrow keys read its minutes, Page Up and Page Down its hours.';

const HEIGHT = 128;
const AXIS_PX = 72;
/** Of a time of the day, with the space beside it. */
const TIME_PX = 72;
/** Where uPlot hides its cursor. */
const HIDDEN_PX = -10;

function secondsAt({ firstAt }: DayChart, index: number): number {
  return (firstAt + index * MINUTE_MS) / 1_000;
}

const KEY_STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -60,
  PageDown: 60,
};

/** Undefined if the key does not move; null after Escape. The first step is to the last minute. */
function minuteAfter(key: string, at: number | null, count: number): number | null | undefined {
  if (key === 'Escape') return null;
  if (key === 'Home') return 0;
  const step = KEY_STEPS[key];
  if (step === undefined && key !== 'End') return undefined;
  if (step === undefined || at === null) return count - 1;
  return Math.min(count - 1, Math.max(0, at + step));
}

function drawDay(
  element: HTMLElement,
  chart: DayChart,
  onPlace: (index: number | null) => void,
): UPlot {
  const { lines, top, text, steps } = chart;
  const [only] = lines;
  const count = only?.mean.length ?? 0;
  const isAlone = lines.length === 1;
  const drawn = isAlone ? [] : stacked(chart);
  const peaks = { stroke: colour('--chart-others'), width: 1, points: { show: false } };
  const last = secondsAt(chart, count);
  const axis = {
    stroke: colour('--text-soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line') },
  };
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [last - (DAY_MINUTES * MINUTE_MS) / 1_000, last] },
      y: {
        range: (_, __, most) => [0, Math.max(top ?? 0, (most ?? 0) * (top === null ? 1.05 : 1), 1)],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: ({ width }) => hourMarks(last, width - AXIS_PX),
        values: (_, splits) => splits.map((seconds) => formatClock(seconds * 1_000)),
      },
      {
        ...axis,
        size: AXIS_PX,
        ...(steps !== undefined && { incrs: [...steps] }),
        values: (_, splits) => splits.map(text),
      },
    ],
    series: isAlone
      ? [{}, peaks, { ...peaks, stroke: colour(only?.colour ?? ''), width: 1.5 }]
      : [{}, ...drawn.map((line) => ({ ...peaks, width: 0, fill: colour(line.colour) }))],
    hooks: { setCursor: [({ cursor }) => onPlace(cursor.idx ?? null)] },
  };
  const times = Array.from({ length: count }, (_, index) => secondsAt(chart, index));
  const values = isAlone ? [only?.max ?? [], only?.mean ?? []] : drawn.map(({ mean }) => mean);
  return new UPlot(options, [times, ...values.map((one) => [...one])], element);
}

/** Each reaches from zero to the sum with those below it; the lower ones are drawn over it. */
function stacked({ lines }: DayChart): readonly { mean: (number | null)[]; colour: string }[] {
  const sums: { mean: (number | null)[]; colour: string }[] = [];
  for (const line of lines) {
    const below = sums.at(-1)?.mean;
    const mean = line.mean.map((value, index) =>
      value === null ? null : value + (below?.[index] ?? 0),
    );
    sums.push({ mean, colour: line.colour });
  }
  return sums.toReversed();
}

/** Full hours of the reader's clock, as many as have room; in seconds. */
function hourMarks(last: number, widthPx: number): number[] {
  const every = [1, 2, 3, 4, 6, 12].find((hours) => (24 / hours) * TIME_PX <= widthPx) ?? 12;
  const marks: number[] = [];
  const hour = new Date(last * 1_000);
  hour.setMinutes(0, 0, 0);
  for (let back = 0; back < 24; back += 1) {
    const at = hour.getTime() - back * 60 * MINUTE_MS;
    if (new Date(at).getHours() % every === 0) marks.push(at / 1_000);
  }
  return marks.toReversed();
}

interface TooltipProps {
  readonly chart: DayChart;
  readonly at: number;
  readonly plot: UPlot;
}

function Tooltip({ chart, at, plot }: TooltipProps) {
  const left = plot.bbox.left / devicePixelRatio + plot.valToPos(secondsAt(chart, at), 'x');
  const side = left < plot.width / 2 ? 'right' : 'left';
  const values = valuesAt(chart, at);
  return (
    <div class={`usage-tip small ${side}`} style={{ left: `${left}px` }} aria-hidden="true">
      <b>{formatClock(chart.firstAt + at * MINUTE_MS)}</b>
      {values.length === 0 && <span>not measured</span>}
      {values.map(({ name, colour: token, text }) => (
        <span key={name} class="usage-tip-line">
          <i style={{ background: `var(${token})` }} />
          {chart.lines.length > 1 && <span>{name}</span>}
          <span>{text}</span>
        </span>
      ))}
    </div>
  );
}

/** What the tooltip shows, in a sentence. */
function readOut(chart: DayChart, at: number): string {
  const values = valuesAt(chart, at).map(({ name, text }) => `${name}: ${text}`);
  const time = formatClock(chart.firstAt + at * MINUTE_MS);
  return `${[time, ...(values.length === 0 ? ['not measured'] : values)].join(', ')}.`;
}

/** Mean of each hour, and the highest value in brackets; drawn when it is opened. */
function Hours({ charts, caption }: ChartGroupProps) {
  const [isOpen, setOpen] = useState(false);
  const { heads, hours } = hoursOf(isOpen ? charts : []);
  const rows = hours.map(({ at, cells }) => hourRow(at, heads, cells));
  return (
    <details class="usage-values" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="small">Hours as a table</summary>
      {isOpen && (
        <Table
          isWide
          caption={caption}
          saveAs="hours"
          columns={[
            { head: 'From', isName: true, cell: ({ from }) => formatClock(Date.parse(from)) },
            ...heads.map((head) => ({
              head,
              kind: 'number' as const,
              cell: (row: HourRow) => row[head],
            })),
          ]}
          rows={rows}
          rowKey={({ from }) => from}
        />
      )}
    </details>
  );
}

/** A value for each head, as a file has them. */
interface HourRow {
  readonly from: string;
  readonly [head: string]: string;
}

function hourRow(at: number, heads: readonly string[], cells: readonly string[]): HourRow {
  const values = heads.map((head, index) => [head, cells[index] ?? '–'] as const);
  const from = new Date(at).toISOString();
  return Object.assign({ from }, Object.fromEntries(values), { from });
}
