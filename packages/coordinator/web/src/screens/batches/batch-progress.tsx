import type { BatchShown } from '../../api/jobs.js';
import { formatCount } from '../../ui/text/format.js';

const PARTS = [
  ['processed', 'done'],
  ['failed', 'failed'],
  ['canceled', 'canceled'],
  ['processing', 'running'],
  ['queued', 'queued'],
] as const;

interface BatchProgressProps {
  readonly batch: BatchShown;
  /** With the numbers below the bar. */
  readonly withLegend?: boolean;
}

/** A bar with one coloured part per status of its jobs. */
export function BatchProgress({ batch, withLegend = false }: BatchProgressProps) {
  const parts = PARTS.filter(([name]) => batch[name] > 0);
  const label = parts.map(([name, word]) => `${formatCount(batch[name])} ${word}`).join(', ');
  return (
    <div class={`batch-progress${withLegend ? ' large' : ''}`}>
      <div class="bar" role="img" aria-label={label} title={label}>
        {parts.map(([name]) => (
          <span key={name} class={name} style={{ flexGrow: batch[name] }} />
        ))}
      </div>
      {withLegend && (
        <ul>
          {PARTS.map(([name, word]) => (
            <li key={name} class={batch[name] === 0 ? 'soft' : ''}>
              <span class={`dot ${name}`} />
              {formatCount(batch[name])} {word}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
