import './time-bars.css';

interface TimeBarsProps {
  /** One a period, the current one at the end. Undefined while they load: the space is reserved. */
  readonly values: readonly number[] | undefined;
  /** Text alternative, a sentence. */
  readonly label: string;
  readonly mood?: 'accent' | 'bad';
}

const HEIGHT = 24;
/** A value above zero is never invisible. */
const MIN_HEIGHT = 2;

/** A small chart of bars, as wide as its place. */
export function TimeBars({ values, label, mood = 'accent' }: TimeBarsProps) {
  if (values === undefined) return <span class="time-bars" />;
  const most = Math.max(1, ...values);
  const heightOf = (value: number): number =>
    value <= 0 ? 0 : Math.max(MIN_HEIGHT, (value / most) * HEIGHT);
  const bars = values.map((value, index) => {
    const height = heightOf(value);
    return `M${index + 0.1} ${HEIGHT}v${-height}h0.8v${height}z`;
  });
  return (
    <svg
      class={`time-bars ${mood}`}
      viewBox={`0 0 ${values.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={bars.join('')} />
    </svg>
  );
}
