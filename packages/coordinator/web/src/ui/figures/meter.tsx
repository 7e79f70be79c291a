import { formatCount, plural } from '../text/format.js';
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

interface SlotMeterProps {
  readonly slots: number;
  readonly free: number;
}

/** How many slots are busy, with jobs and calls of all members. */
export function SlotMeter({ slots, free }: SlotMeterProps) {
  const busy = slots - free;
  const label = `${formatCount(busy)} of ${plural(slots, 'slot')} busy`;
  return (
    <span class="slot-meter">
      <Meter value={busy} max={slots} label={label} mood={free === 0 ? 'warn' : 'accent'} />
      <span class="small soft" aria-hidden="true">
        {formatCount(busy)}/{formatCount(slots)}
      </span>
    </span>
  );
}
