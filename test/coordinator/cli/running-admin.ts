/**
 * The admin socket of a coordinator in this process, over a real store, with links that a test
 * makes up.
 */
import type { ServerFacts } from '@inference-gateway/coordinator/admin/admin-context';
import { serveAdmin } from '@inference-gateway/coordinator/admin/server';
import type { AdminSessions } from '@inference-gateway/coordinator/core/admin-sessions';
import type { ProviderView, Sessions } from '@inference-gateway/coordinator/core/sessions';
import { openStore } from '@inference-gateway/coordinator/store/open';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { onTestFinished } from 'vitest';

export interface RunningAdmin {
  readonly store: Store;
  readonly links: MadeUpLinks;
}

export async function serveAdminOn(
  dataDir: string,
  server: ServerFacts = { address: 'http://127.0.0.1:9', publicUrl: null },
): Promise<RunningAdmin> {
  const store = await openStore(dataDir);
  const links = new MadeUpLinks();
  const admin = await serveAdmin(dataDir, { store, sessions: links, server });
  onTestFinished(async () => {
    await admin.close();
    await store.close();
  });
  return { store, links };
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
