/** Who calls: a member, through one of their keys or the dashboard. */
import type { AssetsAccess } from '@inference-gateway/shared/media/types';

/** Whose machines may serve a call: the member's own, or any that they can see. */
export type ProviderScope = 'own' | 'any';

/** What an administrator allows one member; null is the configured default. */
export interface MemberLimits {
  /** In one window of the rate limit. */
  readonly requests: number | null;
  /** Synchronous calls under way at once. */
  readonly concurrent: number | null;
}

/** Stands for a key where a session was what opened the API; no key has this id. */
export const CONSOLE = 'console';

export interface Caller {
  readonly memberId: string;
  /** The member's public name, as others may see it. Never an e-mail address. */
  readonly memberName: string;
  /** `CONSOLE` where it is the dashboard, whose calls have no key. */
  readonly keyId: string;
  readonly scope: ProviderScope;
  /** How the addresses of their files are written; absent or null, as the operator has set. */
  readonly assets?: AssetsAccess | null;
  readonly limits: MemberLimits;
}

/** Where a call came from, as it is metered. */
export function sourceOf(keyId: string): 'api' | 'console' {
  return keyId === CONSOLE ? 'console' : 'api';
}
