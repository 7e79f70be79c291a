import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JobGroup, ModelLoad } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement, together, withList } from '../statement.js';
import { toJob } from './job-rows.js';
import { jobRows } from './jobs.js';

interface GroupRow {
  batchId: string | null;
  serviceType: ServiceType;
  model: string;
  queued: number;
  processing: number;
  oldestQueuedAt: number | null;
  firstKey: number | null;
  lastKey: number | null;
  nextId: string | null;
  total: number;
}

/**
 * A member has at most `GATEWAY_MAX_QUEUED` jobs that wait, 10,000 by default: their rows are read
 * by the index of the member's jobs of a status.
 */
const groupsOf = statement<{ memberId: string; limit: number }, GroupRow>(
  `select batch_id as "batchId", service_type as "serviceType", model,
     count(*) filter (where status = 'QUEUED') as queued,
     count(*) filter (where status = 'PROCESSING') as processing,
     min(queued_at) filter (where status = 'QUEUED') as "oldestQueuedAt",
     min(fair_key) filter (where status = 'QUEUED') as "firstKey",
     max(fair_key) filter (where status = 'QUEUED') as "lastKey",
     coalesce(
       min(id) filter (where status = 'QUEUED' and not_before is null),
       min(id) filter (where status = 'QUEUED')) as "nextId",
     count(*) over () as total
   from jobs where member_id = @memberId and status in ('QUEUED', 'PROCESSING')
   group by batch_id, service_type, model order by min(id) limit @limit`,
);
const loadsOf = statement<{ memberId: string }, ModelLoad>(
  `select c.service_type as "serviceType", c.model, c.member_id as "memberId", c.queued,
     c.processing
   from queue_counts own cross join queue_counts c
   where own.member_id = @memberId and c.service_type = own.service_type and c.model = own.model`,
);
const labelsOf = statement<{ ids: string }, { id: string; label: string | null }>(
  withList((isIn) => `select id, label from batches where ${isIn('id', '@ids')}`),
);

export const jobGroupOperations: Pick<Operations, 'jobGroups'> = {
  *jobGroups(memberId, limit) {
    const [rows, loads] = yield* together([
      groupsOf.all({ memberId, limit }),
      loadsOf.all({ memberId }),
    ]);
    const [jobs, batches] = yield* together([
      jobRows.all({ ids: JSON.stringify(rows.flatMap(({ nextId }) => nextId ?? [])) }),
      labelsOf.all({ ids: JSON.stringify(rows.flatMap(({ batchId }) => batchId ?? [])) }),
    ]);
    const next = new Map(jobs.map((row) => [row.id, toJob(row)]));
    const labels = new Map(batches.map(({ id, label }) => [id, label]));
    const groups = rows.map((row): JobGroup => {
      const { batchId, serviceType, model, queued, processing, oldestQueuedAt } = row;
      return {
        batchId,
        label: labels.get(batchId ?? '') ?? null,
        serviceType,
        model,
        queued,
        processing,
        oldestQueuedAt,
        firstKey: row.firstKey ?? 0,
        lastKey: row.lastKey ?? 0,
        next: next.get(row.nextId ?? '') ?? null,
      };
    });
    return { groups, total: rows[0]?.total ?? 0, loads };
  },
};
