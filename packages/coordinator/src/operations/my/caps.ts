/** How much of a thing one member may make by themselves. An administrator is not asked. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';

/** Of the rows that stay: each is read with every list. */
export const CAPS = {
  /** Not revoked. */
  'API keys': 100,
  /** Neither used, revoked nor expired. */
  'open join tokens': 20,
  networks: 20,
  'open invites': 50,
  'open invitations to a network': 100,
  /** Of one provider: each is kept in memory. */
  'shares of a provider': 256,
  'blocked members': 256,
} as const satisfies Record<string, number>;

/** Throws where one more would be one too many. */
export function requireRoom(what: keyof typeof CAPS, count: number): void {
  if (count < CAPS[what]) return;
  const message = `You have ${count} ${what}, and ${CAPS[what]} is the most. End some first.`;
  throw new CommandError(EXIT.conflict, message);
}
