import { nextStatus } from '../../../core/jobs/job.js';
import type { LaneHead, QueuedJob } from '../../../core/jobs/lane.js';
import type { DispatchStore, Finish, FinishOutcome } from '../../port.js';
import { writeAssets } from '../assets/assets.js';
import type { Operations } from '../operations.js';
import { statement, together, withList } from '../statement.js';
import type { Operation } from '../statement.js';
import { claimOperations } from './claims.js';
import { concludeJobs } from './job-end.js';
import { JOB_COLUMNS, laneHeadKey, parseLane } from './job-rows.js';
import type { JobRow, LaneColumns } from './job-rows.js';
import { lostClaimOperations } from './lost-claims.js';
import { queueOperations } from './queue.js';
import { applyEvents } from './transitions.js';

const CLAIMED = `select ${JOB_COLUMNS} from jobs`;
/** On PostgreSQL locked in the order of their ids. */
const findClaimed = statement<{ claimIds: string }, JobRow>({
  sqlite: `${CLAIMED} where last_claim_id in (select value from json_each(@claimIds))`,
  postgres: `${CLAIMED}
     where last_claim_id = any (array(select value from json_each(@claimIds)))
     order by id for update`,
});

/** The operations of dispatching jobs, from several files. */
export const dispatchOperations: Pick<Operations, Exclude<keyof DispatchStore, 'createJob'>> = {
  laneHeads: readLanes,
  ...claimOperations,
  ...lostClaimOperations,
  ...queueOperations,

  *finishJob(finish, now) {
    const [outcome] = yield* finishJobs([{ finish, now }]);
    return outcome ?? STALE;
  },
};

/** The arguments of `finishJob`. */
export interface JobFinish {
  readonly finish: Finish;
  readonly now: number;
}

interface JobEnd extends JobFinish {
  readonly job: JobRow;
}

const STALE: FinishOutcome = { kind: 'stale' };

/** Several at once, of different claims. */
export function* finishJobs(finishes: readonly JobFinish[]): Operation<FinishOutcome[]> {
  const claimIds = JSON.stringify(finishes.map(({ finish }) => finish.claimId));
  const rows = yield* findClaimed.all({ claimIds });
  const byClaim = new Map(rows.map((row) => [row.last_claim_id, row]));
  const outcomes = new Map<string, FinishOutcome>();
  const ends: JobEnd[] = [];
  for (const { finish, now } of finishes) {
    const job = byClaim.get(finish.claimId);
    const refusal = refusalOf(job, finish) ?? (yield* refusedSpace(finish, job?.excerpt ?? null));
    if (refusal !== null) outcomes.set(finish.claimId, refusal);
    else if (job !== undefined) ends.push({ finish, now, job });
  }
  const ended = ends.length === 0 ? [] : yield* concludeJobs(yield* writeEnds(ends));
  for (const [i, { finish }] of ends.entries()) {
    const one = ended[i];
    if (one !== undefined) outcomes.set(finish.claimId, { kind: 'stored', ...one });
  }
  return finishes.map(({ finish }) => outcomes.get(finish.claimId) ?? STALE);
}

function refusalOf(job: JobRow | undefined, { linkId }: Finish): FinishOutcome | null {
  if (job?.status === 'PROCESSED') return { kind: 'duplicate' };
  if (job === undefined || nextStatus(job.status, 'finish') === null) return STALE;
  // A job that is queued again is held by no link: a late result of its last claim counts.
  return job.session_id === null || job.session_id === linkId ? null : STALE;
}

/**
 * Before anything else is written for the job: nothing may have changed if they do not fit. Its
 * files have the excerpt of the job.
 */
function* refusedSpace(
  { assets, assetLimits }: Finish,
  excerpt: string | null,
): Operation<FinishOutcome | null> {
  const named = assets.map((asset) => ({ ...asset, excerpt }));
  const space = yield* writeAssets(named, assetLimits);
  return space === 'created' ? null : { kind: space };
}

const insertResult = statement('insert into job_results (job_id, result) values (@jobId, @text)');
const linkAsset = statement(
  'insert into job_assets (job_id, position, asset_id) values (@jobId, @position, @assetId)',
);
const eraseBodies = statement(
  withList((isIn) => `delete from job_bodies where ${isIn('job_id', '@jobIds')}`),
);
const utf8 = new TextDecoder();

