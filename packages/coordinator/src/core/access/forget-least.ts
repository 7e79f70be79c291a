/**
 * Makes room in a map of counts by dropping the tenth of its entries with the smallest counts, the
 * oldest of equal ones first: a flood of new names cannot push out what is counted against another.
 * `countOf` must be 0 for what no longer counts.
 */
export function forgetLeast<T>(entries: Map<string, T>, countOf: (entry: T) => number): void {
  const counted = Array.from(entries, ([key, entry]) => ({ key, count: countOf(entry) }));
  counted.sort((a, b) => a.count - b.count);
  for (const { key } of counted.slice(0, Math.ceil(counted.length / 10))) entries.delete(key);
}
