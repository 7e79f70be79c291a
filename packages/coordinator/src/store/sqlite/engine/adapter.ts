import type { Database } from 'better-sqlite3';
import { aliasOperations } from '../sharing/aliases.js';
import { apiKeyOperations } from '../members/api-keys.js';
import { assetOperations } from '../assets/assets.js';
import { auditOperations } from './audit-log.js';
import type { AuditTrail } from './audit-trail.js';
import { batchOperations } from '../jobs/batches.js';
import { deviceOperations } from '../providers/device-logins.js';
import { dispatchOperations } from '../jobs/dispatch.js';
import { fileBatchOperations } from '../jobs/file-batches.js';
import { fileOperations } from '../assets/files.js';
import { inviteOperations } from '../members/invites.js';
import { jobOperations } from '../jobs/jobs.js';
import { joinTokenOperations } from '../providers/join-tokens.js';
import { sessionOperations } from '../members/member-sessions.js';
import { memberDeletion } from '../members/member-deletion.js';
import { memberOperations } from '../members/members.js';
import { networkInvitationOperations, networkOperations } from '../sharing/networks.js';
import type { Operations } from './operations.js';
import { presenceOperations } from '../providers/presence.js';
import { providerOperations } from '../providers/providers.js';
import { recentUsageOperations, usageOperations } from '../usage/usage.js';
import { retentionOperations } from '../usage/retention.js';
import { shareOperations } from '../sharing/shares.js';
import { webhookOperations } from '../jobs/webhooks.js';

/**
 * Prepares every statement once, on the connection that runs them. `nodeId`: the id of the
 * coordinator that uses the store.
 */
export function createOperations(
  database: Database,
  trail: AuditTrail,
  nodeId: string,
): Operations {
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
    ...presenceOperations(database, nodeId),
    ...networkOperations(database, trail),
    ...networkInvitationOperations(database, trail),
    ...shareOperations(database, trail),
    ...aliasOperations(database, trail),
    ...assetOperations(database),
    ...usageOperations(database),
    ...recentUsageOperations(database),
    ...jobOperations(database),
    ...batchOperations(database),
    ...fileOperations(database),
    ...fileBatchOperations(database),
    ...dispatchOperations(database, trail, nodeId),
    ...webhookOperations(database),
    ...retentionOperations(database),
    probeWrite: () => void probe.run(),
  };
}
