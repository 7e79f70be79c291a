/** Where a webhook goes: the addresses that were checked, and no others. */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.js';
import { hostOf } from './refuse-address.js';

/** All addresses of a name, or of a literal address that one. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveByDns: Resolve = (host) => lookup(host, { all: true });

/** A reason in words that may stand in a log. */
export class Refusal extends Error {}

/**
 * Resolves the host once. A single address that is not public refuses all: whoever answers for the
 * name would else choose which one is tried. Throws a `Refusal`, or what the resolver threw.
 */
export async function resolveReceiver(
  url: string,
  { resolve, allowPrivate }: { readonly resolve: Resolve; readonly allowPrivate: boolean },
): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(hostOf(url));
  if (addresses.length === 0) throw new Refusal('its host has no address');
  const refused = allowPrivate ? undefined : addresses.find((one) => !isPublicAddress(one.address));
  if (refused === undefined) return addresses;
  throw new Refusal(`its host has the address ${refused.address}, which is not public`);
}

/** Stands in for the resolver of a connection: a second lookup might give another answer. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all === true) done(null, [...addresses]);
    else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
}
