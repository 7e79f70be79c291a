/**
 * Carries out transitions of `core/jobs/transition.ts`: reads the row, computes the transition, and
 * writes the changed columns by one statement, guarded by the state that was read. Rows are read
 * `forUpdate`.
 */
import { isFinished } from '../../../core/jobs/job.js';
import type { FailedAttempt, JobError } from '../../../core/jobs/job.js';
import { readmitted, transition, unstuck } from '../../../core/jobs/transition.js';
import type { JobChange, JobState, Moment } from '../../../core/jobs/transition.js';
import type { Needs } from '../../../core/routing/match.js';
import type { CancelOutcome, EndOutcome } from '../../port.js';
import { statement, together } from '../statement.js';
import type { Operation, Statement } from '../statement.js';
import { concludeJob } from './job-end.js';
import { laneKey, lockJobRow, ofAlias, toJob } from './job-rows.js';
import type { JobRow } from './job-rows.js';

/** Its new position in the queue; absent: unchanged. */
interface Place {
  readonly fairKey: number;
}

/** The random number of events that have no back-off. */
const NO_BACKOFF = 0;

/** Null if the event changes nothing in the row's state, or the row has changed meanwhile. */
export function* applyEvent(
  row: JobRow,
  event: JobChange,
  moment: Moment & Partial<Place>,
): Operation<JobRow | null> {
  const [after = null] = yield* applyEvents([{ row, event, moment }]);
  return after;
}

/** The same for several jobs. */
export function* applyEvents(
  changes: readonly {
    readonly row: JobRow;
    readonly event: JobChange;
    readonly moment: Moment & Partial<Place>;
  }[],
): Operation<(JobRow | null)[]> {
  const writes = changes.map(({ row, event, moment: { fairKey = row.fair_key, ...moment } }) => {
    const next = transition(toState(row), event, moment);
    return { row, columns: next && { ...columnsOf(row, next), fair_key: fairKey } };
  });
  return yield* writeRows(writes);
}

/** The same for an event that ends a job's claim or its time in the queue. */
export function* endJob(row: JobRow, event: JobChange, moment: Moment): Operation<EndOutcome> {
  const after = yield* applyEvent(row, event, moment);
  if (after === null) return { kind: 'stale' };
  if (!isFinished(after.status)) return { kind: 'requeued', job: toJob(after) };
  return { kind: 'failed', ...(yield* concludeJob(after, moment.now, null)) };
}

/** A null member: any. */
export function* cancelJobOf(
  id: string,
  memberId: string | null,
  now: number,
): Operation<CancelOutcome> {
  const row = yield* lockJobRow(id, memberId);
  return row === undefined ? { kind: 'unknown' } : yield* cancelRow(row, now);
}

export function* cancelRow(
  row: JobRow,
  now: number,
): Operation<Exclude<CancelOutcome, { kind: 'unknown' }>> {
  const after = yield* applyEvent(row, { event: 'cancel' }, { now, random: NO_BACKOFF });
  if (after === null) return { kind: 'finished', job: toJob(row) };
  const ended = yield* concludeJob(after, now, null);
  return { kind: 'canceled', ...ended, claimId: row.claim_id };
}

/** Ends an expired exclusion. */
export function* readmitJob(row: JobRow): Operation<void> {
  yield* writeRow(row, columnsOf(row, readmitted(toState(row))));
}

/** Ends the back-off and every exclusion. */
export function* unstickJob(row: JobRow): Operation<void> {
  yield* writeRow(row, columnsOf(row, unstuck(toState(row))));
}

export function toState(row: JobRow): JobState {
  return {
    status: row.status,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    isAttemptCounted: row.attempt_counted === 1,
    releases: row.releases,
    generation: row.generation,
    queuedAt: row.queued_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    claimId: row.claim_id,
    linkId: row.session_id,
    lastClaimId: row.last_claim_id,
    providerId: row.provider_id,
    servedModel: row.served_model,
    serviceId: row.service_id,
    acceptedAt: row.accepted_at,
    leaseUntil: row.lease_until,
    runDeadline: row.run_deadline,
    notBefore: row.not_before,
    excluded: JSON.parse(row.excluded) as string[],
    excludedUntil: row.excluded_until,
    avoided: JSON.parse(row.avoided) as string[],
    error: JSON.parse(row.error ?? 'null') as JobError | null,
    failedAttempts: JSON.parse(row.failed_attempts) as FailedAttempt[],
  };
}

