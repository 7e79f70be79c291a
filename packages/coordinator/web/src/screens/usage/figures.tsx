import { formatCount, formatShort } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { totalOf } from './usage-data.js';
import type { Point } from './usage-data.js';

/** The sums of all periods. Undefined while they load: their space is reserved. */
export function Figures({ points }: { readonly points: readonly Point[] | undefined }) {
  const total = points && totalOf(points);
  return (
    <div class="tiles">
      <Tile label="Requests" figure={total && formatCount(total.requests)} />
      <Tile label="Errors" figure={total && formatCount(total.failed)} />
      <Tile label="Tokens in" figure={total && formatShort(total.prompt_tokens)} />
      <Tile label="Tokens out" figure={total && formatShort(total.completion_tokens)} />
      <Tile label="Audio" figure={total && timeText(total.audio_ms)} />
      <Tile label="Images" figure={total && formatCount(total.images)} />
    </div>
  );
}

const UNITS = [
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** `1.3 h`, `3.9 min`, `12 s`: short enough for a tile. */
function timeText(ms: number): string {
  const found = UNITS.find(([unitMs]) => ms >= unitMs);
  if (found === undefined) return `${Math.round(ms / 1_000)} s`;
  const [unitMs, unit] = found;
  const amount = ms / unitMs;
  return `${amount.toFixed(amount < 100 ? 1 : 0)} ${unit}`;
}
