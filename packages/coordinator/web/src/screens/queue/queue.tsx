import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { isAdmin } from '../../api/session.js';
import { Page } from '../../ui/page.js';
import { FaultState, Loading } from '../../ui/table/states.js';
import './queue.css';
import { ModelQueues } from './model-queues.js';
import { MyQueue } from './my-queue.js';
import { PauseButton } from './pause-button.js';
import { QueueBanners } from './queue-banners.js';
import { QueueFigures } from './queue-figures.js';
import { TypeQueues } from './type-queues.js';

/** Left open on a second screen: the figures are read from two metres. */
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
