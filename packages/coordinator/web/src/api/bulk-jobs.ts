/** Many of one's own jobs at a time: canceled or retried by commands of a limited size. */
import type { BulkOutcome } from '../../../src/operations/my/bulk-jobs.js';
import { my, readMy } from './commands.js';
import type { MyArgs, MyResult } from './commands.js';

/** Filters of the list of jobs; null: any. */
export type JobFilters = MyArgs<'jobs.count'>['where'];

export const EVERY_JOB: JobFilters = {
  status: null,
  type: null,
  model: null,
  model_id: null,
  search: null,
  batch: null,
};

export type BulkVerb = 'cancel' | 'retry';

/** Jobs by their ids, or all that fit the filters. */
export type ChosenJobs = { readonly ids: readonly string[] } | { readonly where: JobFilters };

/** Of all commands together. */
export type BulkResult = Omit<BulkOutcome, 'next'>;

/** The coordinator's limit of one command. */
const MAX_IDS = 1_000;

/** Each changes up to 1,000 jobs. */
const MAX_COMMANDS = 60;

const TOO_MANY = 'There are more. Do it again for the rest.';

/** `onProgress` gets the number of changed jobs after each command. Throws a `Fault`. */
export async function changeJobs(
  verb: BulkVerb,
  chosen: ChosenJobs,
  onProgress: (changed: number) => void = () => {},
): Promise<BulkResult> {
  const sum = { changed: 0, unchanged: 0 };
  let args: MyArgs<'jobs.cancel'> | null = firstOf(chosen);
  for (let nth = 0; args !== null; nth++) {
    if (nth === MAX_COMMANDS) return { ...sum, stopped: TOO_MANY };
    const part: MyResult<'jobs.cancel'> = await my(`jobs.${verb}`, args);
    sum.changed += part.changed;
    sum.unchanged += part.unchanged;
    onProgress(sum.changed);
    if (part.stopped !== null) return { ...sum, stopped: part.stopped };
    args = part.next === null ? null : { ...args, after: part.next };
  }
  return { ...sum, stopped: null };
}

function firstOf(chosen: ChosenJobs): MyArgs<'jobs.cancel'> {
  if ('where' in chosen) return { jobs: null, where: chosen.where, after: null };
  // Lists show fewer rows than that.
  return { jobs: chosen.ids.slice(0, MAX_IDS), where: null, after: null };
}

export function countJobs(where: JobFilters): Promise<MyResult<'jobs.count'>> {
  return readMy('jobs.count', { where });
}
