import type { WebhookDelivery, WebhookStore } from '../../port.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';

type WebhookOperations = Pick<Operations, keyof WebhookStore>;

const CALLERS = `with recursive callers (member_id) as (
    select min(member_id) from webhook_deliveries
    union all
    select (select min(member_id) from webhook_deliveries where member_id > callers.member_id)
    from callers where member_id is not null
  )
  select message.id, subject, subject_id as "subjectId", url, secret,
    message.member_id as "memberId", created_at as "createdAt", attempts
  from callers`;

/**
 * Skips from member to member along the index, and takes the first messages of each: the cost
 * depends on the number of members with messages, not of messages. The cross join fixes this order,
 * which SQLite without statistics might reverse. PostgreSQL would read every message for every
 * member, without a lateral join.
 */
const due = statement<{ now: number; perMember: number }, WebhookDelivery>({
  sqlite: `${CALLERS}
    cross join webhook_deliveries as message
    join webhooks using (subject_id)
  where message.id in (
    select id from webhook_deliveries
    where member_id = callers.member_id and next_at <= @now order by next_at limit @perMember)
  order by next_at, message.rowid`,
  postgres: `${CALLERS}
    cross join lateral (
      select rowid, id, subject_id, member_id, created_at, next_at, attempts
      from webhook_deliveries
      where member_id = callers.member_id and next_at <= @now
      order by next_at, rowid limit @perMember) as message
    join webhooks using (subject_id)
  order by next_at, message.rowid`,
});
const next = valueOf<object, number | null>('select min(next_at) from webhook_deliveries');
const end = statement('delete from webhook_deliveries where id = @id');
const postpone = statement(
  'update webhook_deliveries set next_at = @nextAt, attempts = attempts + 1 where id = @id',
);

export const webhookOperations: WebhookOperations = {
  dueWebhooks: (now, perMember) => due.all({ now, perMember }),

  *nextWebhookAt() {
    return (yield* next.get({})) ?? null;
  },

  // The webhook's settings are kept: a retried job ends again.
  *endWebhook(id) {
    yield* end.run({ id });
  },

  *postponeWebhook(id, nextAt) {
    yield* postpone.run({ nextAt, id });
  },
};
