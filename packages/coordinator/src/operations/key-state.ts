import type { ApiKey } from '../store/port.js';

type KeyState = 'active' | 'disabled' | 'expired' | 'revoked';

/** What stops a key by itself, the least curable first. */
export function keyState(key: ApiKey, now: number): KeyState {
  if (key.revokedAt !== null) return 'revoked';
  if (key.expiresAt !== null && key.expiresAt <= now) return 'expired';
  return key.disabledAt === null ? 'active' : 'disabled';
}
