import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { Cell, useCell } from '../../api/cell.js';
import { formatDate } from './dates.js';
import { formatAgo } from './format.js';

const TICK_MS = 5_000;

/** One clock for all relative times of the page. */
const now = new Cell(SYSTEM_CLOCK.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = SYSTEM_CLOCK.now();
}, TICK_MS);

interface AgoProps {
  /** Unix ms; null reads as the word given. */
  readonly at: number | null | undefined;
  readonly never?: string;
}

/** How long ago, with the exact moment in its title. */
export function Ago({ at, never = 'never' }: AgoProps) {
  const tick = useCell(now);
  if (at === null || at === undefined) return <span class="soft">{never}</span>;
  // The clock ticks slowly: what comes in between is not in the future.
  const seen = Math.max(tick, at <= SYSTEM_CLOCK.now() ? at : tick);
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDate(at)}>
      {formatAgo(at, seen)}
    </time>
  );
}
