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
