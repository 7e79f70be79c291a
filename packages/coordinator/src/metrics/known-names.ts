/**
 * Names that become label values. Every value is a time series for as long as the process lives,
 * and members choose the names of models: past the limit, further ones are counted together.
 */
export class KnownNames {
  readonly #limit: number;
  readonly #names = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The name itself, or `other`. Only a name with `proof` behind it is remembered: one that any
   * caller can make up must not use up the room of those that are served.
   */
  labelOf(name: string, proof: boolean): string {
    if (this.#names.has(name)) return name;
    if (!proof || this.#names.size >= this.#limit) return OTHER;
    this.#names.add(name);
    return name;
  }
}

const OTHER = 'other';
