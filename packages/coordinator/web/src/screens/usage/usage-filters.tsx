import { Segments, SelectField } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { MEASURES, SPANS } from './usage-data.js';
import type { Measure, SpanName } from './usage-data.js';

const SPAN_NAMES = ['day', 'week', 'month', 'quarter', 'year'] as const;
const SPAN_OPTIONS = SPAN_NAMES.map((value) => ({ value, label: SPANS[value].label }));

/** The part of time, and what its chart measures, from the URL, with defaults. */
export function useChartFilters(): { readonly span: SpanName; readonly measure: Measure } {
  const [period] = useQuery('period');
  const [measure] = useQuery('measure');
  return {
    span: SPAN_NAMES.find((name) => name === period) ?? 'week',
    measure: MEASURES.find(({ value }) => value === measure)?.value ?? 'requests',
  };
}

export function SpanPicker({ span }: { readonly span: SpanName }) {
  const [, setPeriod] = useQuery('period');
  return <Segments label="Period" value={span} options={SPAN_OPTIONS} onValue={setPeriod} />;
}

const SIDES = [
  { value: 'received', label: 'Received' },
  { value: 'given', label: 'Given' },
] as const;

const GROUPS = [
  { value: 'model', label: 'Model' },
  { value: 'key', label: 'Key' },
  { value: 'source', label: 'Source' },
  { value: 'provider', label: 'Provider' },
  { value: 'endpoint', label: 'Endpoint' },
] as const;
/** Without `key`: members do not see the keys of others who use their providers. */
const GIVEN_GROUPS = [
  { value: 'model', label: 'Model' },
  { value: 'member', label: 'Member' },
  { value: 'source', label: 'Source' },
  { value: 'provider', label: 'Provider' },
  { value: 'endpoint', label: 'Endpoint' },
] as const;

type Group = (typeof GROUPS)[number]['value'] | 'member';

export interface UsageFilters {
  readonly span: SpanName;
  /** True: the work of the member's providers for any member. False: the member's own requests. */
  readonly given: boolean;
  /** Of the table. */
  readonly by: Group;
  readonly measure: Measure;
}

/** From the URL; a missing or invalid value means the default. */
export function useUsageFilters(): UsageFilters {
  const chart = useChartFilters();
  const [side] = useQuery('side');
  const [by] = useQuery('by');
  const given = side === 'given';
  const groups = given ? GIVEN_GROUPS : GROUPS;
  return { ...chart, given, by: groups.find(({ value }) => value === by)?.value ?? 'model' };
}

export function FilterBar({ filters }: { readonly filters: UsageFilters }) {
  const [, setSide] = useQuery('side');
  const [, setBy] = useQuery('by');
  const { given } = filters;
  const groups: readonly { value: Group; label: string }[] = given ? GIVEN_GROUPS : GROUPS;
  return (
    <div class="usage-filters">
      <SpanPicker span={filters.span} />
      <Segments
        label="Received or given"
        value={given ? 'given' : 'received'}
        options={SIDES}
        onValue={setSide}
      />
      <SelectField label="By" value={filters.by} options={groups} onValue={setBy} />
    </div>
  );
}