function* writeEnds(ends: readonly JobEnd[]) {
  const results = ends.flatMap(({ finish: { result }, job: { id: jobId } }) => {
    return result === null ? [] : { jobId, text: utf8.decode(result) };
  });
  const links = ends.flatMap(({ finish: { assets }, job: { id: jobId } }) => {
    return assets.map(({ id: assetId }, position) => ({ jobId, position, assetId }));
  });
  const [rows] = yield* together([
    applyEvents(
      ends.map(({ job: row, now }) => ({ row, event: FINISH, moment: { now, random: 0 } })),
    ),
    insertResult.each(results),
    linkAsset.each(links),
    eraseBodies.run({ jobIds: JSON.stringify(ends.map(({ job }) => job.id)) }),
  ]);
  return ends.map(({ finish: { assets, usage }, job, now }, i) => {
    const row = rows[i] ?? null;
    if (row === null) throw new Error(`the job ${job.id} could not be finished as ${job.status}`);
    return { row: { ...row, first_asset_id: assets[0]?.id ?? null }, now, usage };
  });
}

const FINISH = { event: 'finish' } as const;

const RUNNABLE = `from jobs indexed by jobs_runnable
  where status = 'QUEUED' and not_before is null`;

/**
 * A loose index scan: each step skips to the next lane, of the same model, else of the next model,
 * else of the next type, however many jobs are between. The cost depends on the number of lanes,
 * not of jobs. Three steps instead of one comparison of three columns, for which SQLite would read
 * all jobs of the current lane: 23 ms for 200,000. The index is named because SQLite, without
 * statistics here, would choose any other index with the status.
 */
const NEXT_LANES = [
  `select service_type, model, lane ${RUNNABLE}
     and service_type = @service_type and model = @model and lane > @lane
   order by lane limit 1`,
  `select service_type, model, lane ${RUNNABLE}
     and service_type = @service_type and model > @model
   order by model, lane limit 1`,
  `select service_type, model, lane ${RUNNABLE}
     and service_type > @service_type
   order by service_type, model, lane limit 1`,
];
const ONE_OF_THEM = NEXT_LANES.map((sql) => `select service_type, model, lane from (${sql})`);
export const NEXT_LANE = `${ONE_OF_THEM.join(' union all ')} limit 1`;

export const LANE_HEAD = `select id, key_id as "keyId", endpoint, api, fair_key as "fairKey",
    queued_at as "queuedAt", body_bytes as "bodyBytes"
  ${RUNNABLE} and service_type = @service_type and model = @model and lane = @lane
  order by fair_key, id limit @limit`;

interface Columns {
  service_type: string;
  model: string;
  lane: string;
}

/** Of one read on PostgreSQL. */
const LANES_A_READ = 256;

/** PostgreSQL takes one step in its index for all three, and reads many lanes at once. */
const nextOf = (after: string): string => `(
    select service_type, model, lane ${RUNNABLE}
      and (service_type, model, lane) > (${after})
    order by service_type, model, lane limit 1)`;
const LANES = `with recursive lanes (service_type, model, lane) as (
    ${nextOf('@service_type, @model, @lane')}
    union all
    select next.service_type, next.model, next.lane
    from lanes cross join lateral ${nextOf('lanes.service_type, lanes.model, lanes.lane')} as next)
  select service_type, model, lane from lanes limit ${LANES_A_READ}`;

const lanesAfter = statement<Columns, LaneColumns>({ sqlite: NEXT_LANE, postgres: LANES });
const head = statement<Columns & { limit: number }, QueuedJob>(LANE_HEAD);

/** A key that sorts before every lane. */
const START: Columns = { service_type: '', model: '', lane: '' };

function* readLanes(limit: number): Operation<LaneHead[]> {
  const heads: LaneHead[] = [];
  let last: Columns | undefined = START;
  while (last !== undefined) {
    // On SQLite the next one.
    const lanes: LaneColumns[] = yield* lanesAfter.all(last);
    const queued = yield* together(lanes.map((lane) => head.all({ ...lane, limit })));
    for (const [i, lane] of lanes.entries()) {
      const jobs = queued[i] ?? [];
      // On PostgreSQL another coordinator may have taken the last one meanwhile.
      if (jobs.length > 0) heads.push({ key: laneHeadKey(lane), lane: parseLane(lane), jobs });
    }
    last = lanes.at(-1);
  }
  return heads;
}
