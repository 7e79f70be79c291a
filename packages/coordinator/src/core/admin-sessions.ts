/** What an administrator's command may do to a running coordinator's links. */
export interface AdminSessions {
  /** Closes the provider's link; the agent comes back by itself. False where it has none. */
  kick(providerId: string): boolean;
  /** Keeps new work away from the provider, or lets it in again. */
  setDraining(providerId: string, draining: boolean): void;
}