type Changeable = Omit<JobRow, Fixed>;
type Fixed =
  | 'id'
  | 'member_id'
  | 'key_id'
  | 'request_id'
  | 'batch_id'
  | 'batch_index'
  | 'endpoint'
  | 'api'
  | 'service_type'
  | 'model'
  | 'alias'
  | 'scope'
  | 'needs'
  | 'body_bytes'
  | 'created_at'
  | 'max_attempts'
  | 'fair_key'
  | 'share_id'
  | 'excerpt'
  | 'first_asset_id';

/** The lane depends on the providers that do not get the job. */
function columnsOf(row: JobRow, state: JobState): Changeable {
  const { excluded, avoided } = state;
  return {
    status: state.status,
    attempt: state.attempt,
    attempt_counted: state.isAttemptCounted ? 1 : 0,
    releases: state.releases,
    generation: state.generation,
    queued_at: state.queuedAt,
    started_at: state.startedAt,
    finished_at: state.finishedAt,
    claim_id: state.claimId,
    session_id: state.linkId,
    last_claim_id: state.lastClaimId,
    provider_id: state.providerId,
    served_model: state.servedModel,
    service_id: state.serviceId,
    accepted_at: state.acceptedAt,
    lease_until: state.leaseUntil,
    run_deadline: state.runDeadline,
    not_before: state.notBefore,
    excluded: JSON.stringify(excluded),
    excluded_until: state.excludedUntil,
    avoided: JSON.stringify(avoided),
    lane: laneOf(row, excluded, avoided),
    error: state.error === null ? null : JSON.stringify(state.error),
    failed_attempts: JSON.stringify(state.failedAttempts),
  };
}

function laneOf(row: JobRow, excluded: readonly string[], avoided: readonly string[]): string {
  const { member_id: memberId, key_id: keyId, scope, alias } = row;
  const needs = JSON.parse(row.needs) as Needs;
  return laneKey({ memberId, keyId, scope, needs, ...ofAlias(alias), excluded, avoided });
}

/** Columns that must not have changed since the row was read. */
const AS_READ = `id = @id and status = @wasStatus and generation = @wasGeneration
  and claim_id is not distinct from @wasClaim and session_id is not distinct from @wasLink
  and lease_until is not distinct from @wasLease`;

interface RowWrite {
  readonly row: JobRow;
  /** Null: nothing is written. */
  readonly columns: Readonly<Partial<JobRow>> | null;
}

function* writeRow(row: JobRow, columns: Readonly<Partial<JobRow>>): Operation<JobRow | null> {
  const [after = null] = yield* writeRows([{ row, columns }]);
  return after;
}

/**
 * Writes only the columns that differ, which leaves the indexes of the others alone; rows with the
 * same ones by one statement. Null for those without columns, and those that have changed since
 * they were read.
 */
function* writeRows(writes: readonly RowWrite[]): Operation<(JobRow | null)[]> {
  const byUpdate = new Map<Statement<object, object>, { index: number; values: object }[]>();
  const after = writes.map(({ row, columns }) => columns && { ...row, ...columns });
  for (const [index, { row, columns }] of writes.entries()) {
    const changed = Object.entries(columns ?? {}).filter(
      ([name, value]) => row[name as keyof JobRow] !== value,
    );
    if (changed.length === 0) continue;
    const update = updateOf(changed.map(([name]) => name));
    const rows = byUpdate.get(update) ?? [];
    byUpdate.set(update, rows);
    rows.push({ index, values: { ...Object.fromEntries(changed), ...asRead(row) } });
  }
  const groups = [...byUpdate];
  const written = yield* together(
    groups.map(([update, rows]) => update.each(rows.map(({ values }) => values))),
  );
  for (const [group, [, rows]] of groups.entries()) {
    for (const [nth, { index }] of rows.entries()) {
      if (written[group]?.[nth] !== 1) after[index] = null;
    }
  }
  return after;
}

function asRead({ id, status, generation, claim_id, session_id, lease_until }: JobRow): object {
  return {
    id,
    wasStatus: status,
    wasGeneration: generation,
    wasClaim: claim_id,
    wasLink: session_id,
    wasLease: lease_until,
  };
}

/** One statement per set of changed columns: about thirty. */
const updates = new Map<string, Statement<object, object>>();

function updateOf(names: readonly string[]): Statement<object, object> {
  const assignments = names.map((name) => `${name} = @${name}`).join(', ');
  const known = updates.get(assignments);
  if (known !== undefined) return known;
  const made = statement(`update jobs set ${assignments} where ${AS_READ}`);
  updates.set(assignments, made);
  return made;
}
