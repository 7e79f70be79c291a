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
import { Told } from '../../ui/text/told.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { CopyText } from '../../ui/button/copy.js';
import { Facts } from '../../ui/text/facts.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Icon } from '../../ui/button/icon.js';
import { workName } from '../../ui/work/work-name.js';
import type { JobFacts } from './job-facts.js';
import { JobRequest } from './job-request.js';
import { JobResult } from './job-result.js';
import { JobTimeline } from './timeline.js';
import './jobs.css';

const LIVE_EVERY_MS = 2_000;

/** A finished job changes only if it is retried elsewhere, so it is polled less often. */
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
    <Page
      title="Job"
      heading={<JobHeading job={data} />}
      staleSince={job.staleSince}
      actions={actions}
    >
      <JobView job={data} facts={facts.data} />
    </Page>
  );
}

/** Its name in a few lines; the facts beside the result have its model. */
function JobHeading({ job }: { readonly job: JobDetail }) {
  return (
    <span class="job-name" dir="auto">
      <span class="unseen">Job: </span>
      {workName(job)}
    </span>
  );
}

const GONE = 'Finished jobs are deleted after the retention time.';

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
    toast(canceled ? 'Canceled.' : `It had already ended: ${status}.`);
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

interface JobViewProps {
  readonly job: JobDetail;
  /** Undefined until they are known. */
  readonly facts: JobFacts | undefined;
}

function JobView({ job, facts }: JobViewProps) {
  return (
    <div class="job-columns">
      <div>
        {job.error !== null && <JobError error={job.error} />}
        <JobResult job={job} />
        <JobRequest job={job} facts={facts} />
      </div>
      <div>
        <section class="card job-about">
          <h2 class="unseen">About it</h2>
          <Facts rows={factsOf(job, facts)} />
        </section>
        <section class="card">
          <h2>Timeline</h2>
          <JobTimeline job={job} facts={facts} />
        </section>
      </div>
    </div>
  );
}

function factsOf(job: JobDetail, facts: JobFacts | undefined) {
  const { batch_id: batchId } = job;
  return [
    ['Status', <StatusBadge status={job.status} />],
    ['Id', <CopyText text={job.id} label="Copy the id" />],
    ['Model', <span class="mono">{job.model}</span>],
    ['Served model', job.served_model ? <span class="mono">{job.served_model}</span> : null],
    ['Endpoint', <span class="mono">{job.endpoint}</span>],
    [
      'Type',
      <span title={`${job.inference_type} in the API`}>{typeLabel(job.inference_type)}</span>,
    ],
    ['Provider', facts?.provider ?? null],
    ['Attempts', `${job.attempts} of ${job.max_attempts}`],
    [
      'Batch',
      batchId === null ? null : <a href={`/batches/${batchId}`}>{job.batch_label ?? batchId}</a>,
    ],
    ['Custom id', job.custom_id ?? null],
    ['Request id', facts && <RequestId job={job} facts={facts} />],
  ] as const;
}

/** The last run of a job that has ended has a page in Usage. */
function RequestId({ job, facts }: { readonly job: JobDetail; readonly facts: JobFacts }) {
  const { request_id: id, generation } = facts;
  const page = isActive(job) ? {} : { href: `/usage/${job.id}.${generation}` };
  return <CopyText text={id} label="Copy the request id" {...page} />;
}

type Failure = NonNullable<JobDetail['error']>;

/** Why the job failed, and what to do about it. */
function JobError({ error }: { readonly error: Failure }) {
  const step = STEPS[error.code ?? ''] ?? OTHERWISE;
  return (
    <section class="card">
      <h2 class="row bad">
        <Icon name="circle-x" />
        Failed
        <span class="mono small">{error.code}</span>
      </h2>
      <p>
        <Told text={error.message} />
      </p>
      <p class="row soft">
        <span>{step.text}</span>
        {step.href !== undefined && (
          <LinkButton small href={step.href}>
            {step.link}
          </LinkButton>
        )}
      </p>
    </section>
  );
}

interface Step {
  readonly text: string;
  readonly href?: string;
  readonly link?: string;
}

const OTHERWISE: Step = { text: 'Retry runs the same request once more.' };

const ABSENT: Step = {
  text: 'Retry when somebody who shares this model with you is online.',
  href: '/providers',
  link: 'Go to Providers',
};

const ASK_ANEW: Step = {
  text: 'A retry would be refused in the same way: change the request and submit it again.',
};

const LOCAL: Step = {
  text: 'The model server at the provider failed. Look at it if it is yours, then retry.',
  href: '/providers',
  link: 'Go to Providers',
};

const STEPS: Readonly<Record<string, Step>> = {
  no_provider: ABSENT,
  model_offline: ABSENT,
  model_not_found: ABSENT,
  context_length_exceeded: ASK_ANEW,
  provider_rejected: ASK_ANEW,
  provider_error: LOCAL,
  provider_timeout: LOCAL,
  provider_auth_failed: LOCAL,
  max_retries_exhausted: LOCAL,
  storage_full: {
    text: 'Delete files that you do not need any more, then retry.',
    href: '/library',
    link: 'Go to Library',
  },
};
