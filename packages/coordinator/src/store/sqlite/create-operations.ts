import type { Database } from 'better-sqlite3';
import { apiKeyOperations } from './api-keys.js';
import { assetOperations } from './assets.js';
import { auditOperations } from './audit-log.js';
import type { AuditTrail } from './audit-trail.js';
import { batchOperations } from './batches.js';
import { deviceOperations } from './device-logins.js';
import { dispatchOperations } from './dispatch.js';
import { inviteOperations } from './invites.js';
import { jobOperations } from './jobs.js';
import { joinTokenOperations } from './join-tokens.js';
import { sessionOperations } from './member-sessions.js';
import { memberDeletion } from './member-deletion.js';
import { memberOperations } from './members.js';
import { networkInvitationOperations } from './network-invitations.js';
import { networkOperations } from './networks.js';
import type { Operations } from './operations.js';
import { providerOperations } from './providers.js';
import { recentUsageOperations } from './recent-usage.js';
import { retentionOperations } from './retention.js';
import { shareOperations } from './shares.js';
import { usageOperations } from './usage.js';
import { webhookOperations } from './webhooks.js';

/** Prepares every statement once, on the connection that will run them. */
export function createOperations(database: Database, trail: AuditTrail): Operations {
  const probe = database.prepare('update write_probe set writes = writes + 1');
  return {
    ...memberOperations(database, trail),
    ...memberDeletion(database, trail),
    ...inviteOperations(database, trail),
    ...sessionOperations(database, trail),
    ...apiKeyOperations(database, trail),
    ...auditOperations(database, trail),
    ...joinTokenOperations(database, trail),
    ...deviceOperations(database, trail),
    ...providerOperations(database, trail),
    ...networkOperations(database, trail),
    ...networkInvitationOperations(database, trail),
    ...shareOperations(database, trail),
    ...assetOperations(database),
    ...usageOperations(database),
    ...recentUsageOperations(database),
    ...jobOperations(database),
    ...batchOperations(database),
    ...dispatchOperations(database, trail),
    ...webhookOperations(database),
    ...retentionOperations(database),
    probeWrite: () => void probe.run(),
  };
}
