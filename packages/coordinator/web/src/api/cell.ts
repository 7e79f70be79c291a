/**
 * A value that components follow. A library for this weighs 4 KB of the 15 that the frame may have,
 * and the page has five such values.
 */
import { useEffect, useReducer } from 'preact/hooks';

export class Cell<T> {
  #value: T;
  readonly #listeners = new Set<() => void>();

  constructor(initial: T) {
    this.#value = initial;
  }

  get value(): T {
    return this.#value;
  }

  set value(next: T) {
    if (Object.is(next, this.#value)) return;
    this.#value = next;
    for (const listener of this.#listeners) listener();
  }

  /** Calls back after each change. Returns how to stop it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The cell's value, and a component that is drawn again when it changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const seen = cell.value;
  useEffect(() => {
    // It may have changed between drawing and now.
    if (!Object.is(cell.value, seen)) redraw(undefined);
    return cell.watch(() => redraw(undefined));
  }, [cell]);
  return seen;
}
