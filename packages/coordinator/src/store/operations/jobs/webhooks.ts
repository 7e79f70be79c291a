import type { WebhookDelivery, WebhookStore } from '../../port.js';
import type { Operations } from '../operations.js';
import { context, statement, valueOf } from '../statement.js';

type WebhookOperations = Pick<Operations, keyof WebhookStore>;

/** No other coordinator has it. */
const FREE = '(leased_until is null or leased_until <= @now or leased_by = @nodeId)';

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
const due = statement<{ now: number; perMember: number; nodeId: string }, WebhookDelivery>({
  sqlite: `${CALLERS}
    cross join webhook_deliveries as message
    join webhooks using (subject_id)
  where message.id in (
    select id from webhook_deliveries
    where member_id = callers.member_id and next_at <= @now and ${FREE}
    order by next_at limit @perMember)
  order by next_at, message.rowid`,
  postgres: `${CALLERS}
    cross join lateral (
      select rowid, id, subject_id, member_id, created_at, next_at, attempts
      from webhook_deliveries
      where member_id = callers.member_id and next_at <= @now and ${FREE}
      order by next_at, rowid limit @perMember) as message
    join webhooks using (subject_id)
  order by next_at, message.rowid`,
});
/** By two indexes: few are leased at a time. */
const next = valueOf<{ nodeId: string }, number | null>(
  `select min(at) from (
     select min(next_at) as at from webhook_deliveries
     where leased_until is null or leased_by = @nodeId
     union all select min(case when next_at > leased_until then next_at else leased_until end)
     from webhook_deliveries where leased_until is not null and leased_by <> @nodeId) as times`,
);
const lease = statement<{ id: string; until: number; now: number; nodeId: string }>(
  `update webhook_deliveries set leased_by = @nodeId, leased_until = @until
   where id = @id and next_at <= @now and ${FREE}`,
);
/** An attempt of which the lease has ended, and was not taken by another, may still be written. */
const HELD = 'id = @id and leased_by = @nodeId';
const release = statement<OfHolder>(
  `update webhook_deliveries set leased_by = null, leased_until = null where ${HELD}`,
);
const end = statement<OfHolder>(`delete from webhook_deliveries where ${HELD}`);
const postpone = statement<OfHolder & { nextAt: number }>(
  `update webhook_deliveries
   set next_at = @nextAt, attempts = attempts + 1, leased_by = null, leased_until = null
   where ${HELD}`,
);

interface OfHolder {
  readonly id: string;
  readonly nodeId: string;
}

export const webhookOperations: WebhookOperations = {
  *dueWebhooks(now, perMember) {
    const { nodeId } = yield* context();
    return yield* due.all({ now, perMember, nodeId });
  },

  *nextWebhookAt() {
    const { nodeId } = yield* context();
    return (yield* next.get({ nodeId })) ?? null;
  },

  *leaseWebhook(id, until, now) {
    const { nodeId } = yield* context();
    return (yield* lease.run({ id, until, now, nodeId })) === 1;
  },

  *releaseWebhook(id) {
    const { nodeId } = yield* context();
    yield* release.run({ id, nodeId });
  },

  // The webhook's settings are kept: a retried job ends again.
  *endWebhook(id) {
    const { nodeId } = yield* context();
    yield* end.run({ id, nodeId });
  },

  *postponeWebhook(id, nextAt) {
    const { nodeId } = yield* context();
    yield* postpone.run({ nextAt, id, nodeId });
  },
};
