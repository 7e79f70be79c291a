/**
 * Below 0 if `one` is the older version, 0 if both are the same. A version with a suffix, such as
 * 1.2.0-beta.1, is older than the one without; suffixes are compared as semver.org does.
 */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.suffix.length === 0 || b.suffix.length === 0) return b.suffix.length - a.suffix.length;
  return compareSuffixes(a.suffix, b.suffix);
}

function partsOf(version: string) {
  const [, numbers = '', suffix = ''] = /^v?(\d+\.\d+\.\d+)(?:-([^+]*))?/.exec(version) ?? [];
  return {
    numbers: [0, 1, 2].map((index) => Number(numbers.split('.')[index] ?? 0)),
    suffix: suffix === '' ? [] : suffix.split('.'),
  };
}

function compareSuffixes(one: readonly string[], other: readonly string[]): number {
  for (const [index, word] of one.entries()) {
    const against = other[index];
    if (against === undefined) return 1;
    if (word === against) continue;
    const [a, b] = [wholeNumber(word), wholeNumber(against)];
    if (a !== null && b !== null) return a - b;
    if (a !== null || b !== null) return a === null ? 1 : -1;
    return word < against ? -1 : 1;
  }
  return one.length - other.length;
}

function wholeNumber(word: string): number | null {
  return /^\d+$/.test(word) ? Number(word) : null;
}
