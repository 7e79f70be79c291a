/** Which addresses are anybody's on the internet, and which belong to a machine or a network. */
import ipaddr from 'ipaddr.js';
import { networkInterfaces } from 'node:os';

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
export function isOneOf(addresses: readonly string[], written: string): boolean {
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
