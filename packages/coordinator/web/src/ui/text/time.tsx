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

/** Unix ms; draws anew every 5 s. */
export function useNow(): number {
  useCell(now);
  return SYSTEM_CLOCK.now();
}

interface AgoProps {
  /** Unix ms; if null, `never` is shown. */
  readonly at: number | null | undefined;
  readonly never?: string;
}

/** A relative time, with the exact time in its title. */
export function Ago({ at, never = 'never' }: AgoProps) {
  const tick = useCell(now);
  if (at === null || at === undefined) return <span class="soft">{never}</span>;
  // The clock ticks every 5 s: what was since the last tick must not appear to be in the future,
  // nor what is to come further away than it is.
  const seen = Math.max(tick, Math.min(at, SYSTEM_CLOCK.now()));
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDate(at)}>
      {formatAgo(at, seen)}
    </time>
  );
}
