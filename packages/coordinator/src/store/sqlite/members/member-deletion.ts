/** Deletes a member with all their data; usage sums and the audit log stay, without the name. */
import type { Database } from 'better-sqlite3';
import type { MemberHoldings } from '../../port.js';
import { DELETED_MEMBER, auditEraser } from '../engine/audit-log.js';
import type { AuditTrail } from '../engine/audit-trail.js';
import { jobTransitions } from '../jobs/transitions.js';
import { MEMBER_COLUMNS } from './member-rows.js';
import type { MemberRow } from './member-rows.js';
import type { Operations } from '../engine/operations.js';

type DeletionOperations = Pick<Operations, 'memberHoldings' | 'deleteMember' | 'deleteMemberJobs'>;

export function memberDeletion(database: Database, trail: AuditTrail): DeletionOperations {
  const holdings = holdingsReader(database);
  const deleteJobs = database
    .prepare<object, string>(
      `delete from jobs where id in (
         select id from jobs where member_id = @id
           and status in ('PROCESSED', 'FAILED', 'CANCELED') limit @limit)
       returning id`,
    )
    .pluck();
  const deleteWebhooks = database.prepare(
    'delete from webhooks where subject_id in (select value from json_each(?))',
  );
  return {
    memberHoldings: holdings,
    deleteMemberJobs: (id, limit) => {
      const gone = deleteJobs.all({ id, limit });
      deleteWebhooks.run(JSON.stringify(gone));
      return gone.length;
    },
    deleteMember: deleter(database, trail, holdings),
  };
}

/** Counts for one member, each with one statement that uses an index. */
const COUNTS = {
  keys: 'api_keys where member_id = @id and revoked_at is null',
  sessions: 'member_sessions where member_id = @id',
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

function holdingsReader(database: Database): Operations['memberHoldings'] {
  const find = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const counts = Object.entries(COUNTS).map(
    ([name, from]) => `(select count(*) from ${from}) as ${name}`,
  );
  const count = database.prepare<
    object,
    Record<keyof typeof COUNTS, number> & { assetBytes: number }
  >(
    `select ${counts.join(', ')},
       (select coalesce(sum(bytes), 0) from assets where member_id = @id) as assetBytes`,
  );
  const namesOf = (table: 'providers' | 'networks') =>
    database
      .prepare<[string], string>(`select name from ${table} where owner_id = ? order by name`)
      .pluck();
  const [providers, networks] = [namesOf('providers'), namesOf('networks')];
  return (id): MemberHoldings | null => {
    const row = find.get(id);
    const found = row && count.get({ id, email: row.email });
    if (found === undefined) return null;
    return { ...found, providers: providers.all(id), networks: networks.all(id) };
  };
}

/** In this order, because of the foreign keys: each table before those that it refers to. */
const DELETIONS = [
  `delete from webhooks where subject_id in (
     select id from jobs where member_id = @id
     union all select id from batches where member_id = @id)`,
  'delete from webhook_deliveries where member_id = @id',
  'delete from idempotency_keys where member_id = @id',
  'delete from jobs where member_id = @id',
  'delete from batches where member_id = @id',
  'delete from queue_counts where member_id = @id',
  'delete from fair_callers where member_id = @id',
  'delete from assets where member_id = @id',
  'delete from asset_space where member_id = @id',
  'delete from api_keys where member_id = @id',
  'delete from member_sessions where member_id = @id',
  'delete from device_logins where owner_id = @id',
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

/**
 * Ends the leases of other members' jobs on the deleted providers, as when a provider is removed:
 * the sweep treats them like those of a lost agent.
 */
const END_LEASES = `update jobs set lease_until = min(lease_until, @now)
  where status = 'PROCESSING' and provider_id in (select id from providers where owner_id = @id)`;

function deleter(
  database: Database,
  trail: AuditTrail,
  holdingsOf: Operations['memberHoldings'],
): Operations['deleteMember'] {
  const find = database.prepare<[string], MemberRow>(
    `select ${MEMBER_COLUMNS} from members where id = ?`,
  );
  const otherAdmin = database.prepare<[string]>(
    `select 1 from members where role = 'admin' and disabled_at is null and id <> ?`,
  );
  const idsOf = (from: string) =>
    database.prepare<object, string>(`select id from ${from}`).pluck();
  const unfinished = idsOf(`jobs where member_id = @id and status in ('QUEUED', 'PROCESSING')`);
  const assets = idsOf('assets where member_id = @id');
  const { cancel } = jobTransitions(database);
  const endLeases = database.prepare(END_LEASES);
  const deletions = DELETIONS.map((sql) => database.prepare(sql));
  const erase = auditEraser(database);
  return (id, now) => {
    const row = find.get(id);
    const holdings = holdingsOf(id);
    if (row === undefined || holdings === null) return { kind: 'unknown' };
    if (row.role === 'admin' && otherAdmin.get(id) === undefined) return { kind: 'last_admin' };
    // Jobs that were created after the caller had canceled the others. Canceling also updates the
    // counts of the queue.
    for (const jobId of unfinished.all({ id })) cancel(jobId, id, now);
    const assetIds = assets.all({ id });
    endLeases.run({ id, now });
    for (const one of deletions) one.run({ id, email: row.email });
    erase({ id, email: row.email, name: row.name });
    const subject = { kind: 'user', id, name: DELETED_MEMBER };
    const { assets: files, keys, providers: machines } = holdings;
    const before = { keys, files, machines: machines.length };
    trail.record({ action: 'user.delete', subject, before, after: null });
    return { kind: 'deleted', assetIds, holdings };
  };
}
