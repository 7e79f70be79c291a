/** What a webhook tells: the job or the batch, as the API would show it to its caller. */
import { batchStatus, isFinished } from '../../core/jobs/job.js';
import type { BatchDetail, JobDetail, JobStore, WebhookDelivery } from '../../store/port.js';

/** As JSON; null where there is nothing to tell any more. */
export type Describe = (delivery: WebhookDelivery) => Promise<string | null>;

/** How the API writes them. */
export interface SubjectPresentation {
  readonly job: (detail: JobDetail) => string;
  readonly batch: (detail: BatchDetail) => string;
}

/**
 * A job that was retried meanwhile has not ended: it is told of when it ends again, by a message of
 * its own.
 */
export function describeSubject(
  store: Pick<JobStore, 'findJob' | 'findBatch'>,
  present: SubjectPresentation,
): Describe {
  return async ({ subject, subjectId, memberId }) => {
    if (subject === 'job') {
      const found = await store.findJob(subjectId, memberId);
      return found !== null && isFinished(found.job.status) ? present.job(found) : null;
    }
    const found = await store.findBatch(subjectId, memberId);
    const isDone = found !== null && batchStatus(found.batch.counts) === 'DONE';
    return isDone ? present.batch(found) : null;
  };
}
