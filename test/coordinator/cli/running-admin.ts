/**
 * The admin socket of a coordinator in this process, over a real store, with links and files that a
 * test makes up.
 */
import type { ServerFacts } from '@inference-gateway/coordinator/admin/admin-context';
import { serveAdmin } from '@inference-gateway/coordinator/admin/server';
import type {
  AdminAssets,
  AssetFault,
  PruneReport,
} from '@inference-gateway/coordinator/core/admin-assets';
import type { AdminSessions } from '@inference-gateway/coordinator/core/admin-sessions';
import type { ProviderView, Sessions } from '@inference-gateway/coordinator/core/sessions';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { onTestFinished } from 'vitest';

export interface RunningAdmin {
  readonly store: Store;
  readonly links: MadeUpLinks;
  readonly assets: MadeUpAssets;
}

export async function serveAdminOn(
  dataDir: string,
  server: ServerFacts = { address: 'http://127.0.0.1:9', publicUrl: null },
): Promise<RunningAdmin> {
  const store = await openStore(dataDir);
  const links = new MadeUpLinks();
  const assets = new MadeUpAssets();
  const admin = await serveAdmin(dataDir, { store, sessions: links, server, assets });
  onTestFinished(async () => {
    await admin.close();
    await store.close();
  });
  return { store, links, assets };
}

/** Providers are online when a test says so; what was asked of their links is recorded. */
class MadeUpLinks implements Sessions, AdminSessions {
  readonly online = new Map<string, ProviderView>();
  readonly asked: string[] = [];

  kick(providerId: string): boolean {
    this.asked.push(`kick ${providerId}`);
    return this.online.has(providerId);
  }

  setDraining(providerId: string, draining: boolean): void {
    this.asked.push(`${draining ? 'drain' : 'resume'} ${providerId}`);
  }

  providers(): readonly ProviderView[] {
    return [...this.online.values()];
  }

  candidates(): readonly never[] {
    return [];
  }

  open(): null {
    return null;
  }

  report(): void {}

  onCapacity(): () => void {
    return () => {};
  }
}

/** Files are as a test says; what was asked to be deleted is recorded. */
class MadeUpAssets implements AdminAssets {
  checked = 0;
  faults: AssetFault[] = [];
  readonly asked: { readonly now: number; readonly dryRun: boolean }[] = [];

  async verify(): Promise<{ checked: number; faults: readonly AssetFault[] }> {
    return { checked: this.checked, faults: this.faults };
  }

  async prune(now: number, dryRun: boolean): Promise<PruneReport> {
    this.asked.push({ now, dryRun });
    return { expired: 3, orphans: 2, bytes: 4_096 };
  }
}
