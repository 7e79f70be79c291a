import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import { batchStatus, JOB_STATUSES } from '../core/jobs/job.js';
import type { Batch, BatchJob, Store } from '../store/port.js';
import { adminChange, adminRead } from './operation.js';
import { listLimit } from './arguments.js';
import { memberNames, resolveMember, unknownId } from './references.js';

const listing = z.strictObject({ user: z.string().nullable(), limit: listLimit });
const oneBatch = z.strictObject({ batch: z.string() });

export const listBatches = adminRead(listing, async ({ store }, { user, limit }) => {
  const owner = user === null ? null : await resolveMember(store, user);
  return present(
    store,
    await store.listBatches({ memberId: owner?.id ?? null, limit, after: null }),
  );
});

export const showBatch = adminRead(oneBatch, async ({ store }, args) => {
  const detail = await store.findBatch(args.batch, null);
  if (detail === null) throw unknownId('batch', args.batch);
  return { ...(await presentOne(store, detail.batch)), jobs: detail.jobs.map(presentJob) };
});

/** Ended jobs do not change; nor does a batch that is DONE. */
export const cancelBatch = adminChange(oneBatch, async ({ store, jobActions }, args) => {
  const batch = await jobActions.cancelBatch(args.batch, null);
  if (batch === null) throw unknownId('batch', args.batch);
  const { id, label, counts } = batch;
  await store.recordAudit({
    action: 'batch.cancel',
    subject: { kind: 'batch', id, name: label ?? id },
    before: null,
    after: { canceled: counts.CANCELED },
  });
  return presentOne(store, batch);
});

async function presentOne(store: Store, batch: Batch) {
  return summarize(batch, await memberNames(store));
}

async function present(store: Store, batches: readonly Batch[]) {
  const names = await memberNames(store);
  return batches.map((batch) => summarize(batch, names));
}

function summarize({ id, memberId, label, counts, createdAt, file }: Batch, names: Names) {
  return {
    id,
    owner: names.get(memberId) ?? null,
    label,
    status: batchStatus(counts),
    total: JOB_STATUSES.reduce((sum, status) => sum + counts[status], 0),
    queued: counts.QUEUED,
    processing: counts.PROCESSING,
    processed: counts.PROCESSED,
    failed: counts.FAILED,
    canceled: counts.CANCELED,
    created_at: createdAt,
    input_file_id: file && `file-${file.inputFileId}`,
  };
}

type Names = ReadonlyMap<string, string>;

function presentJob({ id, index, status, endpoint }: BatchJob) {
  return { index, id, status, inference_type: ENDPOINTS[endpoint].inferenceType };
}
