/** The caller: a member, by one of their keys or the dashboard. */
import type { AssetsAccess } from '@inference-gateway/shared/media/types';

/** Whose machines may serve a call: the member's own, or all that they can see. */
export type ProviderScope = 'own' | 'any';

/** What an administrator allows one member; null means the configured default. */
export interface MemberLimits {
  /** Per window of the rate limit. */
  readonly requests: number | null;
  /** Synchronous calls running at once. */
  readonly concurrent: number | null;
}

/** Used as the key id if a session opened the API; no real key has this id. */
export const CONSOLE = 'console';

export interface Caller {
  readonly memberId: string;
  /** The member's public name, visible to others. Never an e-mail address. */
  readonly memberName: string;
  /** `CONSOLE` for the dashboard, whose calls have no key. */
  readonly keyId: string;
  readonly scope: ProviderScope;
  /** The form of the URLs of their files; absent or null: the operator's setting. */
  readonly assets?: AssetsAccess | null;
  readonly limits: MemberLimits;
}

/** The source of a call in the usage rows. */
export function sourceOf(keyId: string): 'api' | 'console' {
  return keyId === CONSOLE ? 'console' : 'api';
}
