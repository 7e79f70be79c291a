/** Calls that wait here, as the other coordinators are told of them. */
import { NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type { Offer, Want, Wanted } from '../core/routing/links.js';

/** Another coordinator, which holds links of agents. */
export interface Holder {
  wanted(want: number, wanted: Wanted): void;
  unwanted(want: number): void;
}

export class Wants {
  /** By the number of the wait that the others know. */
  readonly #waiting = new Map<number, Wait>();
  readonly #holders = new Set<Holder>();
  #last = 0;
  /** Its offer is being taken: the call itself tells it that the wait is over. */
  #taking: Holder | null = null;

  add(wanted: Wanted): Want {
    const wait = { wanted, want: 0 };
    this.#begin(wait);
    const isKnown = this.#waiting.size <= NODE_LINK.maxWants;
    return { isKnown, end: () => this.#end(wait) };
  }

  /** Tells it of each call that waits, now and from now on, until the returned function ends it. */
  tell(holder: Holder): () => void {
    this.#holders.add(holder);
    for (const [want, { wanted }] of this.#waiting) holder.wanted(want, wanted);
    return () => this.#holders.delete(holder);
  }

  /**
   * Gives the slot to the call that it is for. One that cannot use it is offered no more of that
   * provider, and keeps its turns with all others.
   */
  offered(offer: Offer, holder: Holder): void {
    const wait = this.#waiting.get(offer.want);
    // Who has ended its wait has said so: the slot is free again there.
    if (wait === undefined) return;
    if (this.#take(wait, offer, holder)) return;
    this.#end(wait);
    const excluded = new Set([...wait.wanted.excluded, offer.providerId]);
    wait.wanted = { ...wait.wanted, excluded };
    this.#begin(wait);
  }

  #take({ wanted }: Wait, offer: Offer, holder: Holder): boolean {
    this.#taking = holder;
    try {
      return wanted.take(offer);
    } finally {
      this.#taking = null;
    }
  }

  #begin(wait: Wait): void {
    wait.want = ++this.#last;
    this.#waiting.set(wait.want, wait);
    for (const holder of this.#holders) holder.wanted(wait.want, wait.wanted);
  }

  #end({ want }: Wait): void {
    if (!this.#waiting.delete(want)) return;
    for (const holder of this.#holders) if (holder !== this.#taking) holder.unwanted(want);
  }
}

interface Wait {
  wanted: Wanted;
  want: number;
}
