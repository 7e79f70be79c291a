/**
 * What counts as one address. IPv6: the first 64 bits, because every household has all of the
 * second half; IPv4: the whole address, also in its IPv6 form.
 */
export function addressGroup(address: string): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

/**
 * A network of many such groups. IPv6: the first 48 bits, which one site may hold, or which a
 * provider divides among many homes; IPv4: the whole address.
 */
export function addressNetwork(address: string): string {
  const group = addressGroup(address);
  return group.includes(':') ? group.split(':').slice(0, 3).join(':') : group;
}

function groupsOf(part: string): readonly string[] {
  return part === '' ? [] : part.split(':').map((group) => group.toLowerCase());
}
