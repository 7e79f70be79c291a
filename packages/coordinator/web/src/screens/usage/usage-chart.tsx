import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useCell } from '../../api/cell.js';
import { theme } from '../../shell/preferences.js';
import { formatDay } from '../../ui/text/dates.js';
import { formatShort } from '../../ui/text/format.js';
import { DAY_S } from '../../ui/text/last-days.js';
import type { Chart } from './usage-data.js';

const HEIGHT = 240;
/** Steps of the time axis: at most one label per day. */
const DAY_STEPS_S = [1, 2, 7, 14, 28].map((days) => days * DAY_S);
const COLOURS = ['--chart-1', '--chart-2', '--chart-3', '--chart-4', '--chart-5'];

interface UsageChartProps {
  readonly chart: Chart;
  /** Text alternative of the canvas. */
  readonly label: string;
}

export function UsageChart({ chart, label }: UsageChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chosen = useCell(theme);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let plot = draw(element, chart);
    const redraw = (): void => {
      plot.destroy();
      plot = draw(element, chart);
    };
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', redraw);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    resized.observe(element);
    return () => {
      system.removeEventListener('change', redraw);
      resized.disconnect();
      plot.destroy();
    };
  }, [chart, chosen]);
  return (
    <>
      <div ref={place} class="usage-chart" role="img" aria-label={label} />
      <ul class="usage-legend small">
        {chart.lines.map(({ name }, index) => (
          <li key={name}>
            <span style={{ background: `var(${COLOURS[index]})` }} />
            {name}
          </li>
        ))}
      </ul>
    </>
  );
}

function draw(element: HTMLElement, { days, lines }: Chart): UPlot {
  const [soft, line] = [colour('--text-soft'), colour('--line')];
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line } };
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
    axes: [
      {
        ...axis,
        incrs: DAY_STEPS_S,
        values: (_, splits) => splits.map((seconds) => formatDay(seconds * 1_000)),
      },
      { ...axis, size: 56, values: (_, splits) => splits.map(formatShort) },
    ],
    series: [
      {},
      ...lines.map((_, index) => ({
        stroke: colour(COLOURS[index] ?? '--chart-5'),
        width: 2,
        points: { size: 5 },
      })),
    ],
  };
  const seconds = days.map((day) => Date.parse(day) / 1_000);
  return new UPlot(options, [seconds, ...lines.map(({ amounts }) => [...amounts])], element);
}

/** A canvas cannot use CSS variables, so this returns the token's colour in the current theme. */
function colour(token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
