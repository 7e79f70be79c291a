/** Rows of `jobs`: their mapping to jobs, the form of lanes, and positions in the queue. */
import type { EndpointKey, ServiceType } from '@inference-gateway/shared/endpoints';
import type { ApiName } from '@inference-gateway/shared/openai/translated-apis';
import type { ProviderScope } from '../../../core/access/caller.js';
import type { JobError, JobStatus } from '../../../core/jobs/job.js';
import type { Lane } from '../../../core/jobs/lane.js';
import type { Needs } from '../../../core/routing/match.js';
import type { Job } from '../../port.js';
import { statement, valueOf } from '../statement.js';
import type { Operation, SqlText } from '../statement.js';

export interface JobRow {
  id: string;
  member_id: string;
  key_id: string;
  request_id: string;
  batch_id: string | null;
  batch_index: number | null;
  endpoint: EndpointKey;
  api: ApiName | null;
  service_type: ServiceType;
  model: string;
  alias: string | null;
  served_model: string | null;
  scope: ProviderScope;
  needs: string;
  body_bytes: number;
  status: JobStatus;
  created_at: number;
  queued_at: number;
  started_at: number | null;
  finished_at: number | null;
  attempt: number;
  attempt_counted: 0 | 1;
  max_attempts: number;
  releases: number;
  generation: number;
  lane: string;
  fair_key: number;
  excluded: string;
  excluded_until: number | null;
  avoided: string;
  not_before: number | null;
  claim_id: string | null;
  last_claim_id: string | null;
  provider_id: string | null;
  session_id: string | null;
  service_id: string | null;
  share_id: string | null;
  accepted_at: number | null;
  lease_until: number | null;
  run_deadline: number | null;
  error: string | null;
  /** JSON: `FailedAttempt[]` */
  failed_attempts: string;
  /** Only for its owner: no `Job` has it. */
  excerpt: string | null;
  first_asset_id: string | null;
}

const COLUMNS: Readonly<Record<Exclude<keyof JobRow, 'first_asset_id'>, true>> = {
  id: true,
  member_id: true,
  key_id: true,
  request_id: true,
  batch_id: true,
  batch_index: true,
  endpoint: true,
  api: true,
  service_type: true,
  model: true,
  alias: true,
  served_model: true,
  scope: true,
  needs: true,
  body_bytes: true,
  status: true,
  created_at: true,
  queued_at: true,
  started_at: true,
  finished_at: true,
  attempt: true,
  attempt_counted: true,
  max_attempts: true,
  releases: true,
  generation: true,
  lane: true,
  fair_key: true,
  excluded: true,
  excluded_until: true,
  avoided: true,
  not_before: true,
  claim_id: true,
  last_claim_id: true,
  provider_id: true,
  session_id: true,
  service_id: true,
  share_id: true,
  accepted_at: true,
  lease_until: true,
  run_deadline: true,
  error: true,
  failed_attempts: true,
  excerpt: true,
};

/**
 * All columns of a `JobRow`, for a select from `jobs` and for `returning`, including the link to
 * the first asset that still exists.
 */
export const JOB_COLUMNS = `${Object.keys(COLUMNS).join(', ')}, (
    select asset_id from job_assets where job_id = jobs.id order by position limit 1
  ) as first_asset_id`;

/** Of a row of `jobs`: the names that its batch has for it. */
export const BATCH_LABEL = '(select label from batches where batches.id = jobs.batch_id)';
export const CUSTOM_ID = `(select custom_id from batch_lines
    where batch_lines.batch_id = jobs.batch_id and line = jobs.batch_index + 1)`;

/**
 * A selection of rows that the operation then changes. On PostgreSQL they are locked until the end
 * of the transaction, in the order of the selection; sweeps skip those that another one has.
 */
export function forUpdate(sql: string, locked?: 'skip locked'): SqlText {
  const clause = locked === undefined ? 'for update' : `for update ${locked}`;
  return { sqlite: sql, postgres: `${sql} ${clause}` };
}

const BY_ID = `select ${JOB_COLUMNS} from jobs
  where id = @id and (member_id = @memberId or @memberId is null)`;

interface OneOf {
  readonly id: string;
  readonly memberId: string | null;
}

const find = statement<OneOf, JobRow>(BY_ID);
const lockOne = statement<OneOf, JobRow>(forUpdate(BY_ID));

