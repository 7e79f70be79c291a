import type { QueueSummary } from '../../api/jobs.js';
import { formatCount } from '../../ui/text/format.js';

type ModelQueue = QueueSummary['by_model'][number];

interface TypeQueue {
  readonly type: string;
  readonly queued: number;
  readonly running: number;
}

/** What a type is called where people read. */
const NAMES: Readonly<Record<string, string>> = {
  llm: 'Text',
  stt: 'Transcription',
  image: 'Pictures',
  tts: 'Speech',
  video: 'Video',
  music: 'Music',
};

/** One line: each type that there is a model of, the busiest first. */
export function TypeQueues({ models }: { readonly models: readonly ModelQueue[] }) {
  if (models.length === 0) return null;
  return (
    <ul class="type-queues" aria-label="Queue by type">
      {sumByType(models).map(({ type, queued, running }) => (
        <li key={type}>
          <strong>{NAMES[type] ?? type}</strong>{' '}
          <span class={queued + running === 0 ? 'soft' : ''}>
            {queued + running === 0
              ? 'idle'
              : `${formatCount(queued)} queued, ${formatCount(running)} running`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function sumByType(models: readonly ModelQueue[]): readonly TypeQueue[] {
  const sums = new Map<string, TypeQueue>();
  for (const { service_type: type, queued, running } of models) {
    const sum = sums.get(type) ?? { type, queued: 0, running: 0 };
    sums.set(type, { type, queued: sum.queued + queued, running: sum.running + running });
  }
  return [...sums.values()].toSorted((a, b) => b.queued - a.queued || b.running - a.running);
}
