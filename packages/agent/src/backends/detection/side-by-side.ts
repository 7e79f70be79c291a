/** Runs for each item, at most so many at once. The answers keep the order of the items. */
export async function sideBySide<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = new Map<number, Answer>();
  const waiting = [...items.entries()];
  const runNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      answers.set(next[0], await run(next[1]));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return [...answers].toSorted(([a], [b]) => a - b).map(([, answer]) => answer);
}
