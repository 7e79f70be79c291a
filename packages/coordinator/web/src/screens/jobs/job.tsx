import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import { JOBS, cancelJob, isActive, isRetryable, retryJob } from '../../api/jobs.js';
import type { JobDetail } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { Page } from '../../ui/page.js';
import { Empty, Unanswered } from '../../ui/table/states.js';
import { toast } from '../../ui/dialog/toasts.js';
import { JobView } from './job-view.js';
import './jobs.css';

const LIVE_EVERY_MS = 2_000;
/** A finished job changes no more: it is asked for seldom, as somebody may retry it elsewhere. */
const FINISHED_EVERY_MS = 30_000;

export function Job() {
  const { params } = useRoute();
  const { path } = useLocation();
  const id = params['id'] ?? path.split('/')[2] ?? '';
  return <OneJob key={id} id={id} />;
}

function OneJob({ id }: { readonly id: string }) {
  const [everyMs, setEveryMs] = useState(LIVE_EVERY_MS);
  const options = { everyMs, topics: ['jobs', 'queue'] } as const;
  const job = useSnapshot<JobDetail>(`${JOBS}/${encodeURIComponent(id)}`, options);
  const facts = useMy('job.facts', { job: id }, options);
  const refresh = async (): Promise<void> => {
    await Promise.all([job.refresh(), facts.refresh()]);
  };
  const { data, fault } = job;
  const paceMs = data === undefined || isActive(data) ? LIVE_EVERY_MS : FINISHED_EVERY_MS;
  if (paceMs !== everyMs) setEveryMs(paceMs);
  if (data === undefined) {
    return (
      <Page title="Job">
        <Unanswered fault={fault} onRetry={() => void refresh()}>
          <Empty icon="search" title={`There is no job ${id} of yours.`} text={GONE}>
            <LinkButton href="/jobs">All jobs</LinkButton>
          </Empty>
        </Unanswered>
      </Page>
    );
  }
  const actions = <Actions job={data} onDone={refresh} />;
  return (
    <Page title="Job" staleSince={job.staleSince} actions={actions}>
      <JobView job={data} facts={facts.data} />
    </Page>
  );
}

const GONE = 'Finished jobs are deleted when they have been kept for long enough.';

interface ActionsProps {
  readonly job: JobDetail;
  readonly onDone: () => Promise<void>;
}

function Actions({ job, onDone }: ActionsProps) {
  const [isAsking, setAsking] = useState(false);
  const retry = useToastedAct(async () => {
    await retryJob(job.id);
    await onDone();
    toast('Queued again.');
  });
  const cancel = async (): Promise<void> => {
    const { canceled, status } = await cancelJob(job.id);
    await onDone();
    toast(canceled ? 'Canceled.' : `It had ended: it is ${status}.`);
  };
  return (
    <>
      <LinkButton href="/jobs" tone="quiet" icon="arrow-left">
        All jobs
      </LinkButton>
      {isRetryable(job) && (
        <Button
          tone="primary"
          icon="rotate-ccw"
          busy={retry.isBusy}
          onClick={() => void retry.run()}
        >
          Retry
        </Button>
      )}
      {isActive(job) && (
        <Button tone="danger" icon="ban" onClick={() => setAsking(true)}>
          Cancel
        </Button>
      )}
      {isAsking && (
        <Confirm
          title="Cancel this job?"
          text={job.status === 'QUEUED' ? CANCEL_QUEUED : CANCEL_RUNNING}
          verb="Cancel the job"
          action={cancel}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

const CANCEL_QUEUED = 'It loses its place in the queue. It can be retried.';
const CANCEL_RUNNING =
  'The GPU stops, and what it has done so far is lost. The job can be retried from its beginning.';
