import type { Database } from 'better-sqlite3';
import { nextStatus } from '../../../core/jobs/job.js';
import type { LaneHead, QueuedJob } from '../../../core/jobs/lane.js';
import type { DispatchStore, Finish, FinishOutcome } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { claimOperations } from './claims.js';
import { lostClaimOperations } from './lost-claims.js';
import type { Operations } from '../engine/operations.js';
import { assetWriter } from '../assets/assets.js';
import { queueOperations } from './queue.js';
import { jobEnds } from './job-end.js';
import type { JobRow, LaneColumns } from './job-rows.js';
import { JOB_COLUMNS, laneHeadKey, parseLane } from './job-rows.js';
import { jobTransitions } from './transitions.js';

/** The operations of dispatching jobs, from several files. */
export function dispatchOperations(
  database: Database,
  trail: AuditTrail,
  nodeId: string,
): Pick<Operations, Exclude<keyof DispatchStore, 'createJob'>> {
  return {
    laneHeads: laneReader(database),
    ...claimOperations(database, nodeId),
    ...finishOperations(database),
    ...lostClaimOperations(database, nodeId),
    ...queueOperations(database, trail),
  };
}

function finishOperations(database: Database): Pick<Operations, 'finishJob'> {
  const find = database.prepare<[string], JobRow>(
    `select ${JOB_COLUMNS} from jobs where last_claim_id = ?`,
  );
  const { apply } = jobTransitions(database);
  const writeAssets = assetWriter(database);
  const writeResult = resultWriter(database);
  const { concludeJob } = jobEnds(database);
  return {
    finishJob: (outcome, now) => {
      const job = find.get(outcome.claimId);
      if (job?.status === 'PROCESSED') return { kind: 'duplicate' };
      if (job === undefined || nextStatus(job.status, 'finish') === null) return STALE;
      // A job that is queued again is held by no link: a late result of its last claim counts.
      if (job.session_id !== null && job.session_id !== outcome.linkId) return STALE;
      // First, because nothing may have changed if they do not fit.
      const space = writeAssets(outcome.assets, outcome.assetLimits);
      if (space !== 'created') return { kind: space };
      if (apply(job, { event: 'finish' }, { now, random: 0 }) === null) {
        throw new Error(`the job ${job.id} could not be finished as ${job.status}`);
      }
      writeResult(job.id, outcome);
      return { kind: 'stored', ...concludeJob(job.id, now, outcome.usage) };
    },
  };
}

const STALE: FinishOutcome = { kind: 'stale' };

function resultWriter(database: Database): (jobId: string, finish: Finish) => void {
  const insert = database.prepare<[string, string]>(
    'insert into job_results (job_id, result) values (?, ?)',
  );
  const link = database.prepare<[string, number, string]>(
    'insert into job_assets (job_id, position, asset_id) values (?, ?, ?)',
  );
  const eraseBody = database.prepare<[string]>('delete from job_bodies where job_id = ?');
  const utf8 = new TextDecoder();
  return (jobId, { result, assets }) => {
    if (result !== null) insert.run(jobId, utf8.decode(result));
    assets.forEach(({ id }, position) => link.run(jobId, position, id));
    eraseBody.run(jobId);
  };
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

export const LANE_HEAD = `select id, key_id as keyId, endpoint, api, fair_key as fairKey,
    queued_at as queuedAt, body_bytes as bodyBytes
  ${RUNNABLE} and service_type = @service_type and model = @model and lane = @lane
  order by fair_key, id limit @limit`;

interface Columns {
  service_type: string;
  model: string;
  lane: string;
}

/** A key that sorts before every lane. */
const START: Columns = { service_type: '', model: '', lane: '' };

function laneReader(database: Database): (perLane: number) => LaneHead[] {
  const steps = NEXT_LANES.map((sql) => database.prepare<Columns, LaneColumns>(sql));
  const next = (after: Columns): LaneColumns | undefined => {
    for (const step of steps) {
      const row = step.get(after);
      if (row !== undefined) return row;
    }
    return undefined;
  };
  const head = database.prepare<Columns & { limit: number }, QueuedJob>(LANE_HEAD);
  return (limit) => {
    const heads: LaneHead[] = [];
    for (let row = next(START); row !== undefined; row = next(row)) {
      const jobs = head.all({ ...row, limit });
      heads.push({ key: laneHeadKey(row), lane: parseLane(row), jobs });
    }
    return heads;
  };
}
