import { aliasOperations } from './sharing/aliases.js';
import { apiKeyOperations } from './members/api-keys.js';
import { assetOperations } from './assets/assets.js';
import { auditOperations } from './audit/audit-log.js';
import { batchOperations } from './jobs/batches.js';
import { deviceOperations } from './providers/device-logins.js';
import { dispatchOperations } from './jobs/dispatch.js';
import { feedOperations } from './members/feeds.js';
import { fileBatchOperations } from './jobs/file-batches.js';
import { fileOperations } from './assets/files.js';
import { inviteOperations } from './members/invites.js';
import { jobGroupOperations } from './jobs/job-groups.js';
import { jobOperations } from './jobs/jobs.js';
import { joinTokenOperations } from './providers/join-tokens.js';
import { sessionOperations } from './members/member-sessions.js';
import { logInOperations } from './members/log-ins.js';
import { leaseOperations } from './limits/leases.js';
import { memberDeletion } from './members/member-deletion.js';
import { memberOperations } from './members/members.js';
import { nodeOperations } from './nodes/nodes.js';
import { networkInvitationOperations, networkOperations } from './sharing/networks.js';
import type { Operations } from './operations.js';
import { presenceOperations } from './providers/presence.js';
import { providerOperations } from './providers/providers.js';
import { recentUsageOperations, usageOperations } from './usage/usage.js';
import { periodOperations } from './usage/periods.js';
import { retentionOperations } from './usage/retention.js';
import { shareOperations } from './sharing/shares.js';
import { statement } from './statement.js';
import { wantedOperations } from './providers/wanted-models.js';
import { webhookOperations } from './jobs/webhooks.js';
import { workOperations } from './jobs/own-work.js';

const probe = statement('update write_probe set writes = writes + 1');

/** Every operation, for all engines. */
export const OPERATIONS: Operations = {
  ...memberOperations,
  ...memberDeletion,
  ...inviteOperations,
  ...sessionOperations,
  ...feedOperations,
  ...logInOperations,
  ...apiKeyOperations,
  ...auditOperations,
  ...joinTokenOperations,
  ...deviceOperations,
  ...providerOperations,
  ...presenceOperations,
  ...wantedOperations,
  ...nodeOperations,
  ...networkOperations,
  ...networkInvitationOperations,
  ...shareOperations,
  ...aliasOperations,
  ...assetOperations,
  ...usageOperations,
  ...recentUsageOperations,
  ...periodOperations,
  ...jobOperations,
  ...jobGroupOperations,
  ...batchOperations,
  ...fileOperations,
  ...fileBatchOperations,
  ...dispatchOperations,
  ...webhookOperations,
  ...workOperations,
  ...leaseOperations,
  ...retentionOperations,
  *probeWrite() {
    yield* probe.run({});
  },
};
