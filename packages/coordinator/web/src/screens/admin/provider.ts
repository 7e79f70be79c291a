import type { AdminResult } from '../../api/commands.js';

export type Provider = AdminResult<'provider.list'>[number];

/** As everywhere where there are those of several owners. */
export function nameOf({ owner, name }: Provider): string {
  return `${owner}/${name}`;
}
