/** Where a webhook goes: the addresses that were checked, and no others. */
import { lookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { ApiError } from '@inference-gateway/shared/errors';
import ipaddr from 'ipaddr.js';
import { networkInterfaces } from 'node:os';

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

/** Where webhooks may go. */
export interface AddressRule {
  /** True: anywhere, also to this machine. */
  readonly allowPrivate: boolean;
  /** The gateway's own; null if it is unset. */
  readonly publicUrl: string | null;
  /** This machine's addresses. They are asked for at each check. */
  readonly interfaces?: () => readonly string[];
}

/**
 * Throws if the URL itself names an address that is not public, or the gateway's own. Names are
 * resolved when there is something to send: what they stand for now says nothing about then.
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

/** Without the brackets of IPv6 and the dot at the end of a name; empty where it is no URL. */
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

// Which addresses are anybody's on the internet, and which belong to a machine or a network.

/** All that the internet routes lies in it; what old schemes embed IPv4 in lies mostly outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * How networks without IPv4 reach the rest: the last four bytes are the address. The range for a
 * network's own use, 64:ff9b:1::/48, is not public.
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

/** Of this machine now: they come and go with its networks. */
export function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address));
}

/** Whether a connection to `written` ends at one of the addresses, in whatever form it is given. */
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
