/** Many jobs of one member at a time: canceled, retried, counted. */
import { ENDPOINT_KEYS, ENDPOINTS, INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { isFinished, JOB_STATUSES, nextStatus } from '../../core/jobs/job.js';
import type { JobStatus } from '../../core/jobs/job.js';
import type { JobFilter } from '../../store/port.js';
import type { AdminContext } from '../operation.js';

/** Jobs that one command reads: the next command continues after the last of them. */
const MAX_BULK_JOBS = 1_000;

/** A search reads so many jobs of each status for a command, and the next one those after them. */
const MAX_SEARCHED_JOBS = 10_000;

/** Each is a transaction of its own; more at a time would occupy every connection. */
const MAX_AT_ONCE = 8;

/** Counted up to this many of each status. */
const MAX_COUNTED = 10_000;

const ID_CHARACTERS = 26;
const MAX_MODEL_CHARACTERS = 256;
const MAX_SEARCH_CHARACTERS = 100;
const model = z.string().min(1).max(MAX_MODEL_CHARACTERS).nullable();

/** The filters of the list of jobs; null: any. */
export const jobFilter = z.strictObject({
  status: z.enum(JOB_STATUSES).nullable(),
  type: z.enum(INFERENCE_TYPES).nullable(),
  /** A part of the id of its model or of its alias. */
  model,
  model_id: model,
  /** A part of its names or of its model. */
  search: z.string().min(1).max(MAX_SEARCH_CHARACTERS).nullable(),
  /** The id of a batch, or `none`. */
  batch: z.string().min(1).max(ID_CHARACTERS).nullable(),
});

type Where = z.output<typeof jobFilter>;

export const chosenJobs = z
  .strictObject({
    /** Their ids; null: those that `where` selects. */
    jobs: z.array(z.string().max(ID_CHARACTERS)).min(1).max(MAX_BULK_JOBS).nullable(),
    where: jobFilter.nullable(),
    /** Continues after this id, which the answer before it named. */
    after: z.string().max(ID_CHARACTERS).nullable(),
  })
  .refine(({ jobs, where }) => (jobs === null) !== (where === null), {
    message: 'choose jobs by their ids (jobs) or by filters (where), not by both',
    path: ['jobs'],
  });

type Chosen = z.output<typeof chosenJobs>;

export interface BulkOutcome {
  /** How many jobs were changed. */
  readonly changed: number;
  /** How many were not: they have ended, or have not, or are not the member's. */
  readonly unchanged: number;
  /** `after` of the next command; null if every job was reached. */
  readonly next: string | null;
  /** Why it stopped before the end; null if it did not. */
  readonly stopped: string | null;
}

const CANCELABLE = JOB_STATUSES.filter((status) => !isFinished(status));
const RETRYABLE = JOB_STATUSES.filter((status) => nextStatus(status, 'retry') !== null);

/** Cancels a page of the chosen jobs; those of others count as unchanged. */
export function cancelJobs(
  context: AdminContext,
  memberId: string,
  chosen: Chosen,
): Promise<BulkOutcome> {
  return changeJobs(context, memberId, {
    ...chosen,
    statuses: CANCELABLE,
    atOnce: MAX_AT_ONCE,
    change: async (id) => (await context.jobActions.cancel(id, memberId)).kind === 'canceled',
  });
}

/** The same with a retry, one after the other, so that the jobs keep their order. */
export function retryJobs(
  context: AdminContext,
  memberId: string,
  chosen: Chosen,
): Promise<BulkOutcome> {
  return changeJobs(context, memberId, {
    ...chosen,
    statuses: RETRYABLE,
    atOnce: 1,
    change: async (id) => {
      const { kind } = await context.jobActions.retry(id, memberId);
      return kind === 'queue_full' ? kind : kind === 'queued';
    },
  });
}

const QUEUE_FULL = 'Your queue is full. Wait until some jobs have ended, or cancel some.';

interface Bulk extends Chosen {
  /** Of the jobs that can be changed. */
  readonly statuses: readonly JobStatus[];
  readonly atOnce: number;
  /** Whether it was changed, or that no other can be. */
  readonly change: (id: string) => Promise<boolean | 'queue_full'>;
}

async function changeJobs(
  { store }: AdminContext,
  memberId: string,
  bulk: Bulk,
): Promise<BulkOutcome> {
  const { ids, until } = await chosenIds(store, memberId, bulk);
  const page = ids.slice(0, MAX_BULK_JOBS);
  const left = [...page];
  const outcome = { changed: 0, unchanged: 0, stopped: null as string | null };
  const work = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && outcome.stopped === null; id = left.shift()) {
      const isChanged = await bulk.change(id);
      if (isChanged === 'queue_full') outcome.stopped = QUEUE_FULL;
      else outcome[isChanged ? 'changed' : 'unchanged'] += 1;
    }
  };
  await Promise.all(Array.from({ length: bulk.atOnce }, work));
  const next = ids.length > MAX_BULK_JOBS ? (page.at(-1) ?? null) : until;
  return { ...outcome, next: outcome.stopped === null ? next : null };
}

interface ChosenIds {
  /** In order of age, one more than a command changes if there are more. */
  readonly ids: readonly string[];
  /** Where the search has ended, if it has not read them all. */
  readonly until: string | null;
}

async function chosenIds(
  store: AdminContext['store'],
  memberId: string,
  { jobs, where, after, statuses }: Bulk,
): Promise<ChosenIds> {
  if (jobs !== null) return { ids: [...new Set(jobs)].toSorted(), until: null };
  const wanted = statuses.filter((status) => isWanted(where, status));
  const filter = { ...filterOf(memberId, where), statuses: wanted, after };
  const query = { ...filter, memberId, order: 'asc', limit: MAX_BULK_JOBS + 1 } as const;
  const until = query.search === null ? null : await store.searchEnd(query, MAX_SEARCHED_JOBS);
  const found = await store.listJobs({ ...query, until });
  return { ids: found.map(({ id }) => id), until };
}

function isWanted(where: Where | null, status: JobStatus): boolean {
  return where === null || where.status === null || where.status === status;
}

function filterOf(memberId: string, where: Where | null): JobFilter {
  const type = where?.type ?? null;
  const isOf = (key: (typeof ENDPOINT_KEYS)[number]) => ENDPOINTS[key].inferenceType === type;
  return {
    memberId,
    endpoints: type === null ? null : ENDPOINT_KEYS.filter(isOf),
    model: where?.model ?? null,
    modelId: where?.model_id ?? null,
    search: where?.search ?? null,
    batch: where?.batch ?? null,
  };
}

/** How many jobs a cancel and a retry of these would change. */
export async function countJobs({ store }: AdminContext, memberId: string, where: Where) {
  const wanted = [...CANCELABLE, ...RETRYABLE].filter((status) => isWanted(where, status));
  const filter = filterOf(memberId, where);
  const query = { ...filter, memberId, statuses: wanted, order: 'desc', ...FIRST } as const;
  const until = filter.search === null ? null : await store.searchEnd(query, MAX_SEARCHED_JOBS);
  const counts = await store.countJobs({ ...filter, until }, wanted, MAX_COUNTED);
  const sumOf = (statuses: readonly JobStatus[]) =>
    statuses.reduce((sum, status) => sum + (counts.get(status) ?? 0), 0);
  return {
    cancelable: sumOf(CANCELABLE),
    retryable: sumOf(RETRYABLE),
    /** Some status has this many or more, or not all jobs were searched. */
    is_capped: until !== null || [...counts.values()].some((count) => count >= MAX_COUNTED),
  };
}

const FIRST = { after: null, limit: 1 } as const;
