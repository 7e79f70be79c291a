import type { Database } from 'better-sqlite3';
import type { EndOutcome, ExpireRequest, ModelQueue } from '../../port.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { JOB_COLUMNS, parseLaneHeadKey } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import type { Operations } from '../engine/operations.js';
import { jobTransitions } from './transitions.js';

type QueueOperations = Pick<
  Operations,
  'ripenJobs' | 'expireJobs' | 'requeueStuck' | 'modelQueues' | 'isQueuePaused' | 'setQueuePaused'
>;

/** A condition in SQL: true while the queue is paused. */
export const QUEUE_PAUSED =
  "exists (select 1 from switches where name = 'queue_paused' and is_on = 1)";

export function queueOperations(database: Database, trail: AuditTrail): QueueOperations {
  const isPaused = database.prepare<[], 0 | 1>(`select ${QUEUE_PAUSED}`).pluck();
  const setPaused = database.prepare<{ isOn: 0 | 1 }>(
    `insert into switches (name, is_on) values ('queue_paused', @isOn)
     on conflict do update set is_on = excluded.is_on`,
  );
  return {
    ripenJobs: ripener(database),
    expireJobs: expirer(database),
    requeueStuck: unsticker(database),
    modelQueues: queueReader(database),
    isQueuePaused: () => isPaused.get() === 1,
    setQueuePaused: (paused) => {
      if ((isPaused.get() === 1) === paused) return;
      setPaused.run({ isOn: paused ? 1 : 0 });
      const action = paused ? 'queue.pause' : 'queue.resume';
      trail.record({ action, subject: QUEUE, before: { paused: !paused }, after: { paused } });
    },
  };
}

const QUEUE = { kind: 'queue', id: 'queue', name: 'queue' };

/** The rest follows with the next call, so that other operations wait only some milliseconds. */
const MAX_RIPENED = 1_000;

function ripener(database: Database): (now: number) => number | null {
  const release = database.prepare<{ now: number; limit: number }>(
    `update jobs set not_before = null where id in (
       select id from jobs indexed by jobs_not_before
       where status = 'QUEUED' and not_before <= @now
       order by not_before limit @limit)`,
  );
  const excluded = database.prepare<{ now: number; limit: number }, JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_excluded
     where status = 'QUEUED' and excluded_until <= @now
     order by excluded_until limit @limit`,
  );
  const { readmit } = jobTransitions(database);
  const nextAt = database
    .prepare<[], number | null>(
      `select min(at) from (
         select min(not_before) as at from jobs indexed by jobs_not_before
         where status = 'QUEUED' and not_before is not null
         union all
         select min(excluded_until) from jobs indexed by jobs_excluded
         where status = 'QUEUED' and excluded_until is not null)`,
    )
    .pluck();
  return (now) => {
    release.run({ now, limit: MAX_RIPENED });
    for (const row of excluded.all({ now, limit: MAX_RIPENED })) readmit(row);
    return nextAt.get() ?? null;
  };
}

function unsticker(database: Database): (now: number) => number {
  const held = database.prepare<[], JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_held where status = 'QUEUED'
       and (not_before is not null or excluded_until is not null or avoided <> '[]')`,
  );
  const { unstick } = jobTransitions(database);
  return () => {
    const rows = held.all();
    for (const row of rows) unstick(row);
    return rows.length;
  };
}

function expirer(database: Database): (request: ExpireRequest, now: number) => EndOutcome[] {
  const late = database.prepare<object, JobRow>(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_runnable
     where status = 'QUEUED' and not_before is null
       and service_type = @service_type and model = @model and lane = @lane
       and queued_at <= @queuedBefore
     order by fair_key, id limit @limit`,
  );
  const { end } = jobTransitions(database);
  return ({ laneKey, error, queuedBefore, limit }, now) =>
    late
      .all({ ...parseLaneHeadKey(laneKey), queuedBefore, limit })
      .map((row) => end(row, { event: 'expire', error }, { now, random: 0 }));
}

/** From counts maintained by triggers, and one index lookup per model for the oldest job. */
const MODEL_QUEUES = `select service_type as serviceType, model,
    sum(queued) as queued, sum(processing) as processing,
    min((
      select min(queued_at) from jobs j indexed by jobs_waiting where j.status = 'QUEUED'
        and j.service_type = c.service_type and j.model = c.model and j.member_id = c.member_id
    )) as oldestQueuedAt
  from queue_counts c where @memberId is null or member_id = @memberId
  group by service_type, model`;

/** The counters are those of members: for one key, its jobs are counted. */
const KEY_QUEUES = `select service_type as serviceType, model,
    count(*) filter (where status = 'QUEUED') as queued,
    count(*) filter (where status = 'PROCESSING') as processing,
    min(queued_at) filter (where status = 'QUEUED') as oldestQueuedAt
  from jobs where member_id = @memberId and status in ('QUEUED', 'PROCESSING')
    and key_id = @keyId
  group by service_type, model`;

function queueReader(database: Database): Operations['modelQueues'] {
  const read = database.prepare<{ memberId: string | null }, ModelQueue>(MODEL_QUEUES);
  const ofKey = database.prepare<object, ModelQueue>(KEY_QUEUES);
  return (memberId, keyId = null) =>
    keyId === null ? read.all({ memberId }) : ofKey.all({ memberId, keyId });
}
