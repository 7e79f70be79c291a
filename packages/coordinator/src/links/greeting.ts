/** What a session is given once it is the provider's current one. */
import type { Resumption } from '../core/routing/links.js';
import type { SlotUse } from './slot-counts.js';
import type { SessionTiming } from './welcome.js';

/** What a session tells the registry. */
export interface SessionEvents {
  servicesChanged(): void;
  acceptsChanged(): void;
  slotFreed(use: SlotUse): void;
  /** Resolves with those claims of the agent's that are not current. */
  renew(claimIds: readonly string[]): Promise<readonly string[]>;
  closed(): void;
}

export interface Greeting {
  readonly provider: { readonly id: string; readonly name: string };
  readonly timing: SessionTiming;
  readonly events: SessionEvents;
  readonly resumptions: readonly Resumption[];
}
