/**
 * Providers whose links are refused, and since when. A token is looked up before the upgrade, and
 * its HELLO comes up to 10 s later: the provider may have been disabled or revoked in between.
 */

export type RefusalReason = 'disabled' | 'revoked';

interface Refusal {
  readonly why: RefusalReason;
  readonly at: number;
}

export class Refusals {
  /** Incremented with each refusal: the logical time. */
  now = 0;
  /** The last refusal of each provider: at most one entry per provider that ever existed. */
  readonly #last = new Map<string, Refusal>();

  note(providerId: string, why: RefusalReason): void {
    this.now += 1;
    this.#last.set(providerId, { why, at: this.now });
  }

  /** Why a link whose token was valid at that time is refused; null if it is not. */
  since(providerId: string, time: number): RefusalReason | null {
    const last = this.#last.get(providerId);
    return last !== undefined && last.at > time ? last.why : null;
  }
}
