interface SparklineProps {
  readonly values: readonly number[];
  /** Text alternative, a sentence. */
  readonly label: string;
}

const WIDTH = 96;
const HEIGHT = 24;

export function Sparkline({ values, label }: SparklineProps) {
  const most = Math.max(1, ...values);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : 0;
  const points = values.map(
    (value, index) => `${index * step},${HEIGHT - 2 - (value / most) * (HEIGHT - 4)}`,
  );
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <polyline points={points.join(' ')} fill="none" stroke="var(--accent)" stroke-width="1.5" />
    </svg>
  );
}
