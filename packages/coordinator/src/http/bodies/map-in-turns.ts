/** Ms of work on a long list before the event loop may do other work. */
const TURN_MS = 5;

export async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = [];
  let began = performance.now();
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index));
    if (performance.now() - began < TURN_MS) continue;
    await new Promise(setImmediate);
    began = performance.now();
  }
  return mapped;
}
