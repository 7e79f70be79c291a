/** RFC 9110, 12.5.3: which of the forms that a file has its reader would rather have. */

/**
 * The form with the highest quality; of several, the first that is offered. Null: as it is. A
 * reader that refuses even that is sent it all the same, which the RFC allows.
 */
export function acceptedEncoding<T extends string>(
  header: string,
  offered: readonly T[],
): T | null {
  const qualities = readQualities(header);
  const qualityOf = (name: string): number => qualities.get(name) ?? qualities.get('*') ?? 0;
  // Whoever says nothing of it takes a file as it is, and would rather have what it did name.
  let best = { name: null as T | null, quality: qualities.get('identity') ?? 0 };
  for (const name of offered) {
    const quality = qualityOf(name);
    const isBetter = best.name === null ? quality >= best.quality : quality > best.quality;
    if (quality > 0 && isBetter) best = { name, quality };
  }
  return best.name;
}

/** By name, in small letters. A quality that is none counts as 0. */
function readQualities(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase());
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1';
    if (name !== '') qualities.set(name, Number(quality) || 0);
  }
  return qualities;
}
