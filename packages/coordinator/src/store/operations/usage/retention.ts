/** Deletes old rows. */
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation } from '../statement.js';

/**
 * Old rows are looked for among this many of the first rows: if the clock was once wrong, the first
 * rows are not the oldest.
 */
const SCANNED_ROWS = 10_000;

/** Rows are written in the order of their times, so no index on the time is needed. */
export function oldRowDeleter(
  table: 'usage' | 'audit_log',
): (before: number, limit: number) => Operation<number> {
  const deleteOld = statement<{ before: number; limit: number }>(
    `delete from ${table} where rowid in (
       select rowid from (
         select rowid, at from ${table} order by rowid limit ${SCANNED_ROWS}) as first_rows
       where at < @before limit @limit)`,
  );
  return (before, limit) => deleteOld.run({ before, limit });
}

const countBefore = (from: string) =>
  valueOf<{ before: number }, number>(`select count(*) from ${from} < @before`);
const oldJobs = countBefore('jobs where finished_at');
const oldUsage = countBefore('usage where at');
const oldAudit = countBefore('audit_log where at');

export const retentionOperations: Pick<Operations, 'countOld'> = {
  *countOld(before) {
    return {
      jobs: (yield* oldJobs.get({ before: before.jobs })) ?? 0,
      usage: (yield* oldUsage.get({ before: before.usage })) ?? 0,
      audit: (yield* oldAudit.get({ before: before.audit })) ?? 0,
    };
  },
};
