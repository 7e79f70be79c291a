import type { JobDetail } from '../../api/jobs.js';
import { StatusBadge } from '../../ui/figures/badge.js';
import { CopyText } from '../../ui/button/copy.js';
import { Facts } from '../../ui/text/facts.js';
import { JobError } from './job-error.js';
import type { JobFacts } from './job-facts.js';
import { JobRequest } from './job-request.js';
import { JobResult } from './job-result.js';
import { Timeline } from './timeline.js';

interface JobViewProps {
  readonly job: JobDetail;
  /** Undefined until they are known. */
  readonly facts: JobFacts | undefined;
}

export function JobView({ job, facts }: JobViewProps) {
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
          <Timeline job={job} facts={facts} />
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
    ['Endpoint', <span class="mono">{job.endpoint}</span>],
    ['Type', job.inference_type],
    ['Provider', facts?.provider ?? null],
    ['Attempts', `${job.attempts} of ${job.max_attempts}`],
    ['Batch', batchId === null ? null : <a href={`/batches/${batchId}`}>{batchId}</a>],
    ['Request id', facts && <CopyText text={facts.request_id} label="Copy the request id" />],
  ] as const;
}
