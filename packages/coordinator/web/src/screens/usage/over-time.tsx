import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { ErrorBoundary, lazy } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import type { MyResult } from '../../api/commands.js';
import type { Snapshot } from '../../api/snapshot.js';
import { SelectField } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import {
  MEASURES,
  amountChart,
  isAmount,
  measuredChart,
  nameOf,
  pointsIn,
  sentenceOf,
} from './usage-data.js';
import type { AmountMeasure, Chart, Measure, Point, SpanName } from './usage-data.js';

const UsageChart = lazy(() => import('./usage-chart.js').then((one) => one.UsageChart));

interface Series {
  readonly by: 'day' | 'model';
  readonly model: string | null;
  /** By which the models with the most are found. */
  readonly most?: AmountMeasure;
}

/** Reads a series of the span, of one's own usage or of all. */
export type UseSeries = (series: Series) => Snapshot<readonly Point[]>;

/** The points of an answer that the span shows. */
export function usePoints(
  span: SpanName,
  answer: Snapshot<MyResult<'usage.series'>>,
): Snapshot<readonly Point[]> {
  const { data } = answer;
  const points = useMemo(() => {
    const found = data?.flatMap((point) => ('period' in point ? [point] : []));
    return found && pointsIn(span, found, SYSTEM_CLOCK.now());
  }, [data, span]);
  return { ...answer, data: points };
}

interface OverTimeProps {
  readonly span: SpanName;
  readonly measure: Measure;
  readonly useSeries: UseSeries;
}

/** The chart, with its measure and, of what does not add up, its model. */
export function OverTime({ span, measure, useSeries }: OverTimeProps) {
  const [, setMeasure] = useQuery('measure');
  const most = isAmount(measure) ? measure : 'requests';
  const models = useSeries({ by: 'model', model: null, most });
  const Shown = isAmount(measure) ? Amounts : Measured;
  return (
    <section class="section card">
      <div class="card-head">
        <h2>Over time</h2>
        {!isAmount(measure) && <ModelPicker points={models.data} />}
        <SelectField label="Measure" value={measure} options={MEASURES} onValue={setMeasure} />
      </div>
      <Shown span={span} measure={measure} useSeries={useSeries} models={models} />
    </section>
  );
}

interface ShownProps extends OverTimeProps {
  readonly models: Snapshot<readonly Point[]>;
}

function Amounts({ span, measure, useSeries, models }: ShownProps) {
  const all = useSeries({ by: 'day', model: null });
  const chart = useMemo(() => {
    if (models.data === undefined || all.data === undefined || !isAmount(measure)) return undefined;
    const points = { models: models.data, all: all.data };
    return amountChart(points, { span, measure, now: SYSTEM_CLOCK.now() });
  }, [models.data, all.data, span, measure]);
  return <Drawn span={span} chart={chart} of={models.fault === null ? all : models} />;
}

function Measured({ span, measure, useSeries }: ShownProps) {
  const [model] = useQuery('model');
  const series = useSeries({ by: 'day', model: model === '' ? null : model });
  const { data } = series;
  const chart = useMemo(
    () => data && measuredChart(data, { span, measure, now: SYSTEM_CLOCK.now() }),
    [data, span, measure],
  );
  return <Drawn span={span} chart={chart} of={series} />;
}

interface DrawnProps {
  readonly span: SpanName;
  readonly chart: Chart | undefined;
  readonly of: Pick<Snapshot<unknown>, 'fault' | 'refresh'>;
}

function Drawn({ span, chart, of: { fault, refresh } }: DrawnProps) {
  return (
    <Loaded of={{ data: chart, fault, refresh }} loading={<ChartSkeleton />}>
      {(drawn) => {
        const sentence = sentenceOf(drawn, span);
        return (
          <>
            <p class="soft small usage-sentence">
              {sentence} <span class="whole">Periods are in UTC.</span>
            </p>
            <div class="usage-place">
              <ErrorBoundary>
                <UsageChart chart={drawn} label={sentence} />
              </ErrorBoundary>
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

/** As high as the chart. */
function ChartSkeleton() {
  return (
    <div role="status" aria-label="Loading" aria-busy="true">
      <p class="usage-sentence" />
      <span class="skeleton usage-place" />
    </div>
  );
}

const ALL = { value: '', label: 'All models' };

function ModelPicker({ points }: { readonly points: readonly Point[] | undefined }) {
  const [model, setModel] = useQuery('model');
  const known = [...new Set((points ?? []).map(nameOf))].toSorted();
  // One that is asked for stays selected while the models load.
  const names = model === '' || known.includes(model) ? known : [model, ...known];
  const options = [ALL, ...names.map((name) => ({ value: name, label: name }))];
  return <SelectField label="Model" value={model} options={options} onValue={setModel} />;
}
