/**
 * Slots of agents that are linked here, for calls that wait at another coordinator: they take turns
 * with the calls that wait here, and a freed slot is held until the call arrives.
 */
import { NODE_LINK } from '@inference-gateway/shared/protocol/node-messages';
import type { NodeMessage } from '@inference-gateway/shared/protocol/node-messages';
import type { StandIns } from '../core/routing/links.js';
import type { Choice } from '../core/routing/match.js';
import type { Registry } from '../links/registry.js';

export interface OffersParts {
  readonly registry: Registry;
  readonly relay: StandIns;
  /** False: this coordinator stops, or what it knows of sharing may be out of date. */
  readonly takesCalls: () => boolean;
}

/** Of one call: it waits, or a slot is held for it. */
interface Turn {
  readonly isOffered: boolean;
  /** Ends the wait, or frees the slot; more than once, too. */
  readonly end: () => void;
}

export class Offers {
  readonly #parts: OffersParts;
  readonly #send: (offer: NodeMessage<'OFFER'>) => void;
  /** By the other coordinator's number of the call. */
  readonly #turns = new Map<number, Turn>();

  constructor(parts: OffersParts, send: (offer: NodeMessage<'OFFER'>) => void) {
    this.#parts = parts;
    this.#send = send;
  }

  wanted(told: NodeMessage<'WANT'>): void {
    if (this.#turns.size >= NODE_LINK.maxWants) return;
    const { want, member_id: memberId, scope, service_type: serviceType, model } = told;
    this.unwanted(want);
    const { needs, excluded } = told;
    const end = this.#parts.relay.standIn({
      caller: { memberId, scope },
      serviceType,
      model,
      needs: { ...needs, format: null },
      excluded: new Set(excluded),
      key: JSON.stringify([memberId, scope, serviceType, model, needs, excluded]),
      take: (choice) => this.#offer(want, choice),
    });
    this.#turns.set(want, { isOffered: false, end });
  }

  unwanted(want: number): void {
    this.#turns.get(want)?.end();
    this.#turns.delete(want);
  }

  /** The call arrives. The function frees the slot, for the call itself; null: none is held. */
  taken(want: number): (() => void) | null {
    const turn = this.#turns.get(want);
    this.#turns.delete(want);
    if (turn?.isOffered === true) return turn.end;
    turn?.end();
    return null;
  }

  close(): void {
    for (const want of this.#turns.keys()) this.unwanted(want);
  }

  #offer(want: number, choice: Choice): boolean {
    const { registry, takesCalls } = this.#parts;
    const free = takesCalls() ? registry.hold(choice) : null;
    if (free === null) return false;
    const timer = setTimeout(() => this.unwanted(want), NODE_LINK.offerMs);
    const end = (): void => {
      clearTimeout(timer);
      free();
    };
    this.#turns.set(want, { isOffered: true, end });
    const { providerId: provider_id, serviceId: service_id } = choice;
    this.#send({ t: 'OFFER', want, provider_id, service_id });
    return true;
  }
}
