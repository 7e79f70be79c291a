import type { EndOutcome, ModelQueue } from '../../port.js';
import { record } from '../audit/audit-trail.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import { forUpdate, JOB_COLUMNS, parseLaneHeadKey } from './job-rows.js';
import type { JobRow } from './job-rows.js';
import { endJob, readmitJob, unstickJob } from './transitions.js';

type QueueOperations = Pick<
  Operations,
  'ripenJobs' | 'expireJobs' | 'requeueStuck' | 'modelQueues' | 'isQueuePaused' | 'setQueuePaused'
>;

/** A condition in SQL: true while the queue is paused. */
export const QUEUE_PAUSED =
  "exists (select 1 from switches where name = 'queue_paused' and is_on = 1)";

const isPaused = valueOf<object, 0 | 1>(`select ${QUEUE_PAUSED}`);
const setPaused = statement<{ isOn: 0 | 1 }>(
  `insert into switches (name, is_on) values ('queue_paused', @isOn)
   on conflict (name) do update set is_on = excluded.is_on`,
);
const QUEUE = { kind: 'queue', id: 'queue', name: 'queue' };

/** The rest follows with the next call, so that other operations wait only some milliseconds. */
const MAX_RIPENED = 1_000;

const RIPE = `select id from jobs indexed by jobs_not_before
  where status = 'QUEUED' and not_before <= @now
  order by not_before limit @limit`;
const release = statement<{ now: number; limit: number }>({
  sqlite: `update jobs set not_before = null where id in (${RIPE})`,
  postgres: `update jobs set not_before = null where id in (${RIPE} for update skip locked)`,
});
const readmitted = statement<{ now: number; limit: number }, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_excluded
     where status = 'QUEUED' and excluded_until <= @now
     order by excluded_until limit @limit`,
    'skip locked',
  ),
);
const nextAt = valueOf<object, number | null>(
  `select min(at) from (
     select min(not_before) as at from jobs indexed by jobs_not_before
     where status = 'QUEUED' and not_before is not null
     union all
     select min(excluded_until) from jobs indexed by jobs_excluded
     where status = 'QUEUED' and excluded_until is not null) as ends`,
);
const held = statement<object, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_held where status = 'QUEUED'
       and (not_before is not null or excluded_until is not null or avoided <> '[]')
     order by id`,
  ),
);
const late = statement<object, JobRow>(
  forUpdate(
    `select ${JOB_COLUMNS} from jobs indexed by jobs_runnable
     where status = 'QUEUED' and not_before is null
       and service_type = @service_type and model = @model and lane = @lane
       and queued_at <= @queuedBefore
     order by fair_key, id limit @limit`,
    'skip locked',
  ),
);

/** From the counts of each member's queues, and one index lookup per model for the oldest job. */
const MODEL_QUEUES = `select service_type as "serviceType", model,
    sum(queued) as queued, sum(processing) as processing,
    min((
      select min(queued_at) from jobs j indexed by jobs_waiting where j.status = 'QUEUED'
        and j.service_type = c.service_type and j.model = c.model and j.member_id = c.member_id
    )) as "oldestQueuedAt"
  from queue_counts c where member_id = @memberId or @memberId is null
  group by service_type, model`;

/** The counters are those of members: for one key, its jobs are counted. */
const KEY_QUEUES = `select service_type as "serviceType", model,
    count(*) filter (where status = 'QUEUED') as queued,
    count(*) filter (where status = 'PROCESSING') as processing,
    min(queued_at) filter (where status = 'QUEUED') as "oldestQueuedAt"
  from jobs where member_id = @memberId and status in ('QUEUED', 'PROCESSING')
    and key_id = @keyId
  group by service_type, model`;

const queuesOf = statement<{ memberId: string | null }, ModelQueue>(MODEL_QUEUES);
const queuesOfKey = statement<object, ModelQueue>(KEY_QUEUES);

export const queueOperations: QueueOperations = {
  *ripenJobs(now) {
    yield* release.run({ now, limit: MAX_RIPENED });
    for (const row of yield* readmitted.all({ now, limit: MAX_RIPENED })) yield* readmitJob(row);
    return (yield* nextAt.get({})) ?? null;
  },

  *expireJobs({ laneKey, error, queuedBefore, limit }, now) {
    const ended: EndOutcome[] = [];
    for (const row of yield* late.all({ ...parseLaneHeadKey(laneKey), queuedBefore, limit })) {
      ended.push(yield* endJob(row, { event: 'expire', error }, { now, random: 0 }));
    }
    return ended;
  },

  *requeueStuck() {
    const rows = yield* held.all({});
    for (const row of rows) yield* unstickJob(row);
    return rows.length;
  },

  *modelQueues(memberId, keyId = null) {
    if (keyId === null) return yield* queuesOf.all({ memberId });
    return yield* queuesOfKey.all({ memberId, keyId });
  },

  *isQueuePaused() {
    return (yield* isPaused.get({})) === 1;
  },

  *setQueuePaused(paused) {
    if (((yield* isPaused.get({})) === 1) === paused) return;
    yield* setPaused.run({ isOn: paused ? 1 : 0 });
    const action = paused ? 'queue.pause' : 'queue.resume';
    yield* record({ action, subject: QUEUE, before: { paused: !paused }, after: { paused } });
  },
};
