/** Who may use what: the one rule behind `/models`, routing and every list. */
import type { Caller } from './caller.js';

/** The part of a provider that the rule reads. */
export interface Owned {
  readonly ownerId: string;
}

/**
 * Members see their own providers. Sharing with a network will widen this rule, and no other
 * place.
 */
export function mayUse(caller: Pick<Caller, 'memberId'>, provider: Owned): boolean {
  return provider.ownerId === caller.memberId;
}

/** The part of a provider that tells whose work it takes now. */
export interface Serving extends Owned {
  /** Null while it is offline. */
  readonly session: { readonly accepts: 'all' | 'own' | 'none' } | null;
  readonly draining: boolean;
}

/** Whether it would take this caller's work now, were a slot free. */
export function isServing(provider: Serving, caller: Pick<Caller, 'memberId' | 'scope'>): boolean {
  const { session, draining } = provider;
  if (session === null || draining || !mayUse(caller, provider)) return false;
  const own = provider.ownerId === caller.memberId;
  if (caller.scope === 'own' && !own) return false;
  return session.accepts === 'all' || (session.accepts === 'own' && own);
}
