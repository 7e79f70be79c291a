import './meter.css';

interface MeterProps {
  readonly value: number;
  readonly max: number;
  /** What it measures, with the numbers: "3 of 4 slots busy". */
  readonly label: string;
  readonly mood?: 'accent' | 'warn';
}

export function Meter({ value, max, label, mood = 'accent' }: MeterProps) {
  const share = max <= 0 ? 0 : Math.min(value / max, 1);
  const numbers = { 'aria-valuenow': value, 'aria-valuemin': 0, 'aria-valuemax': max };
  return (
    <span class={`meter ${mood}`} role="meter" aria-label={label} title={label} {...numbers}>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  );
}
