/** Where a webhook goes: the addresses that were checked, and no others. */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { interfaceAddresses, isOneOf, isPublicAddress } from './public-address.js';
import { hostOf } from './refuse-address.js';
import type { AddressRule } from './refuse-address.js';

/** All addresses of a name, or of a literal address that one. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveByDns: Resolve = (host) => lookup(host, { all: true });

/** A reason in words that may stand in a log. */
export class Refusal extends Error {}

/**
 * Resolves the host once. A single address that is not public, or is the gateway's own, refuses
 * all: whoever answers for the name would else choose which one is tried. Throws a `Refusal`, or
 * what the resolver threw.
 */
export async function resolveReceiver(
  url: string,
  { resolve, ...rule }: AddressRule & { readonly resolve: Resolve },
): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(hostOf(url));
  if (addresses.length === 0) throw new Refusal('its host has no address');
  if (rule.allowPrivate) return addresses;
  const own = await ownAddresses(rule, resolve);
  for (const { address } of addresses) {
    const fault = isPublicAddress(address)
      ? isOneOf(own, address) && "is the gateway's own"
      : 'is not public';
    if (fault !== false) throw new Refusal(`its host has the address ${address}, which ${fault}`);
  }
  return addresses;
}

/**
 * Those of this machine, and those in front of it (address translation, a load balancer) that only
 * the name in the public URL tells.
 */
async function ownAddresses(
  { publicUrl, interfaces = interfaceAddresses }: AddressRule,
  resolve: Resolve,
): Promise<readonly string[]> {
  if (publicUrl === null) return interfaces();
  const inFront = await resolve(hostOf(publicUrl)).catch((error: unknown) => {
    // A name that does not exist leads nobody here. Any other failure may be over at the next try.
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return [];
    throw error;
  });
  return [...interfaces(), ...inFront.map(({ address }) => address)];
}

/** Stands in for the resolver of a connection: a second lookup might give another answer. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all === true) done(null, [...addresses]);
    else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
}
