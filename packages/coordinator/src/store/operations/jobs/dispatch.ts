import { nextStatus } from '../../../core/jobs/job.js';
import type { LaneHead, QueuedJob } from '../../../core/jobs/lane.js';
import type { DispatchStore, Finish, FinishOutcome } from '../../port.js';
import { writeAssets } from '../assets/assets.js';
import type { Operations } from '../operations.js';
import { statement } from '../statement.js';
import type { Operation } from '../statement.js';
import { claimOperations } from './claims.js';
import { concludeJob } from './job-end.js';
import { forUpdate, JOB_COLUMNS, laneHeadKey, parseLane } from './job-rows.js';
import type { JobRow, LaneColumns } from './job-rows.js';
import { lostClaimOperations } from './lost-claims.js';
import { queueOperations } from './queue.js';
import { applyEvent } from './transitions.js';

const findClaimed = statement<{ claimId: string }, JobRow>(
  forUpdate(`select ${JOB_COLUMNS} from jobs where last_claim_id = @claimId`),
);
const STALE: FinishOutcome = { kind: 'stale' };

/** The operations of dispatching jobs, from several files. */
export const dispatchOperations: Pick<Operations, Exclude<keyof DispatchStore, 'createJob'>> = {
  laneHeads: readLanes,
  ...claimOperations,
  ...lostClaimOperations,
  ...queueOperations,

  *finishJob(outcome, now) {
    const job = yield* findClaimed.get({ claimId: outcome.claimId });
    if (job?.status === 'PROCESSED') return { kind: 'duplicate' };
    if (job === undefined || nextStatus(job.status, 'finish') === null) return STALE;
    // A job that is queued again is held by no link: a late result of its last claim counts.
    if (job.session_id !== null && job.session_id !== outcome.linkId) return STALE;
    // First, because nothing may have changed if they do not fit.
    const space = yield* writeAssets(outcome.assets, outcome.assetLimits);
    if (space !== 'created') return { kind: space };
    if ((yield* applyEvent(job, { event: 'finish' }, { now, random: 0 })) === null) {
      throw new Error(`the job ${job.id} could not be finished as ${job.status}`);
    }
    yield* writeResult(job.id, outcome);
    return { kind: 'stored', ...(yield* concludeJob(job.id, now, outcome.usage)) };
  },
};

const insertResult = statement('insert into job_results (job_id, result) values (@jobId, @text)');
const linkAsset = statement(
  'insert into job_assets (job_id, position, asset_id) values (@jobId, @position, @assetId)',
);
const eraseBody = statement('delete from job_bodies where job_id = @jobId');
const utf8 = new TextDecoder();

function* writeResult(jobId: string, { result, assets }: Finish): Operation<void> {
  if (result !== null) yield* insertResult.run({ jobId, text: utf8.decode(result) });
  yield* linkAsset.each(assets.map(({ id: assetId }, position) => ({ jobId, position, assetId })));
  yield* eraseBody.run({ jobId });
}

const RUNNABLE = `from jobs indexed by jobs_runnable
  where status = 'QUEUED' and not_before is null`;

/**
 * A loose index scan: each step skips to the next lane, of the same model, else of the next model,
 * else of the next type, however many jobs are between. The cost depends on the number of lanes,
 * not of jobs. Three steps instead of one comparison of three columns, for which SQLite would read
 * all jobs of the current lane: 23 ms for 200,000. The index is named because SQLite, without
 * statistics here, would choose any other index with the status.
 */
export const NEXT_LANES = [
  `select service_type, model, lane ${RUNNABLE}
     and service_type = @service_type and model = @model and lane > @lane
   order by lane limit 1`,
  `select service_type, model, lane ${RUNNABLE}
     and service_type = @service_type and model > @model
   order by model, lane limit 1`,
  `select service_type, model, lane ${RUNNABLE}
     and service_type > @service_type
   order by service_type, model, lane limit 1`,
] as const;

export const LANE_HEAD = `select id, key_id as "keyId", endpoint, api, fair_key as "fairKey",
    queued_at as "queuedAt", body_bytes as "bodyBytes"
  ${RUNNABLE} and service_type = @service_type and model = @model and lane = @lane
  order by fair_key, id limit @limit`;

interface Columns {
  service_type: string;
  model: string;
  lane: string;
}

/** PostgreSQL takes one step in its index for all three. */
const NEXT_LANE = `select service_type, model, lane ${RUNNABLE}
    and (service_type, model, lane) > (@service_type, @model, @lane)
  order by service_type, model, lane limit 1`;

const steps = NEXT_LANES.map((sqlite) =>
  statement<Columns, LaneColumns>({ sqlite, postgres: NEXT_LANE }),
);
const head = statement<Columns & { limit: number }, QueuedJob>(LANE_HEAD);

/** A key that sorts before every lane. */
const START: Columns = { service_type: '', model: '', lane: '' };

function* readLanes(limit: number): Operation<LaneHead[]> {
  const heads: LaneHead[] = [];
  for (let row = yield* nextLane(START); row !== undefined; row = yield* nextLane(row)) {
    const jobs = yield* head.all({ ...row, limit });
    // On PostgreSQL another coordinator may have taken the last one meanwhile.
    if (jobs.length > 0) heads.push({ key: laneHeadKey(row), lane: parseLane(row), jobs });
  }
  return heads;
}

function* nextLane(after: Columns): Operation<LaneColumns | undefined> {
  for (const step of steps) {
    const row = yield* step.get(after);
    if (row !== undefined) return row;
  }
  return undefined;
}
