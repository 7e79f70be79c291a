/** Deletes a member with all their data; usage sums and the audit log stay, without the name. */
import { DELETED_MEMBER, eraseFromAudit } from '../audit/audit-log.js';
import { record } from '../audit/audit-trail.js';
import { cancelJobOf } from '../jobs/transitions.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { SqlText } from '../statement.js';
import { memberById } from './member-rows.js';

type DeletionOperations = Pick<Operations, 'memberHoldings' | 'deleteMember' | 'deleteMemberJobs'>;

/** Counts for one member, each with one statement that uses an index. */
const COUNTS = {
  keys: 'api_keys where member_id = @id and revoked_at is null',
  sessions: 'member_sessions where member_id = @id',
  passkeys: 'passkeys where member_id = @id',
  identities: 'oidc_identities where member_id = @id',
  invites: 'invites where email = @email and used_at is null and revoked_at is null',
  deviceLogins: 'device_logins where owner_id = @id',
  joinTokens: 'join_tokens where owner_id = @id and used_at is null and revoked_at is null',
  jobsQueued: `jobs where member_id = @id and status = 'QUEUED'`,
  jobsRunning: `jobs where member_id = @id and status = 'PROCESSING'`,
  jobsEnded: `jobs where member_id = @id and status in ('PROCESSED', 'FAILED', 'CANCELED')`,
  batches: 'batches where member_id = @id',
  assets: 'assets where member_id = @id',
  memberships: `network_members nm join networks n on n.id = nm.network_id
    where nm.member_id = @id and n.owner_id <> @id`,
  sharesGiven: `shares s join providers p on p.id = s.provider_id where p.owner_id = @id`,
  sharesReceived: 'shares where member_id = @id',
  blocks: 'blocks where @id in (owner_id, member_id)',
  aliases: 'aliases where member_id = @id',
  webhooks: 'webhook_deliveries where member_id = @id',
  usageRows: 'usage where member_id = @id',
} as const;

const count = statement<
  { id: string; email: string },
  Record<keyof typeof COUNTS, number> & { assetBytes: number }
>(
  `select ${Object.entries(COUNTS)
    .map(([name, from]) => `(select count(*) from ${from}) as "${name}"`)
    .join(', ')},
     (select coalesce(sum(bytes), 0) from assets where member_id = @id) as "assetBytes"`,
);

const namesOf = (table: 'providers' | 'networks') =>
  valueOf<{ id: string }, string>(`select name from ${table} where owner_id = @id order by name`);
const providerNames = namesOf('providers');
const networkNames = namesOf('networks');

const ENDED_JOBS = `select id from jobs where member_id = @id
  and status in ('PROCESSED', 'FAILED', 'CANCELED') limit @limit`;
const deleteJobs = valueOf<{ id: string; limit: number }, string>({
  sqlite: `delete from jobs where id in (${ENDED_JOBS}) returning id`,
  // Locked: a job that its caller retries meanwhile is not deleted.
  postgres: `delete from jobs where id in (${ENDED_JOBS} for update) returning id`,
});
const deleteWebhooks = statement<{ ids: string }>(
  'delete from webhooks where subject_id in (select value from json_each(@ids))',
);

const otherAdmin = statement<{ id: string }>(
  `select 1 from members where role = 'admin' and disabled_at is null and id <> @id`,
);
const idsOf = (from: string) => valueOf<{ id: string }, string>(`select id from ${from}`);
const unfinished = idsOf(`jobs where member_id = @id and status in ('QUEUED', 'PROCESSING')`);
const assetsOf = idsOf('assets where member_id = @id');

/** PostgreSQL counts these rows in a view. */
const countedIn = (table: 'queue_counts' | 'asset_space'): SqlText => ({
  sqlite: `delete from ${table} where member_id = @id`,
  postgres: 'select 1 where false',
});

/** In this order, because of the foreign keys: each table before those that it refers to. */
const DELETIONS: readonly SqlText[] = [
  `delete from webhooks where subject_id in (
     select id from jobs where member_id = @id
     union all select id from batches where member_id = @id)`,
  'delete from webhook_deliveries where member_id = @id',
  'delete from idempotency_keys where member_id = @id',
  'delete from jobs where member_id = @id',
  'delete from batches where member_id = @id',
  countedIn('queue_counts'),
  'delete from fair_callers where member_id = @id',
  'delete from assets where member_id = @id',
  countedIn('asset_space'),
  'delete from api_keys where member_id = @id',
  'delete from member_sessions where member_id = @id',
  'delete from passkeys where member_id = @id',
  'delete from oidc_identities where member_id = @id',
  'delete from password_resets where member_id = @id',
  'delete from device_logins where owner_id = @id',
  'delete from wanted_models where member_id = @id',
  'delete from invites where member_id = @id or email = @email',
  'delete from join_tokens where owner_id = @id',
  'delete from shares where member_id = @id',
  'delete from blocks where @id in (owner_id, member_id)',
  'delete from aliases where member_id = @id',
  'delete from network_invitations where @id in (member_id, invited_by)',
  'delete from providers where owner_id = @id',
  'delete from networks where owner_id = @id',
  'delete from network_members where member_id = @id',
  `delete from device_guesses where guesser = 'user:' || @id`,
  'delete from members where id = @id',
];
const deletions = DELETIONS.map((sql) => statement<{ id: string; email: string }>(sql));

/**
 * Ends the leases of other members' jobs on the deleted providers, as when a provider is removed:
 * the sweep treats them like those of a lost agent.
 */
const endLeases = statement<{ id: string; now: number }>(
  `update jobs set lease_until = case when lease_until > @now then @now else lease_until end
   where status = 'PROCESSING' and provider_id in (select id from providers where owner_id = @id)`,
);

export const memberDeletion: DeletionOperations = {
  *memberHoldings(id) {
    const row = yield* memberById.get({ id });
    const found = row && (yield* count.get({ id, email: row.email }));
    if (found === undefined) return null;
    const providers = yield* providerNames.all({ id });
    return { ...found, providers, networks: yield* networkNames.all({ id }) };
  },

  *deleteMemberJobs(id, limit) {
    const gone = yield* deleteJobs.all({ id, limit });
    yield* deleteWebhooks.run({ ids: JSON.stringify(gone) });
    return gone.length;
  },

  *deleteMember(id, now) {
    const row = yield* memberById.get({ id });
    const holdings = yield* memberDeletion.memberHoldings(id);
    if (row === undefined || holdings === null) return { kind: 'unknown' };
    if (row.role === 'admin' && (yield* otherAdmin.get({ id })) === undefined) {
      return { kind: 'last_admin' };
    }
    // Jobs that were created after the caller had canceled the others. Canceling also updates the
    // counts of the queue.
    for (const jobId of yield* unfinished.all({ id })) yield* cancelJobOf(jobId, id, now);
    const assetIds = yield* assetsOf.all({ id });
    yield* endLeases.run({ id, now });
    for (const one of deletions) yield* one.run({ id, email: row.email });
    yield* eraseFromAudit({ id, email: row.email, name: row.name });
    const subject = { kind: 'user', id, name: DELETED_MEMBER };
    const { assets: files, keys, providers: machines } = holdings;
    const before = { keys, files, machines: machines.length };
    yield* record({ action: 'user.delete', subject, before, after: null });
    return { kind: 'deleted', assetIds, holdings };
  },
};
