/** The target of a webhook: only addresses that were checked. */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { ApiError } from '@inference-gateway/shared/errors';
import ipaddr from 'ipaddr.js';
import { networkInterfaces } from 'node:os';

/** All addresses of a name; of a literal address the address itself. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

export const resolveByDns: Resolve = (host) => lookup(host, { all: true });

/** A reason without secrets, for the log. */
export class Refusal extends Error {}

/**
 * Resolves the host once. One address that is not public, or is the gateway's own, refuses all:
 * otherwise the owner of the name would choose which one is used. Throws a `Refusal`, or the
 * resolver's error.
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
 * Addresses of this machine, and those in front of it (NAT, a load balancer) that are known only by
 * the name in the public URL.
 */
async function ownAddresses(
  { publicUrl, interfaces = interfaceAddresses }: AddressRule,
  resolve: Resolve,
): Promise<readonly string[]> {
  if (publicUrl === null) return interfaces();
  const inFront = await resolve(hostOf(publicUrl)).catch((error: unknown) => {
    // A name that does not exist has no address here. Other failures may be temporary.
    if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') return [];
    throw error;
  });
  return [...interfaces(), ...inFront.map(({ address }) => address)];
}

/** Replaces the resolver of a connection: a second lookup might return another address. */
export function pinnedTo(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all === true) done(null, [...addresses]);
    else done(null, addresses[0]?.address ?? '', addresses[0]?.family);
  };
}

/** Permitted targets of webhooks. */
export interface AddressRule {
  /** True: any target, including this machine. */
  readonly allowPrivate: boolean;
  /** The gateway's public URL; null if it is not set. */
  readonly publicUrl: string | null;
  /** This machine's addresses, read at each check. */
  readonly interfaces?: () => readonly string[];
}

/**
 * Throws if the URL contains an address that is not public, or the gateway's own. Names are
 * resolved at the time of sending, because their addresses may change.
 */
export function refuseAddress(url: string, rule: AddressRule): void {
  if (rule.allowPrivate) return;
  const host = hostOf(url);
  const fault = faultOf(host, rule);
  if (fault === null) return;
  const message =
    `'webhook.url' leads to ${host}, which ${fault}. Use a public address of another machine, or ` +
    "ask the gateway's admin to set GATEWAY_WEBHOOK_PRIVATE.";
  throw new ApiError('invalid_value', message, { param: 'webhook.url' });
}

/** Without the brackets of IPv6 and the final dot of a name; empty if it is no URL. */
export function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[|\]$|\.$/g, '');
}

function faultOf(host: string, { publicUrl, interfaces = interfaceAddresses }: AddressRule) {
  if (isOfThisNetwork(host)) return 'is not a public address';
  const isGateway = publicUrl !== null && hostOf(publicUrl) === host;
  return isGateway || isOneOf(interfaces(), host) ? 'is this gateway itself' : null;
}

function isOfThisNetwork(host: string): boolean {
  if (ipaddr.isValid(host)) return !isPublicAddress(host);
  return host === 'localhost' || host.endsWith('.localhost');
}

// Which addresses are public, and which belong to a machine or a local network.

/** Globally routed IPv6; old schemes that embed IPv4 addresses are mostly outside of it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * NAT64: the last four bytes are the IPv4 address. The range for local use, 64:ff9b:1::/48, is not
 * public.
 */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * An allow-list: ranges that the library names (loopback, private, link-local, carrier's NAT,
 * multicast, reserved, 6to4, Teredo and many more) are refused, known to this program or not.
 */
export function isPublicAddress(written: string): boolean {
  if (!ipaddr.isValid(written)) return false;
  const address = reachedBy(ipaddr.parse(written));
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

/** This machine's current addresses: they change with its networks. */
export function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address));
}

/** Whether a connection to `written` ends at one of the addresses, in any notation. */
function isOneOf(addresses: readonly string[], written: string): boolean {
  if (!ipaddr.isValid(written)) return false;
  const target = reachedBy(ipaddr.parse(written)).toNormalizedString();
  return addresses
    .filter((one) => ipaddr.isValid(one))
    .some((one) => reachedBy(ipaddr.parse(one)).toNormalizedString() === target);
}

/** The IPv4 address where one is embedded, else the address itself, without its zone. */
function reachedBy(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address instanceof ipaddr.IPv4) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(NAT64)) return lastFourBytes(address);
  return new ipaddr.IPv6(address.toByteArray());
}

function lastFourBytes(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}
