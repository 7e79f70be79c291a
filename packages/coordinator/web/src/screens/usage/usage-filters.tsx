import { Segments, SelectField } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { MEASURES } from './usage-data.js';
import type { Measure } from './usage-data.js';

export const PERIODS = [
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
] as const;
export const DAYS = { day: 1, week: 7, month: 30 } as const;

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
type Period = keyof typeof DAYS;

export interface UsageFilters {
  readonly period: Period;
  readonly days: number;
  /** True: the work of the member's providers for any member. False: the member's own requests. */
  readonly given: boolean;
  readonly by: Group;
  readonly measure: Measure;
}

/** From the URL; a missing or invalid value means the default. */
export function useUsageFilters(): UsageFilters {
  const [period] = useQuery('period');
  const [side] = useQuery('side');
  const [by] = useQuery('by');
  const [measure] = useQuery('measure');
  const given = side === 'given';
  const chosen = PERIODS.find(({ value }) => value === period)?.value ?? 'week';
  const groups = given ? GIVEN_GROUPS : GROUPS;
  return {
    period: chosen,
    days: DAYS[chosen],
    given,
    by: groups.find(({ value }) => value === by)?.value ?? 'model',
    measure: MEASURES.find(({ value }) => value === measure)?.value ?? 'requests',
  };
}

export function FilterBar({ filters }: { readonly filters: UsageFilters }) {
  const [, setPeriod] = useQuery('period');
  const [, setSide] = useQuery('side');
  const [, setBy] = useQuery('by');
  const { given } = filters;
  const groups: readonly { value: Group; label: string }[] = given ? GIVEN_GROUPS : GROUPS;
  return (
    <div class="usage-filters">
      <Segments label="Period" value={filters.period} options={PERIODS} onValue={setPeriod} />
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
