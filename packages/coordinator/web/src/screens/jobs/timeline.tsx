import type { JobDetail } from '../../api/jobs.js';
import { formatMs } from '../../ui/text/format.js';
import { Told } from '../../ui/text/told.js';
import { Timeline } from '../../ui/work/timeline.js';
import type { Moment } from '../../ui/work/timeline.js';
import type { FailedAttempt, JobFacts } from './job-facts.js';

interface JobTimelineProps {
  readonly job: JobDetail;
  readonly facts: JobFacts | undefined;
}

/** The events of a job, and what it waits for. */
export function JobTimeline({ job, facts }: JobTimelineProps) {
  return <Timeline moments={momentsOf(job, facts)} />;
}

function momentsOf(job: JobDetail, facts: JobFacts | undefined): readonly Moment[] {
  const createdAt = job.created * 1_000;
  const queuedAt = Date.parse(job.queued_at);
  const isRetried = (facts?.generation ?? 1) > 1;
  const started = startedOf(job, facts);
  const finished = finishedOf(job);
  return [
    ...(isRetried
      ? [{ key: 'created', mood: 'past', title: 'Submitted', at: createdAt } as const]
      : []),
    queuedOf(job, { at: queuedAt, isRetried }),
    ...(facts?.failed_attempts ?? []).map(failedOf),
    ...(started === null ? [] : [started]),
    ...(finished === null ? [] : [finished]),
  ];
}

function queuedOf(
  job: JobDetail,
  { at, isRetried }: { readonly at: number; readonly isRetried: boolean },
): Moment {
  const title = isRetried ? 'Retried, queued again' : 'Queued';
  const place = job.position === null || job.position === undefined ? '' : ` #${job.position}`;
  if (job.status !== 'QUEUED') return { key: 'queued', mood: 'past', title, at };
  const note = <Told text={job.waiting_reason} />;
  return { key: 'queued', mood: 'now', title: `${title}${place}`, at, note };
}

/** A failed attempt. */
function failedOf(failure: FailedAttempt): Moment {
  const { attempt, provider, started_at: from, failed_at: at, error } = failure;
  const tookMs = from === null ? null : Math.max(0, at - from);
  const where = [
    ...(provider === null ? [] : [`by ${provider}`]),
    ...(tookMs === null ? [] : [`after ${formatMs(tookMs)}`]),
  ].join(', ');
  const note = <Told text={where === '' ? error.message : `${where}: ${error.message}`} />;
  return { key: `failed ${at}`, mood: 'bad', title: `Attempt ${attempt} failed`, at, note };
}

/** The last claim. Null while the job is queued: a failed attempt has its own entry. */
function startedOf(job: JobDetail, facts: JobFacts | undefined): Moment | null {
  if (job.started_at === null || job.status === 'QUEUED') return null;
  const at = Date.parse(job.started_at);
  const isNow = job.status === 'PROCESSING';
  const attempt = job.attempts > 1 ? `Attempt ${job.attempts} of ${job.max_attempts}` : 'Claimed';
  const provider = facts?.provider ?? null;
  const title = isNow ? `${attempt}, running` : attempt;
  const waitedMs = Math.max(0, at - Date.parse(job.queued_at));
  const waited = `after ${formatMs(waitedMs)} in the queue`;
  const note = provider === null ? waited : `by ${provider}, ${waited}`;
  return { key: 'started', mood: isNow ? 'now' : 'past', title, at, note };
}

const ENDS = {
  PROCESSED: { mood: 'good', title: 'Done' },
  FAILED: { mood: 'bad', title: 'Failed' },
  CANCELED: { mood: 'past', title: 'Canceled' },
} as const;

function finishedOf(job: JobDetail): Moment | null {
  const { status, finished_at: finished, started_at: started } = job;
  if (finished === null || status === 'QUEUED' || status === 'PROCESSING') return null;
  const at = Date.parse(finished);
  const tookMs = started === null ? null : Math.max(0, at - Date.parse(started));
  const note = tookMs === null ? null : `after ${formatMs(tookMs)} on the GPU`;
  return { key: 'finished', ...ENDS[status], at, note };
}
