/**
 * The objects of what runs now. Not a `Set`: when that grows or shrinks, its earlier tables keep
 * their entries and lead to the later ones. Tables that V8 has moved to the old generation kept the
 * objects of thousands of ended runs alive until the next full collection.
 */
export class LiveObjects<T extends object> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  /** Does nothing if it is not one of them. Looks at each: for a thousand at most. */
  delete(item: T): void {
    const at = this.#items.indexOf(item);
    const last = at === -1 ? undefined : this.#items.pop();
    if (last !== undefined && last !== item) this.#items[at] = last;
  }

  /** In no order. A copy: what is done with one of them may end others. */
  all(): readonly T[] {
    return [...this.#items];
  }
}
