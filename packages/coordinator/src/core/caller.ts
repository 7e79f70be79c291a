/** Who calls: a member through one of their keys. */

/** Whose machines may serve a call: the member's own, or any that they can see. */
export type ProviderScope = 'own' | 'any';

/** What an administrator allows one member; null is the configured default. */
export interface MemberLimits {
  /** In one window of the rate limit. */
  readonly requests: number | null;
  /** Synchronous calls under way at once. */
  readonly concurrent: number | null;
}

export interface Caller {
  readonly memberId: string;
  /** The member's public name, as others may see it. Never an e-mail address. */
  readonly memberName: string;
  readonly keyId: string;
  readonly scope: ProviderScope;
  readonly limits: MemberLimits;
}
