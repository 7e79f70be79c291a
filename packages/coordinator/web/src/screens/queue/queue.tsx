import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { isAdmin } from '../../api/session.js';
import { Page } from '../../ui/page.js';
import { FaultState, Loading } from '../../ui/table/states.js';
import { Banner } from '../../ui/dialog/banner.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Tile } from '../../ui/figures/tile.js';
import './queue.css';
import { ModelQueues, formatWait } from './model-queues.js';
import { MyQueue } from './job-groups.js';
import { PauseButton } from './pause-button.js';

/** Often open on a second screen: the figures are large enough to be read from two metres. */
export function Queue() {
  const { data, fault, staleSince, refresh } = useSnapshot<QueueSummary>(QUEUE, {
    topics: ['queue', 'jobs', 'providers'],
  });
  const actions = data !== undefined && isAdmin() && data.async_enabled && (
    <PauseButton isPaused={data.paused} onDone={refresh} />
  );
  return (
    <Page title="Queue" staleSince={staleSince} {...(actions && { actions })}>
      {data === undefined && fault !== null ? (
        <FaultState fault={fault} onRetry={() => void refresh()} />
      ) : (
        <>
          {data !== undefined && <QueueBanners summary={data} />}
          <QueueFigures summary={data} />
          {data === undefined ? <Loading /> : <QueueTables summary={data} onChange={refresh} />}
        </>
      )}
    </Page>
  );
}

interface QueueTablesProps {
  readonly summary: QueueSummary;
  readonly onChange: () => Promise<void>;
}

function QueueTables({ summary, onChange }: QueueTablesProps) {
  return (
    <>
      <TypeQueues models={summary.by_model} />
      <ModelQueues models={summary.by_model} />
      <MyQueue summary={summary} onChange={onChange} />
    </>
  );
}

/** Reasons why no job is run. */
function QueueBanners({ summary }: { readonly summary: QueueSummary }) {
  const { async_enabled: isEnabled, worker_stalled: isStalled, paused } = summary;
  if (!isEnabled) return <Banner mood="warn" text={DISABLED} />;
  return (
    <>
      {paused && <Banner mood="warn" text={isAdmin() ? PAUSED_ADMIN : PAUSED} />}
      {isStalled && <Banner mood="bad" text={STALLED} />}
    </>
  );
}

const DISABLED =
  'Jobs and batches are switched off on this gateway. Calls without async still work.';

const GOES_ON = 'Running jobs continue, waiting jobs keep their place, and new jobs are accepted.';

const PAUSED = `An admin has paused the queue. ${GOES_ON}`;

const PAUSED_ADMIN = `The queue is paused. ${GOES_ON} Resume it when you are ready.`;

const STALLED =
  'Jobs are queued, but the coordinator has not started one for a minute. An admin should ' +
  'look at its log and restart it; nothing is lost.';

/** Four figures of the queue. Their space is reserved until the summary has loaded. */
function QueueFigures({ summary }: { readonly summary: QueueSummary | undefined }) {
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
        figure={summary && <Figure text={waitS === null ? '–' : formatWait(waitS)} />}
        note={summary && (waitS === null ? 'nothing waits' : 'since it was queued')}
      />
      <Tile
        label="Free slots"
        figure={summary && <Figure text={freeOf(summary)} />}
        note={summary && `on ${plural(summary.capacity.providers_online, 'provider')} online`}
      />
    </div>
  );
}

/** Its numbers are large, its words are not. */
function Figure({ text }: { readonly text: string }) {
  const parts = text.split(/([a-z]+)/);
  return (
    <>{parts.map((part, index) => (index % 2 === 1 ? <small key={part}>{part}</small> : part))}</>
  );
}

function freeOf({ capacity }: QueueSummary): string {
  return `${formatCount(capacity.free_slots)} of ${formatCount(capacity.slots)}`;
}

type ModelQueue = QueueSummary['by_model'][number];

interface TypeQueue {
  readonly type: string;
  readonly queued: number;
  readonly running: number;
}

/** One line: each type that has models, the busiest first. */
function TypeQueues({ models }: { readonly models: readonly ModelQueue[] }) {
  if (models.length === 0) return null;
  return (
    <ul class="type-queues" aria-label="Queue by type">
      {sumByType(models).map(({ type, queued, running }) => (
        <li key={type}>
          <strong>{typeLabel(type)}</strong>{' '}
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
