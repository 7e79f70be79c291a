import type { Ahead } from '../../../core/jobs/lane.js';
import type { QueuePosition } from '../../port.js';
import { statement, together, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

/** Positions beyond it are not counted: that would block the writer for milliseconds. */
const MAX_COUNTED = 4_000;
/**
 * This close to its end a queue is counted from the end, as for jobs that were just submitted: from
 * the head, each 202 took 2 ms of the writer with 10,000 queued jobs.
 */
const NEAR = 128;

/** Of a queued job. */
export interface Place {
  id: string;
  member_id: string;
  service_type: string;
  model: string;
  fair_key: number;
}

interface Count {
  member_id: string;
  jobs: number;
}

/** The progress of counting a queue from its head. */
interface Walk {
  readonly at: Pick<Place, 'service_type' | 'model' | 'fair_key' | 'id'>;
  readonly passed: number;
  readonly byMember: ReadonlyMap<string, number>;
}

const placesOf = statement<{ jobIds: string }, Place>(
  `select id, member_id, service_type, model, fair_key from jobs
   where id in (select value from json_each(@jobIds)) and status = 'QUEUED' and not_before is null
   order by service_type, model, fair_key, id`,
);

export function* queuePositions(jobIds: readonly string[]): Operation<QueuePosition[]> {
  return yield* positionsOf(yield* placesOf.all({ jobIds: JSON.stringify(jobIds) }));
}

/**
 * Each queue is counted once, from its head to the last of the given jobs; between two of them only
 * the jobs between are counted. If the first of them is near the end, counting begins there. The
 * places are in the order of the queues.
 */
export function* positionsOf(places: readonly Place[]): Operation<QueuePosition[]> {
  const positions: QueuePosition[] = [];
  let walk: Walk | null = null;
  for (const place of places) {
    const from: Walk = isSameQueue(walk, place) ? walk : startOf(place);
    walk = yield* advance(from, place);
    positions.push({ jobId: place.id, ahead: aheadOf(walk) });
  }
  return positions;
}

/** In order of the members' ids, so that the result does not depend on the direction. */
function aheadOf({ byMember }: Walk): Ahead[] {
  return [...byMember]
    .filter(([, jobs]) => jobs > 0)
    .map(([memberId, jobs]) => ({ memberId, jobs: upToLimit(jobs) }))
    .toSorted((one, other) => (one.memberId < other.memberId ? -1 : 1));
}

function upToLimit(count: number): number {
  return Math.min(count, MAX_COUNTED);
}

function isSameQueue(walk: Walk | null, place: Place): walk is Walk {
  return walk?.at.service_type === place.service_type && walk.at.model === place.model;
}

function startOf(place: Place): Walk {
  return { at: { ...place, fair_key: 0, id: '' }, passed: 0, byMember: new Map() };
}

const RUNNABLE_OF_MODEL = `service_type = @serviceType and model = @model
  and status = 'QUEUED' and not_before is null`;

const between = statement<object, Count>(
  `select member_id, count(*) as jobs from (
     select member_id from jobs where ${RUNNABLE_OF_MODEL}
       and (fair_key, id) >= (@fromKey, @fromId) and (fair_key, id) < (@toKey, @toId)
     order by fair_key, id limit @limit
   ) as passed group by member_id`,
);

function* advance(walk: Walk, to: Place): Operation<Walk> {
  const isFirst = walk.at.id === '';
  const fromEnd = isFirst ? yield* walkFromEnd(to) : null;
  return fromEnd ?? added(walk, to, yield* count(walk, to));
}

function count({ at, passed }: Walk, to: Place): Operation<Count[]> {
  const { service_type: serviceType, model, fair_key: fromKey, id: fromId } = at;
  const limit = Math.max(0, MAX_COUNTED - passed);
  const range = { fromKey, fromId, toKey: to.fair_key, toId: to.id };
  return between.all({ serviceType, model, limit, ...range });
}

const behind = statement<object, Count>(
  `select member_id, count(*) as jobs from (
     select member_id from jobs where ${RUNNABLE_OF_MODEL} and (fair_key, id) >= (@key, @id)
     order by fair_key, id limit ${NEAR}
   ) as last_ones group by member_id`,
);
// Jobs in a back-off are queued, but have no position.
const isAnyHeld = valueOf<object, 0 | 1>(
  `select exists (select 1 from jobs indexed by jobs_not_before
     where status = 'QUEUED' and not_before is not null)`,
);
const queued = statement<object, Count>(
  `select member_id, queued as jobs from queue_counts
   where service_type = @serviceType and model = @model and queued > 0`,
);

/** Counts to a job near the end; null if it is not near, or that is unknown. */
function* walkFromEnd(to: Place): Operation<Walk | null> {
  const { service_type: serviceType, model, fair_key: key, id } = to;
  const [after, isHeld, before] = yield* together([
    behind.all({ serviceType, model, key, id }),
    isAnyHeld.get({}),
    queued.all({ serviceType, model }),
  ]);
  if (sumOf(after) === NEAR || isHeld === 1) return null;
  const all = added(startOf(to), to, before);
  return added(
    all,
    to,
    after.map(({ member_id, jobs }) => ({ member_id, jobs: -jobs })),
  );
}

function added(walk: Walk, at: Place, counts: readonly Count[]): Walk {
  const byMember = new Map(walk.byMember);
  for (const { member_id: member, jobs } of counts) {
    byMember.set(member, (byMember.get(member) ?? 0) + jobs);
  }
  return { at, passed: walk.passed + sumOf(counts), byMember };
}

function sumOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { jobs }) => sum + jobs, 0);
}
