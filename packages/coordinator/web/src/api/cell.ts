/**
 * A value that components subscribe to. A library for this weighs 4 KB of the 15 KB that the frame
 * may have, and the page has five such values.
 */
import { useLayoutEffect, useReducer } from 'preact/hooks';

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

  /** Calls the listener after each change. Returns a function that unsubscribes it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** The cell's value. The component is rendered again when the value changes. */
export function useCell<T>(cell: Cell<T>): T {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const seen = cell.value;
  // Before the browser paints: an effect after that would leave what has changed in view.
  useLayoutEffect(() => {
    // The value may have changed between the rendering and now.
    if (!Object.is(cell.value, seen)) redraw(undefined);
    return cell.watch(() => redraw(undefined));
  }, [cell]);
  return seen;
}
