import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ErrorBoundary, lazy } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import type { Fault } from '../../api/fault.js';
import { Segments } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { MEASURES, chartOf, sentenceOf } from './usage-data.js';
import type { Measure, Point } from './usage-data.js';

const UsageChart = lazy(() => import('./usage-chart.js').then((one) => one.UsageChart));

interface DayByDayProps {
  /** Undefined until the first answer. */
  readonly points: readonly Point[] | undefined;
  readonly fault: Fault | null;
  readonly days: number;
  readonly measure: Measure;
}

export function DayByDay({ points, fault, days, measure }: DayByDayProps) {
  const [, setMeasure] = useQuery('measure');
  const chart = useMemo(
    () => points && chartOf(points, { days, measure, now: SYSTEM_CLOCK.now() }),
    [points, days, measure],
  );
  const sentence = chart && sentenceOf(chart, measure);
  return (
    <section class="section card">
      <div class="card-head">
        <h2>Day by day</h2>
        <Segments label="Measure" value={measure} options={MEASURES} onValue={setMeasure} />
      </div>
      <p class="soft small usage-sentence">{sentence ?? fault?.message ?? ' '}</p>
      <div class="usage-place">
        {chart !== undefined && sentence !== undefined && (
          <ErrorBoundary>
            <UsageChart chart={chart} label={sentence} />
          </ErrorBoundary>
        )}
      </div>
    </section>
  );
}
