import { leftText } from '@inference-gateway/shared/time-text';
import { Meter } from '../../ui/figures/meter.js';
import { formatBytes } from '../../ui/text/format.js';
import type { Activity } from './own-models.js';

interface PullProgressProps {
  readonly pull: Activity;
  /** Now, on the disk that it is written to; null if it is not known. */
  readonly freeBytes: number | null;
}

/** How far a pull is, how fast, and what it will leave on the disk. */
export function PullProgress({ pull, freeBytes }: PullProgressProps) {
  const { model, bytes, total_bytes: total } = pull;
  const isMeasured = bytes !== null && total !== null && total > 0;
  return (
    <div class="pull-progress">
      <p>
        Pulling <span class="mono">{model}</span>
      </p>
      {isMeasured && (
        <Meter
          value={bytes}
          max={total}
          label={`${formatBytes(bytes)} of ${formatBytes(total)} pulled`}
        />
      )}
      <p class="small soft">{stateOf(pull)}</p>
      {isMeasured && freeBytes !== null && (
        <p class="small soft">
          Free on the disk: {formatBytes(freeBytes)} now,{' '}
          {formatBytes(Math.max(0, freeBytes - (total - bytes)))} expected after it.
        </p>
      )}
    </div>
  );
}

function stateOf({ phase, bytes, total_bytes: total, bytes_per_second: rate }: Activity): string {
  if (phase === 'finishing') return 'All bytes have come. The server checks them.';
  if (bytes === null) return 'Waiting for the first bytes…';
  const share = total === null || total === 0 ? '' : ` of ${formatBytes(total)}`;
  if (rate === null || rate <= 0) return `${formatBytes(bytes)}${share}`;
  const leftMs = total === null ? null : ((total - bytes) / rate) * 1_000;
  const left = leftMs === null ? '' : `, ${leftText(leftMs)} left`;
  return `${formatBytes(bytes)}${share}, ${formatBytes(rate)}/s${left}`;
}
