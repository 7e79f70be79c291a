/** One change of a member's after the other: what the one counts, the next one has added to. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(memberId: string, act: () => Promise<T>): Promise<T> {
    const before = this.#last.get(memberId) ?? Promise.resolve();
    const turn = before.then(act);
    // Whoever comes next waits for its end, however it ends.
    const ended = turn.catch(() => {});
    this.#last.set(memberId, ended);
    try {
      return await turn;
    } finally {
      if (this.#last.get(memberId) === ended) this.#last.delete(memberId);
    }
  }
}