/** A job by its id; undefined if it is another member's. A null member: any. */
export function findJobRow(id: string, memberId: string | null): Operation<JobRow | undefined> {
  return find.get({ id, memberId });
}

/** The same, to be changed. */
export function lockJobRow(id: string, memberId: string | null): Operation<JobRow | undefined> {
  return lockOne.get({ id, memberId });
}

export function toJob(row: JobRow): Job {
  return {
    id: row.id,
    memberId: row.member_id,
    keyId: row.key_id,
    requestId: row.request_id,
    batchId: row.batch_id,
    batchIndex: row.batch_index,
    endpoint: row.endpoint,
    api: row.api,
    model: row.model,
    alias: row.alias,
    servedModel: row.served_model,
    scope: row.scope,
    needs: JSON.parse(row.needs) as Needs,
    status: row.status,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    attempts: row.attempt,
    maxAttempts: row.max_attempts,
    generation: row.generation,
    providerId: row.provider_id,
    notBefore: row.not_before,
    error: JSON.parse(row.error ?? 'null') as JobError | null,
    firstAssetId: row.first_asset_id,
  };
}

/**
 * The key of a lane within its service type and model, which are separate columns: equal lanes have
 * the same text in any order of their sets.
 */
export function laneKey(lane: Omit<Lane, 'serviceType' | 'model'> & LaneOwner): string {
  const { memberId, scope, needs, excluded, avoided, keyId, alias } = lane;
  const { features, voices, format, inputs = [] } = needs;
  const sets = [features, voices, excluded, avoided].map((set) => set.toSorted());
  const parts = [memberId, scope, format, ...sets, inputs.toSorted(), keyId];
  return JSON.stringify(alias === undefined ? parts : [...parts, alias]);
}

/** The field of a lane; a job without an alias has none. */
export function ofAlias(alias: string | null): Pick<Lane, 'alias'> {
  return alias === null ? {} : { alias };
}

/** A key whose quota is used up keeps its own jobs waiting, and not those of another key. */
interface LaneOwner {
  readonly keyId: string;
}

type LaneParts = [
  string,
  ProviderScope,
  string | null,
  string[],
  string[],
  string[],
  string[],
  // Jobs of earlier versions have neither.
  string[]?,
  string?,
  // Only under an alias.
  string?,
];
export type LaneColumns = Pick<JobRow, 'service_type' | 'model' | 'lane'>;

export function parseLane({ service_type: serviceType, model, lane }: LaneColumns): Lane {
  const parts = JSON.parse(lane) as LaneParts;
  const [memberId, scope, format, features, voices, excluded, avoided, inputs] = parts;
  const alias = parts[9];
  const needs = { features, voices, format, ...(inputs?.length && { inputs }) };
  const plain = { serviceType, model, memberId, scope, needs, excluded, avoided };
  return alias === undefined ? plain : { ...plain, alias };
}

/** `LaneHead.key`: the complete key of the lane. */
export function laneHeadKey({ service_type, model, lane }: LaneColumns): string {
  return JSON.stringify([service_type, model, lane]);
}

export function parseLaneHeadKey(key: string): LaneColumns {
  const [service_type, model, lane] = JSON.parse(key) as [ServiceType, string, string];
  return { service_type, model, lane };
}

type Place = Pick<Lane, 'serviceType' | 'model' | 'memberId'>;

const draw = valueOf<Place & { readonly jobs: number }, number>(
  `insert into fair_callers (service_type, model, member_id, last_key)
   values (cast(@serviceType as text), cast(@model as text), @memberId, @jobs + coalesce((
     select virtual_time from fair_clocks
     where service_type = @serviceType and model = @model), 0))
   on conflict (service_type, model, member_id) do update set last_key = case
     when fair_callers.last_key + @jobs > excluded.last_key then fair_callers.last_key + @jobs
     else excluded.last_key end
   returning last_key`,
);

/**
 * The `fair_key` of a job that enters the queue: one step after its caller's last job for the
 * model, or after the job being served now, whichever is later. Of several jobs, those after the
 * first follow step by step.
 */
export function* enqueueKeys(place: Place, jobs = 1): Operation<number> {
  const last = yield* draw.get({ ...place, jobs });
  if (last === undefined) throw new Error('the database returned no place in the queue');
  return last - jobs + 1;
}
