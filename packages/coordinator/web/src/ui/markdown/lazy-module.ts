/** Modules that are larger than a whole screen: each is loaded when text needs it. */
import { useEffect, useState } from 'preact/hooks';

export class LazyModule<T> {
  readonly #import: () => Promise<T>;
  #loaded: T | null = null;

  constructor(load: () => Promise<T>) {
    this.#import = load;
  }

  get value(): T | null {
    return this.#loaded;
  }

  async load(): Promise<T> {
    this.#loaded ??= await this.#import();
    return this.#loaded;
  }
}

/** Null until it is loaded, and while `isWanted` is false. */
export function useModule<T>(module: LazyModule<T>, isWanted = true): T | null {
  const [value, setValue] = useState(() => module.value);
  useEffect(() => {
    if (!isWanted || value !== null) return;
    module.load().then(
      (loaded) => setValue(() => loaded),
      // If it cannot be loaded, the text stays plain: the connection is down, and the screen itself
      // says so.
      () => undefined,
    );
  }, [isWanted]);
  return value;
}
