import type { MyResult } from '../../api/commands.js';

/** Data of a job beside the API. */
export type JobFacts = MyResult<'job.facts'>;
export type FailedAttempt = JobFacts['failed_attempts'][number];
