import type { QueueSummary } from '../../api/jobs.js';
import { isAdmin } from '../../api/session.js';
import { Banner } from '../../ui/dialog/banner.js';

/** What keeps jobs from being run, whatever they are. */
export function QueueBanners({ summary }: { readonly summary: QueueSummary }) {
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
const GOES_ON = 'What runs goes on, what waits keeps its place, and new jobs are taken.';
const PAUSED = `An admin has paused the queue. ${GOES_ON}`;
const PAUSED_ADMIN = `The queue is paused. ${GOES_ON} Resume it when you are ready.`;
const STALLED =
  'Jobs are queued, but the coordinator has not handed one out for a minute. An admin should ' +
  'look at its log and restart it; nothing is lost.';
