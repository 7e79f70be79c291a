/** Joins what runs without a caller on the line: jobs, and the webhooks that tell of their end. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AssetLibrary } from './assets/asset-library.js';
import type { AssetLinks } from './assets/asset-links.js';
import type { Config } from './config/config.js';
import type { Budget } from './core/usage/budget.js';
import type { Sessions } from './core/routing/links.js';
import { Jobs } from './jobs/jobs.js';
import type { Exposition } from './exposition.js';
import { presentBatchDetail, writeJobDetail } from './http/jobs/present-job.js';
import type { Store } from './store/port.js';
import { openWebhooks } from './jobs/webhooks/webhook-sender.js';

interface QueuedWorkParts {
  readonly config: Config;
  readonly store: Store;
  readonly sessions: Sessions;
  readonly library: AssetLibrary;
  readonly exposition: Exposition;
  readonly assetLinks: AssetLinks;
  /** A job of the member is new, runs, or is in another state. */
  /** Memory for answers, which calls take theirs from, too. */
  readonly budget: Budget;
  readonly onMoved: (memberId: string | null) => void;
  readonly logger: Logger;
}

export interface QueuedWork {
  readonly jobs: Jobs;
  /** Gives out nothing more. */
  stop(): Promise<void>;
  /** Needs the links to have ended. */
  close(): Promise<void>;
}

export function openQueuedWork(parts: QueuedWorkParts): QueuedWork {
  const { config, store, sessions, library, budget, exposition, assetLinks, logger } = parts;
  const webhooks = openWebhooks({
    store,
    logger,
    config,
    present: {
      // As the operator has set: no key asks for it.
      job: (detail) =>
        writeJobDetail(detail, { urlOf: assetLinks.urlsFor(null), waiting: new Map() }),
      batch: (detail) => JSON.stringify(presentBatchDetail(detail)),
    },
  });
  // What an earlier process could not deliver.
  webhooks.wake();
  const jobs = new Jobs({
    store,
    sessions,
    library,
    budget,
    settings: config,
    logger,
    onMoved: parts.onMoved,
    onEnded: (usage) => {
      webhooks.wake();
      if (usage !== null) exposition.observeJob(usage);
    },
  });
  return {
    jobs,
    stop: () => jobs.stop(),
    async close() {
      await jobs.close();
      await webhooks.close();
    },
  };
}
