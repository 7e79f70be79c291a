/** What the administrative operations of a running coordinator work on. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SetupLink } from './accounts/setup-link.js';
import type { AdminParts, SystemFacts } from './operations/operation.js';
import { createAdminAssets } from './assets/admin-assets.js';
import { assetLimits } from './assets/asset-library.js';
import type { Config } from './config/config.js';
import type { Jobs } from './jobs/jobs.js';
import type { Registry } from './links/registry.js';
import { programVersion } from './program-version.js';
import { DATABASE_FILE, migrationsOf } from './store/open.js';
import type { Store } from './store/port.js';

interface RunningParts {
  readonly config: Config;
  readonly store: Store;
  readonly registry: Registry;
  readonly jobs: Jobs;
  readonly setup: SetupLink;
  readonly address: string;
}

export function partsOfAdmin(running: RunningParts): AdminParts {
  const { config, store, registry, jobs, setup, address } = running;
  return {
    store,
    sessions: registry,
    assets: createAdminAssets(config.dataDir, store),
    server: { address, publicUrl: config.publicUrl },
    system: systemFacts(config),
    // A link that cannot be removed opens nothing any more.
    onMember: () => void setup.close().catch(() => {}),
    desk: jobs,
    retention: config,
    asyncEnabled: config.asyncEnabled,
    now: Date.now,
  };
}

function systemFacts(config: Config): SystemFacts {
  const { dataDir, retentionMs } = config;
  return {
    version: programVersion(),
    database: () => ({
      bytes: statSync(join(dataDir, DATABASE_FILE)).size,
      schemaVersion: migrationsOf(dataDir).schemaVersion,
    }),
    assetLimits: assetLimits(config.assetsMaxBytes),
    retentionMs,
    limits: {
      rate_limit_requests: config.rateLimitRequests,
      rate_limit_window_s: config.rateLimitWindowMs / 1_000,
      max_concurrent: config.maxConcurrent,
      max_queued: config.maxQueuedJobs,
      max_json_bytes: config.maxJsonBytes,
      max_body_memory_bytes: config.maxBodyMemoryBytes,
      max_images: config.maxImages,
      sync_wait_s: config.syncWaitMs / 1_000,
      sync_deadline_s: config.syncDeadlineMs / 1_000,
      job_max_attempts: config.jobMaxAttempts,
      provider_approval: config.providerApproval,
      assets_access: config.assetsAccess,
      assets_link_s: config.assetsLinkMs / 1_000,
    },
  };
}
