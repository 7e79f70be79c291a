import type { Database } from 'better-sqlite3';
import type { WebhookDelivery, WebhookStore } from '../port.js';
import type { Operations } from './operations.js';

type WebhookOperations = Pick<Operations, keyof WebhookStore>;

export function webhookOperations(database: Database): WebhookOperations {
  const due = database.prepare<[number, number], WebhookDelivery>(
    `select webhook_deliveries.id, subject, subject_id as subjectId, url, secret,
       coalesce(
         (select member_id from jobs where jobs.id = subject_id),
         (select member_id from batches where batches.id = subject_id)) as memberId,
       webhook_deliveries.created_at as createdAt, attempts
     from webhook_deliveries join webhooks using (subject_id)
     where next_at <= ? order by next_at limit ?`,
  );
  const next = database
    .prepare<[], number | null>('select min(next_at) from webhook_deliveries')
    .pluck();
  const end = database.prepare('delete from webhook_deliveries where id = ?');
  const postpone = database.prepare(
    'update webhook_deliveries set next_at = ?, attempts = attempts + 1 where id = ?',
  );
  return {
    dueWebhooks: (now, limit) => due.all(now, limit),
    nextWebhookAt: () => next.get() ?? null,
    // Who wants to be told stays: a job that is retried ends again.
    endWebhook: (id) => void end.run(id),
    postponeWebhook: (id, nextAt) => void postpone.run(nextAt, id),
  };
}
