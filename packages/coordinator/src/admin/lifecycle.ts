/** Where something that works once stands: an invite, a join token. */

type LifecycleState = 'open' | 'used' | 'expired' | 'revoked';

interface Lifecycle {
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly revokedAt: number | null;
}

export function stateOf({ expiresAt, usedAt, revokedAt }: Lifecycle, now: number): LifecycleState {
  if (usedAt !== null) return 'used';
  if (revokedAt !== null) return 'revoked';
  return expiresAt <= now ? 'expired' : 'open';
}
