import type { AdminResult } from '../../api/commands.js';

export type Provider = AdminResult<'provider.list'>[number];

/** `OWNER/NAME`, as in all lists with several owners. */
export function nameOf({ owner, name }: Provider): string {
  return `${owner}/${name}`;
}
