import type { Database } from 'better-sqlite3';
import type { WebhookDelivery, WebhookStore } from '../../port.js';
import type { Operations } from '../engine/operations.js';

type WebhookOperations = Pick<Operations, keyof WebhookStore>;

/**
 * Skips from member to member along the index, and takes the first messages of each: the cost
 * depends on the number of members with messages, not of messages. The cross join fixes this order,
 * which SQLite without statistics might reverse.
 */
const DUE = `with recursive callers (member_id) as (
    select min(member_id) from webhook_deliveries
    union all
    select (select min(member_id) from webhook_deliveries where member_id > callers.member_id)
    from callers where member_id is not null
  )
  select message.id, subject, subject_id as subjectId, url, secret,
    message.member_id as memberId, created_at as createdAt, attempts
  from callers
    cross join webhook_deliveries as message
    join webhooks using (subject_id)
  where message.id in (
    select id from webhook_deliveries
    where member_id = callers.member_id and next_at <= ? order by next_at limit ?)
  order by next_at, message.rowid`;

export function webhookOperations(database: Database): WebhookOperations {
  const due = database.prepare<[number, number], WebhookDelivery>(DUE);
  const next = database
    .prepare<[], number | null>('select min(next_at) from webhook_deliveries')
    .pluck();
  const end = database.prepare('delete from webhook_deliveries where id = ?');
  const postpone = database.prepare(
    'update webhook_deliveries set next_at = ?, attempts = attempts + 1 where id = ?',
  );
  return {
    dueWebhooks: (now, perMember) => due.all(now, perMember),
    nextWebhookAt: () => next.get() ?? null,
    // The webhook's settings are kept: a retried job ends again.
    endWebhook: (id) => void end.run(id),
    postponeWebhook: (id, nextAt) => void postpone.run(nextAt, id),
  };
}
