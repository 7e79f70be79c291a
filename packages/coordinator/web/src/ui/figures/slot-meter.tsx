import { formatCount, plural } from '../text/format.js';
import { Meter } from './meter.js';
import './slot-meter.css';

interface SlotMeterProps {
  readonly slots: number;
  readonly free: number;
}

/** How many slots are busy with anything of anybody's. */
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
