/** Lifetimes, and the states of single-use secrets: invites, join tokens. */
import * as z from 'zod';

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

/** As on the command line. Far beyond it a time is no valid date, which would break lists. */
const MAX_LIFE_S = 3_650 * 86_400;
const LIFE_RULE = 'it lasts 3650 days at most';

/** Lifetime of a new secret. */
export const lifeSeconds = z.int().min(1).max(MAX_LIFE_S, LIFE_RULE);
