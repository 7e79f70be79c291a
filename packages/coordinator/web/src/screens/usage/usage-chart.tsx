import { useMemo, useState } from 'preact/hooks';
import type UPlot from 'uplot';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { formatPeriod } from '../../ui/text/periods.js';
import { HEIGHT, colourTokens, drawChart, useDrawn } from './draw-chart.js';
import type { ColourTokens } from './draw-chart.js';
import { isAmount, valueText } from './usage-data.js';
import type { Chart } from './usage-data.js';

interface UsageChartProps {
  readonly chart: Chart;
  /** Text alternative of the canvas. */
  readonly label: string;
}

/** The chart with its legend, which hides and shows lines, and its values as a table. */
export function UsageChart({ chart, label }: UsageChartProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const tokens = useMemo(() => colourTokens(chart.lines), [chart]);
  const shown = useMemo(
    () => ({ ...chart, lines: chart.lines.filter(({ name }) => !hidden.has(name)) }),
    [chart, hidden],
  );
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
  };
  return (
    <>
      <Plot chart={shown} tokens={tokens} label={label} />
      <ul class="usage-legend small" aria-label="Shown in the chart">
        {chart.lines.map(({ name }) => (
          <li key={name}>
            <button type="button" aria-pressed={!hidden.has(name)} onClick={() => toggle(name)}>
              <span style={{ background: `var(${tokens.get(name)})` }} />
              {name}
            </button>
          </li>
        ))}
      </ul>
      <Values chart={chart} />
    </>
  );
}

interface PlotProps extends UsageChartProps {
  readonly tokens: ColourTokens;
}

/** The canvas. The pointer and the arrow keys move through the periods. */
function Plot({ chart, tokens, label }: PlotProps) {
  const [at, setAt] = useState<number | null>(null);
  const [isFocused, setFocused] = useState(false);
  const { place, plot } = useDrawn(
    (element) => drawChart(element, chart, { tokens, onPlace: setAt }),
    HEIGHT,
    [chart, tokens],
  );
  const show = (index: number | null): void => {
    setAt(index);
    const left = index === null ? HIDDEN_PX : (plot.current?.valToPos(index, 'x') ?? HIDDEN_PX);
    plot.current?.setCursor({ left, top: index === null ? HIDDEN_PX : 0 }, false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = placeAfter(event.key, at, chart.periods.length);
    if (next === undefined) return;
    event.preventDefault();
    show(next);
  };
  const onBlur = (): void => {
    setFocused(false);
    show(null);
  };
  return (
    <div class="usage-plot">
      <div
        ref={place}
        class="usage-chart"
        role="group"
        aria-roledescription="chart"
        aria-label={`${label} The arrow keys read its values.`}
        tabIndex={0}
        onFocus={() => setFocused(true)}
        onBlur={onBlur}
        onKeyDown={onKeyDown}
      />
      {at !== null && plot.current !== null && (
        <Tooltip chart={chart} at={at} plot={plot.current} tokens={tokens} />
      )}
      <p class="unseen" role="status">
        {isFocused && at !== null ? readOut(chart, at) : ''}
      </p>
    </div>
  );
}

/** Where uPlot hides its cursor. */
const HIDDEN_PX = -10;

/** Undefined if the key does not move; null after Escape. */
function placeAfter(key: string, at: number | null, count: number): number | null | undefined {
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, (at ?? count) - 1);
    case 'ArrowRight':
      return Math.min(count - 1, (at ?? count - 2) + 1);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    case 'Escape':
      return null;
    default:
      return undefined;
  }
}

interface TooltipProps {
  readonly chart: Chart;
  readonly at: number;
  readonly plot: UPlot;
  readonly tokens: ColourTokens;
}

function Tooltip({ chart, at, plot, tokens }: TooltipProps) {
  const left = plot.bbox.left / devicePixelRatio + plot.valToPos(at, 'x');
  const side = at < chart.periods.length / 2 ? 'right' : 'left';
  return (
    <div class={`usage-tip small ${side}`} style={{ left: `${left}px` }} aria-hidden="true">
      <b>{formatPeriod(chart.step, chart.periods[at] ?? '')}</b>
      {totalAt(chart, at) !== null && <span>{totalAt(chart, at)}</span>}
      {measuredAt(chart, at).map(({ name, text }) => (
        <span key={name} class="usage-tip-line">
          <i style={{ background: `var(${tokens.get(name)})` }} />
          <span>{name}</span>
          <span>{text}</span>
        </span>
      ))}
    </div>
  );
}

/** What the tooltip shows, in a sentence. */
function readOut(chart: Chart, at: number): string {
  const total = totalAt(chart, at);
  const lines = measuredAt(chart, at).map(({ name, text }) => `${name}: ${text}`);
  const period = formatPeriod(chart.step, chart.periods[at] ?? '');
  return `${[period, ...(total === null ? [] : [total]), ...lines].join(', ')}.`;
}

/** Of amounts, their sum; null if the values do not add up, or nothing was measured. */
function totalAt({ measure, lines }: Chart, at: number): string | null {
  if (isAmount(measure)) {
    return valueText(
      lines.reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
      measure,
    );
  }
  return lines.every(({ values }) => (values[at] ?? null) === null) ? 'nothing measured' : null;
}

function measuredAt({ measure, lines }: Chart, at: number) {
  return lines.flatMap(({ name, values }) => {
    const value = values[at] ?? null;
    const isShown = value !== null && !(isAmount(measure) && value === 0);
    return isShown ? [{ name, text: valueText(value, measure) }] : [];
  });
}

/** The newest period first; drawn when it is opened. */
function Values({ chart }: { readonly chart: Chart }) {
  const [isOpen, setOpen] = useState(false);
  const { periods, step } = chart;
  const rows = periods.map((period, index) => rowOf(chart, period, index)).toReversed();
  const columns: Column<ValueRow>[] = [
    { head: 'Period', isName: true, cell: ({ period }) => formatPeriod(step, period) },
    ...chart.lines.map(({ name }) => ({
      head: name,
      kind: 'number' as const,
      cell: (row: ValueRow) => valueOf(row[name] ?? null, chart),
    })),
  ];
  return (
    <details class="usage-values" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="small">Values as a table</summary>
      {isOpen && (
        <Table
          isWide
          caption="Values of the chart"
          saveAs={`usage-${chart.measure}-by-${step}`}
          columns={columns}
          rows={rows}
          rowKey={({ period }) => period}
        />
      )}
    </details>
  );
}

/** The period, and the value of each line under its name, as a file has them. */
interface ValueRow {
  readonly period: string;
  readonly [line: string]: string | number | null;
}

function rowOf({ lines }: Chart, period: string, index: number): ValueRow {
  const values = lines.map((line) => [line.name, line.values[index] ?? null] as const);
  // The first column, whatever the models are called.
  return Object.assign({ period }, Object.fromEntries(values), { period });
}

function valueOf(value: string | number | null, { measure }: Chart): string {
  return typeof value === 'number' ? valueText(value, measure) : '–';
}
