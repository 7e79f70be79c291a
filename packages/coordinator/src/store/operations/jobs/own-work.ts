/** Jobs, batches and files with the names that only their owner sees, and the end of excerpts. */
import type { NamedAsset, RequestWork, WorkNames } from '../../port.js';
import {
  BATCH_LABEL_OF_ASSET,
  CUSTOM_ID_OF_ASSET,
  listAssets,
  lockAssets,
} from '../assets/assets.js';
import { recordChange } from '../audit/audit-trail.js';
import { memberById, memberSubject } from '../members/member-rows.js';
import type { Operations } from '../operations.js';
import { statement, withList } from '../statement.js';
import type { Operation, SqlText, Statement } from '../statement.js';
import { findBatchDetail } from './batches.js';
import { BATCH_LABEL, CUSTOM_ID } from './job-rows.js';
import { findJob, listJobs } from './jobs.js';
import { lockSubmissions } from './submissions.js';

type WorkOperations = Pick<
  Operations,
  | 'listOwnJobs'
  | 'findOwnJob'
  | 'findOwnBatch'
  | 'listOwnAssets'
  | 'requestWork'
  | 'setExcerpts'
  | 'eraseExcerpts'
>;

interface ListedNames {
  readonly excerpt: string | null;
  readonly custom_id: string | null;
  readonly label: string | null;
}

interface JobNamesRow extends ListedNames {
  readonly id: string;
  readonly batch_id: string | null;
  readonly generation: number;
  readonly model: string;
  readonly first_asset_id: string | null;
}

interface AssetNamesRow extends ListedNames {
  readonly id: string;
  readonly request_id: string;
  readonly content_type: string;
}

type FileOfJob = Pick<AssetNamesRow, 'id' | 'content_type'> & { readonly job_id: string };

interface Those {
  readonly memberId: string;
  /** A JSON array. */
  readonly ids: string;
}

const jobNames = statement<Those, JobNamesRow>(
  withList(
    (isIn) => `select id, batch_id, generation, coalesce(alias, model) as model, excerpt,
       ${CUSTOM_ID} as custom_id,
       ${BATCH_LABEL} as label,
       (select asset_id from job_assets where job_id = jobs.id order by position limit 1)
         as first_asset_id
     from jobs where ${isIn('id', '@ids')} and member_id = @memberId`,
  ),
);
const assetNames = statement<Those, AssetNamesRow>(
  withList((isIn) => assetsWith(isIn('id', '@ids'))),
);
const requestAssets = statement<Those, AssetNamesRow>(
  withList((isIn) => assetsWith(isIn('request_id', '@ids'))),
);
const filesOfJobs = statement<Those, FileOfJob>(
  withList(
    (isIn) => `select job_id, assets.id, content_type
     from job_assets join assets on assets.id = asset_id
     where ${isIn('job_id', '@ids')} and member_id = @memberId order by job_id, position`,
  ),
);

function assetsWith(condition: string): string {
  return `select id, request_id, content_type, excerpt,
      ${CUSTOM_ID_OF_ASSET} as custom_id, ${BATCH_LABEL_OF_ASSET} as label
    from assets where ${condition} and member_id = @memberId order by created_at, id`;
}

export const workOperations: WorkOperations = {
  *listOwnJobs(query) {
    const jobs = yield* listJobs(query);
    const names = yield* namesOf(jobNames, query.memberId, jobs);
    return jobs.map((job) => ({ job, names: toNames(names.get(job.id)) }));
  },

  *findOwnJob(id, memberId) {
    const detail = yield* findJob(id, memberId);
    if (detail === null) return null;
    const names = yield* namesOf(jobNames, memberId, [{ id }]);
    return { ...detail, names: toNames(names.get(id)) };
  },

  *findOwnBatch(id, memberId) {
    const detail = yield* findBatchDetail(id, memberId);
    if (detail === null) return null;
    const names = yield* namesOf(jobNames, memberId, detail.jobs);
    const jobs = detail.jobs.flatMap((job) => {
      const row = names.get(job.id);
      // Deleted between the two reads.
      if (row === undefined) return [];
      const { model, first_asset_id: firstAssetId } = row;
      return [{ ...job, model, firstAssetId, names: toNames(row) }];
    });
    return { batch: detail.batch, jobs };
  },

  *listOwnAssets(query) {
    const assets = yield* listAssets(query);
    const names = yield* namesOf(assetNames, query.memberId, assets);
    return assets.map((asset): NamedAsset => ({ ...asset, names: toNames(names.get(asset.id)) }));
  },

  requestWork,

  *setExcerpts(memberId, areKept) {
    // Submissions and files that are being written keep their excerpt: they are erased after it.
    yield* lockSubmissions(memberId);
    yield* lockAssets();
    const row = yield* memberById.get({ id: memberId });
    if (row === undefined) return false;
    const excerpts = areKept ? 1 : 0;
    yield* setKept.run({ memberId, excerpts });
    yield* recordChange({
      action: 'user.excerpts',
      subject: memberSubject(row),
      before: { excerpts: row.excerpts === 1 },
      after: { excerpts: areKept },
    });
    return true;
  },

  *eraseExcerpts(before, limit) {
    const jobs = yield* eraseOfJobs.run({ before, limit });
    const assets = yield* eraseOfAssets.run({ before, limit });
    return Math.max(jobs, assets);
  },
};

