/**
 * The admin socket of a coordinator in this process, with a real store, and with links, files and
 * job actions that a test controls.
 */
import { NO_ALIASES } from '@inference-gateway/coordinator/core/access/aliases';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { ServerFacts } from '@inference-gateway/coordinator/operations/operation';
import { serveAdmin } from '@inference-gateway/coordinator/operations/admin-socket';
import type {
  AdminAssets,
  AssetFault,
  PruneReport,
} from '@inference-gateway/coordinator/core/usage/admin-assets';
import type {
  Want,
  AdminLinks,
  ProviderView,
  Links,
} from '@inference-gateway/coordinator/core/routing/links';
import type { Candidate } from '@inference-gateway/coordinator/core/routing/match';
import { createOfflineJobs } from '@inference-gateway/coordinator/jobs/offline-jobs';
import type { JobActions, Waiting } from '@inference-gateway/coordinator/jobs/job-actions';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Job, Provider, QueueLimits, Store } from '@inference-gateway/coordinator/store/port';
import { onTestFinished } from 'vitest';
import { HOST, SERVICE } from '../../store/store-rows.js';

export interface RunningAdmin {
  readonly store: Store;
  readonly links: MadeUpLinks;
  readonly assets: MadeUpAssets;
  readonly jobActions: MadeUpActions;
}

const DAY_MS = 86_400_000;
const LIMITS: QueueLimits = { jobs: 100, bytes: 1_000_000 };

export async function serveAdminOn(
  dataDir: string,
  server: ServerFacts = { address: 'http://127.0.0.1:9', publicUrl: null },
): Promise<RunningAdmin> {
  const store = await openStore(dataDir);
  const links = new MadeUpLinks();
  const assets = new MadeUpAssets();
  const jobActions = madeUpActions(store);
  const retention = { retentionMs: DAY_MS, usageRetentionMs: DAY_MS, auditRetentionMs: DAY_MS };
  const running = {
    retention,
    system: null,
    onMember: (): void => {},
    linkedNodes: () => new Map([['local', true]]),
    now: Date.now,
  };
  const made = { links, server, assets, jobActions, asyncEnabled: true, ...running };
  const admin = await serveAdmin(dataDir, { store, ...made });
  onTestFinished(async () => {
    await admin.close();
    await store.close();
  });
  return { store, links, assets, jobActions };
}

/** Providers are online if the test says so; requests to their links are recorded. */
class MadeUpLinks implements Links, AdminLinks {
  readonly aliases = NO_ALIASES;
  readonly online = new Map<string, ProviderView>();
  /** The candidates for every model. */
  served: readonly Candidate[] = [];
  readonly asked: string[] = [];

  kick(providerId: string): boolean {
    this.asked.push(`kick ${providerId}`);
    return this.online.has(providerId);
  }

  refuse(providerId: string, why: 'disabled' | 'revoked'): boolean {
    this.asked.push(`refuse ${providerId}: ${why}`);
    return this.online.has(providerId);
  }

  question(): 'offline' {
    return 'offline';
  }

  providers(): readonly ProviderView[] {
    return [...this.online.values()];
  }

  candidates(): readonly Candidate[] {
    return this.served;
  }

  shared(): null {
    return null;
  }

  open(): null {
    return null;
  }

  ask(): null {
    return null;
  }

  want(): Want {
    return { isKnown: true, end: () => {} };
  }

  reserve(): null {
    return null;
  }

  freeJobSlots(): number {
    return 0;
  }

  report(): void {}

  onCapacity(): () => void {
    return () => {};
  }
}

/** A provider as its link shows it while it serves `SERVICE` and has a call in progress. */
export function onlineView({ id: providerId, ...provider }: Provider): ProviderView {
  const { ownerId, ownerName, name, createdAt } = provider;
  return {
    providerId,
    ownerId,
    ownerName,
    name,
    createdAt,
    link: {
      linkId: 'link',
      node: null,
      connectedAt: Date.now(),
      agentVersion: '0.1.0',
      host: HOST,
      accepts: 'all',
      busy: 1,
      cards: [],
      busyByService: new Map(),
    },
    offlineSince: null,
    draining: false,
    paused: false,
    services: [SERVICE],
    closed: false,
    shares: [],
  };
}

/** Faults are as the test says; deletions are recorded. */
class MadeUpAssets implements AdminAssets {
  checked = 0;
  faults: AssetFault[] = [];
  readonly asked: { readonly now: number; readonly dryRun: boolean }[] = [];
  readonly removed: string[] = [];

  async verify(): Promise<{ checked: number; faults: readonly AssetFault[] }> {
    return { checked: this.checked, faults: this.faults };
  }

  async removeFiles(ids: readonly string[]): Promise<number> {
    this.removed.push(...ids);
    return ids.length;
  }

  async prune(now: number, dryRun: boolean): Promise<PruneReport> {
    this.asked.push({ now, dryRun });
    return { expired: 3, orphans: 2, bytes: 4_096 };
  }
}

interface MadeUpActions extends JobActions {
  lastTickAt: number | null;
  /** The members in whose name actions were requested; null for an administrator. */
  readonly askedFor: (string | null)[];
}

/** Acts as without a coordinator, but explains queued jobs as a running dispatcher does. */
function madeUpActions(store: Store): MadeUpActions {
  const idle = createOfflineJobs(store, LIMITS, SYSTEM_CLOCK);
  const askedFor: (string | null)[] = [];
  const noted = (memberId: string | null): string | null => {
    askedFor.push(memberId);
    return memberId;
  };
  return {
    ...idle,
    askedFor,
    cancel: (jobId, memberId) => idle.cancel(jobId, noted(memberId)),
    cancelBatch: (batchId, memberId) => idle.cancelBatch(batchId, noted(memberId)),
    retry: (jobId, memberId) => idle.retry(jobId, noted(memberId)),
    waiting: (jobs: readonly Job[]) =>
      Promise.resolve(new Map(jobs.map(({ id }): [string, Waiting] => [id, BUSY]))),
    lastTickAt: null,
  };
}

const BUSY: Waiting = { position: 3, reason: 'All 2 slots are busy.' };
