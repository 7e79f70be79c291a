/** What a command may do to a running coordinator's links. */

/** What keeps work from a provider; what is absent stays as it is. */
export interface ProviderSwitches {
  /** New work stays away. */
  readonly draining?: boolean;
  /** Others' work stays away; its owner's goes on. */
  readonly paused?: boolean;
}

export interface ProviderNames {
  readonly id: string;
  readonly name: string;
  readonly ownerName: string;
}

export interface AdminSessions {
  /** Closes the provider's link; the agent comes back by itself. False where it has none. */
  kick(providerId: string): boolean;
  /**
   * Closes the provider's link for good: its agent is told why, and gives up. False where it has
   * none.
   */
  refuse(providerId: string, why: 'disabled' | 'revoked'): boolean;
  /** Forgets a provider that is removed, and closes its link for good. */
  remove(providerId: string): void;
  /** What it, or its owner, is called now. */
  rename(provider: ProviderNames): void;
  change(providerId: string, to: ProviderSwitches): void;
}
