import type { MyResult } from '../../api/commands.js';

/** Data of a job that the API does not have. */
export type JobFacts = MyResult<'job.facts'>;
export type FailedAttempt = JobFacts['failed_attempts'][number];