function* namesOf<Row extends { readonly id: string }>(
  names: Statement<Those, Row>,
  memberId: string,
  of: readonly { readonly id: string }[],
): Operation<ReadonlyMap<string, Row>> {
  if (of.length === 0) return new Map();
  const rows = yield* names.all({ memberId, ids: JSON.stringify(of.map(({ id }) => id)) });
  return new Map(rows.map((row) => [row.id, row]));
}

function toNames(row: ListedNames | undefined): WorkNames {
  const { excerpt = null, custom_id: customId = null, label: batchLabel = null } = row ?? {};
  return { excerpt, customId, batchLabel };
}

/** A job is metered as its id and its generation. */
function jobOf(requestId: string): string {
  return requestId.split('.', 1)[0] ?? '';
}

function* requestWork(
  memberId: string,
  requestIds: readonly string[],
): Operation<readonly RequestWork[]> {
  const ended = requestIds.map((requestId) => ({ id: jobOf(requestId) }));
  const jobs = yield* namesOf(jobNames, memberId, ended);
  const ofJobs = yield* filesOfJobs.all({ memberId, ids: JSON.stringify([...jobs.keys()]) });
  const ofCalls = yield* requestAssets.all({ memberId, ids: JSON.stringify(requestIds) });
  return requestIds.flatMap((requestId): RequestWork[] => {
    const job = jobs.get(jobOf(requestId));
    if (job !== undefined) {
      const { id: jobId, batch_id: batchId, generation } = job;
      // A retry begins anew: the files are those of the last run.
      const isLast = requestId === `${jobId}.${generation}`;
      const files = ofJobs.filter(({ job_id: id }) => isLast && id === jobId).map(toFile);
      return [{ requestId, jobId, batchId, files, names: toNames(job) }];
    }
    const made = ofCalls.filter((one) => one.request_id === requestId);
    const [first] = made;
    if (first === undefined) return [];
    const files = made.map(toFile);
    return [{ requestId, jobId: null, batchId: null, files, names: toNames(first) }];
  });
}

function toFile({ id, content_type: contentType }: Pick<AssetNamesRow, 'id' | 'content_type'>) {
  return { id, contentType };
}

const setKept = statement<{ memberId: string; excerpts: number }>(
  'update members set excerpts = @excerpts where id = @memberId',
);

const eraseOfJobs = statement<Erasure>(erase('jobs'));
const eraseOfAssets = statement<Erasure>(erase('assets'));

interface Erasure {
  readonly before: number;
  readonly limit: number;
}

/**
 * Reads the index of excerpts, member by member: it has none of what was erased before. On
 * PostgreSQL rows are locked in the order of their ids.
 */
function erase(table: 'jobs' | 'assets'): SqlText {
  const due = `select ${table}.id from members cross join ${table}
    where member_id = members.id and excerpt is not null and ${table}.created_at <
      case members.excerpts when 1 then cast(@before as bigint) else ${Number.MAX_SAFE_INTEGER} end
    limit @limit`;
  const change = `update ${table} set excerpt = null where id in`;
  return {
    sqlite: `${change} (${due})`,
    postgres: `${change} (select id from ${table} where id in (${due}) order by id for update)`,
  };
}
