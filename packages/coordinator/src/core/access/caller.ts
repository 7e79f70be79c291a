/** The caller: a member, by one of their keys or the dashboard. */
import type { AssetsAccess } from '@inference-gateway/shared/media/types';
import type { KeyRules, Quota } from '../usage/quota.js';

/** Whose machines may serve a call: the member's own, or all that they can see. */
export type ProviderScope = 'own' | 'any';

/** What an administrator allows one member; null means the configured default. */
export interface MemberLimits {
  /** Per window of the rate limit. */
  readonly requests: number | null;
  /** Synchronous calls running at once. */
  readonly concurrent: number | null;
  /** In a day and a month; absent or null: no limit. */
  readonly quota?: Quota | null;
}

/** Used as the key id if a session opened the API; no real key has this id. */
export const CONSOLE = 'console';

export interface Caller {
  readonly memberId: string;
  /** The member's public name, visible to others. Never an e-mail address. */
  readonly memberName: string;
  /** `CONSOLE` for the dashboard, whose calls have no key. */
  readonly keyId: string;
  /** The name of the key; absent for the dashboard. */
  readonly keyName?: string;
  readonly scope: ProviderScope;
  /** The rules of the key; absent or null: it may do all that its member may. */
  readonly rules?: KeyRules | null;
  /** The form of the URLs of their files; absent or null: the operator's setting. */
  readonly assets?: AssetsAccess | null;
  readonly limits: MemberLimits;
  /**
   * Rejects with the error for the caller once the key or the session, or its member, may call no
   * more. Absent for callers that another coordinator checks.
   */
  readonly confirm?: () => Promise<void>;
}

/**
 * The key whose jobs and files are all that the caller sees; null: those of all keys of the member.
 * Any rule restricts: such a key is in a program that shall not learn what its member does.
 */
export function restrictedTo({ keyId, rules }: Pick<Caller, 'keyId' | 'rules'>): string | null {
  return rules ? keyId : null;
}

/** Whether the caller sees what was made with this key of their member. */
export function seesWorkOf(caller: Pick<Caller, 'keyId' | 'rules'>, keyId: string | null): boolean {
  const own = restrictedTo(caller);
  return own === null || own === keyId;
}

/** The source of a call in the usage rows. */
export function sourceOf(keyId: string): 'api' | 'console' {
  return keyId === CONSOLE ? 'console' : 'api';
}
