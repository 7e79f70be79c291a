/** Ms of work on a long list before the event loop may do other work. */
const TURN_MS = 5;

export async function mapInTurns<T, R>(
  items: readonly T[],
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = [];
  const turn = takingTurns();
  for (const [index, item] of items.entries()) {
    mapped.push(map(item, index));
    const waited = turn();
    if (waited !== undefined) await waited;
  }
  return mapped;
}

/** Called between two pieces of work: waits if the turn is over. */
export function takingTurns(): () => Promise<void> | undefined {
  let began = performance.now();
  return () => {
    if (performance.now() - began < TURN_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        began = performance.now();
        resolve();
      });
    });
  };
}
