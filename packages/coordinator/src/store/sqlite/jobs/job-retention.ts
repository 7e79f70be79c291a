import type { Database } from 'better-sqlite3';
import type { Operations } from '../engine/operations.js';

interface Gone {
  id: string;
  batch_id: string | null;
}

/** Body, result and idempotency key go with the row that they refer to; a webhook has none. */
export function jobRetention(database: Database): Operations['deleteOldJobs'] {
  const deleteJobs = database.prepare<[number, number], Gone>(
    `delete from jobs where id in (
       select id from jobs where finished_at < ? order by finished_at limit ?
     ) returning id, batch_id`,
  );
  const deleteBatches = database
    .prepare<[string], string>(
      `delete from batches where id in (select value from json_each(?))
         and not exists (select 1 from jobs where batch_id = batches.id)
       returning id`,
    )
    .pluck();
  const deleteWebhooks = database.prepare(
    'delete from webhooks where subject_id in (select value from json_each(?))',
  );
  return (finishedBefore, limit) => {
    const jobs = deleteJobs.all(finishedBefore, limit);
    const batchIds = new Set(jobs.flatMap(({ batch_id: id }) => id ?? []));
    const batches = deleteBatches.all(JSON.stringify([...batchIds]));
    deleteWebhooks.run(JSON.stringify([...jobs.map(({ id }) => id), ...batches]));
    return jobs.length;
  };
}
