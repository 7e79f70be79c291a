import { formatCount } from '../text/format.js';
import { TextField } from './field.js';
import './quota-fields.css';

const UNITS = [
  { unit: 'requests', label: 'Requests' },
  { unit: 'tokens', label: 'Tokens' },
  { unit: 'images', label: 'Images' },
  { unit: 'audio_s', label: 'Seconds of audio' },
] as const;

const PERIODS = ['day', 'month'] as const;

type Unit = (typeof UNITS)[number]['unit'];
type Period = (typeof PERIODS)[number];
type Each<T> = Readonly<Record<Period, Readonly<Record<Unit, T>>>>;

/** Null: no limit. */
export type Quota = Each<number | null>;

/** The same as it is typed; empty: no limit. */
export type TypedQuota = Each<string>;

export interface QuotaFieldsProps {
  readonly value: TypedQuota;
  /** What has been used so far; undefined or absent if it is not known. */
  readonly used?: Each<number> | undefined;
  readonly onValue: (value: TypedQuota) => void;
}

/** Larger limits are refused. */
const MAX_LIMIT = 1_000_000_000_000;

/** Limits of a day and a month, both in UTC. */
export function QuotaFields({ value, used, onValue }: QuotaFieldsProps) {
  return (
    <>
      {PERIODS.map((period) => (
        <fieldset key={period} class="quota-fields">
          <legend>{`In a ${period} (UTC)`}</legend>
          {UNITS.map(({ unit, label }) => (
            <TextField
              key={unit}
              label={`${label} a ${period}`}
              {...(used !== undefined && { hint: `Used: ${formatCount(used[period][unit])}` })}
              type="number"
              min={0}
              max={MAX_LIMIT}
              step={1}
              placeholder="no limit"
              value={value[period][unit]}
              onValue={(text) =>
                onValue({ ...value, [period]: { ...value[period], [unit]: text } })
              }
            />
          ))}
        </fieldset>
      ))}
    </>
  );
}

export function typedQuota(quota: Quota | undefined): TypedQuota {
  return eachOf((period, unit) => String(quota?.[period][unit] ?? ''));
}

export function quotaOf(typed: TypedQuota): Quota {
  return eachOf((period, unit) =>
    typed[period][unit] === '' ? null : Number(typed[period][unit]),
  );
}

/** Limits as the command line writes them, such as `requests=100,tokens=50000`; null: none. */
export function writtenQuota(written: Readonly<Record<Period, string | null>>): Quota {
  return eachOf((period, unit) => {
    const parts = (written[period] ?? '').split(',').map((part) => part.split('='));
    const limit = parts.find(([name]) => name === unit)?.[1];
    return limit === undefined ? null : Number(limit);
  });
}

/**
 * `1,000 tokens a day, 20 images a month`, or `50 of 1,000 tokens a day, …` if it is known what has
 * been used; empty if nothing is limited.
 */
export function quotaText(quota: Quota, used?: Each<number>): string {
  return PERIODS.flatMap((period) =>
    UNITS.flatMap(({ unit, label }) => {
      const limit = quota[period][unit];
      if (limit === null) return [];
      const of = used === undefined ? '' : `${formatCount(used[period][unit])} of `;
      return [`${of}${formatCount(limit)} ${label.toLowerCase()} a ${period}`];
    }),
  ).join(', ');
}

function eachOf<T>(valueOf: (period: Period, unit: Unit) => T): Each<T> {
  const ofPeriod = (period: Period): Readonly<Record<Unit, T>> => ({
    requests: valueOf(period, 'requests'),
    tokens: valueOf(period, 'tokens'),
    images: valueOf(period, 'images'),
    audio_s: valueOf(period, 'audio_s'),
  });
  return { day: ofPeriod('day'), month: ofPeriod('month') };
}
