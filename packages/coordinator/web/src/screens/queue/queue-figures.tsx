import type { QueueSummary } from '../../api/jobs.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { formatWait } from './model-queues.js';

/** What is going on, in four figures. Without a summary yet their places are kept. */
export function QueueFigures({ summary }: { readonly summary: QueueSummary | undefined }) {
  const waitS = summary?.oldest_queued_seconds ?? null;
  return (
    <div class="tiles queue-figures">
      <Tile
        label="Running"
        figure={summary && formatCount(summary.processing)}
        note={summary && 'your jobs on a GPU now'}
      />
      <Tile
        label="Queued"
        figure={summary && formatCount(summary.queued)}
        note={summary && (summary.queued === 0 ? 'nothing waits' : 'your jobs that wait')}
      />
      <Tile
        label="Oldest wait"
        figure={summary && (waitS === null ? '–' : formatWait(waitS))}
        note={summary && (waitS === null ? 'nothing waits' : 'since it was queued')}
      />
      <Tile
        label="Free slots"
        figure={summary && freeOf(summary)}
        note={summary && `on ${plural(summary.capacity.providers_online, 'provider')} online`}
      />
    </div>
  );
}

function freeOf({ capacity }: QueueSummary): string {
  return `${formatCount(capacity.free_slots)} of ${formatCount(capacity.slots)}`;
}
