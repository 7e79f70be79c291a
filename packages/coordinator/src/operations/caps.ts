/** How many of each resource a member may create. Administrators have no such limits. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { CapReached } from '../store/port.js';
import type { AdminContext } from './operation.js';

/** Limits of rows that are kept: each of them is read with every list. */
export const CAPS = {
  /** Not revoked. */
  'API keys': 100,
  /** Neither used, revoked nor expired. */
  'open join tokens': 20,
  networks: 20,
  'open invites': 50,
  'open invitations to a network': 100,
  /** Per provider: each is kept in memory. */
  'shares of a provider': 256,
  'blocked members': 256,
} as const satisfies Record<string, number>;

type Capped = keyof typeof CAPS;

/** The cap for the store, which counts and writes in one transaction. Null: no limit. */
export function capOf({ boundTo }: Pick<AdminContext, 'boundTo'>, what: Capped): number | null {
  return boundTo === null ? null : CAPS[what];
}

export function capReached(what: Capped, { count }: CapReached): CommandError {
  const message = `You have ${count} ${what}, and ${CAPS[what]} is the most. End some first.`;
  return new CommandError(EXIT.conflict, message);
}
