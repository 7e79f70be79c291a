/** Which addresses are anybody's on the internet, and which belong to a machine or a network. */
import ipaddr from 'ipaddr.js';

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
  const address = ipaddr.parse(written);
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().range() === 'unicast';
  if (address.match(NAT64)) return lastFourBytes(address).range() === 'unicast';
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

function lastFourBytes(address: ipaddr.IPv6): ipaddr.IPv4 {
  return new ipaddr.IPv4(address.toByteArray().slice(-4));
}
