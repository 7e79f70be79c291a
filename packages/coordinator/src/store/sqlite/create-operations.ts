import type { Database } from 'better-sqlite3';
import { apiKeyOperations } from './api-keys.js';
import { assetOperations } from './assets.js';
import { batchOperations } from './batches.js';
import { dispatchOperations } from './dispatch.js';
import { jobOperations } from './jobs.js';
import { joinTokenOperations } from './join-tokens.js';
import { memberOperations } from './members.js';
import type { Operations } from './operations.js';
import { providerOperations } from './providers.js';
import { usageOperations } from './usage.js';
import { webhookOperations } from './webhooks.js';

/** Prepares every statement once, on the connection that will run them. */
export function createOperations(database: Database): Operations {
  const probe = database.prepare('update write_probe set writes = writes + 1');
  return {
    ...memberOperations(database),
    ...apiKeyOperations(database),
    ...joinTokenOperations(database),
    ...providerOperations(database),
    ...assetOperations(database),
    ...usageOperations(database),
    ...jobOperations(database),
    ...batchOperations(database),
    ...dispatchOperations(database),
    ...webhookOperations(database),
    probeWrite: () => void probe.run(),
  };
}
