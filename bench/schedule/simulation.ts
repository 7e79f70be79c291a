/**
 * Calls, cards and the coordinator's own matcher between them, in simulated time: no sockets, no
 * clock, and each run the same. What is learned of the cards is kept by the class that keeps it in
 * a coordinator.
 */
import { OPEN_MS } from '@inference-gateway/coordinator/core/routing/breaker';
import { match, NO_NEEDS } from '@inference-gateway/coordinator/core/routing/match';
import type { Candidate, Choice } from '@inference-gateway/coordinator/core/routing/match';
import { TrackRecords } from '@inference-gateway/coordinator/links/track-records';
import { Card } from './card.js';
import type { CardSpec, Running, SimulatedCall } from './card.js';
import { asSeenWithout } from './rules.js';
import type { Rule } from './rules.js';

export interface Scenario {
  readonly cards: readonly (CardSpec & { readonly isLoaded?: boolean })[];
  /** Ordered by nothing; each may be followed by others. */
  readonly calls: readonly SimulatedCall[];
  /** What follows an answer: the next turn, the next call of the same caller. */
  readonly next?: (call: SimulatedCall, endedAt: number) => SimulatedCall | null;
  readonly untilMs: number;
}

interface Ended {
  readonly call: SimulatedCall;
  readonly cardId: string;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly hitsCache: boolean;
}

export interface Outcome {
  readonly answered: readonly Ended[];
  /** Calls that a card was given, answered or not. */
  readonly given: ReadonlyMap<string, number>;
  /** Calls whose caller got an error. */
  readonly refused: number;
  readonly loads: number;
  /** Moments at which a call waited while a healthy card had a free slot. */
  readonly idleWhileWaiting: number;
}

/** As in `relay/relay.ts`. */
const MAX_ATTEMPTS = 3;
const CALLER = { memberId: 'anna', scope: 'any' as const };

interface Seat {
  readonly card: Card;
  readonly tracks: TrackRecords;
  readonly candidateOf: (now: number) => Candidate;
}

interface Asked {
  readonly call: SimulatedCall;
  readonly excluded: Set<string>;
}

interface UnderWay extends Asked {
  readonly seat: Seat;
  readonly choice: Choice;
}

export function simulate(scenario: Scenario, off: readonly Rule[] = []): Outcome {
  return new Simulation(scenario, new Set(off)).run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #off: ReadonlySet<Rule>;
  readonly #seats: readonly Seat[];
  readonly #arrivals: SimulatedCall[];
  #waiting: Asked[] = [];
  readonly #underWay = new Map<Running, UnderWay>();
  /** Which card has served a conversation last. */
  readonly #served = new Map<string, string>();
  readonly #answered: Ended[] = [];
  readonly #given = new Map<string, number>();
  #refused = 0;
  #idleWhileWaiting = 0;

  constructor(scenario: Scenario, off: ReadonlySet<Rule>) {
    this.#scenario = scenario;
    this.#off = off;
    this.#seats = scenario.cards.map(toSeat);
    this.#arrivals = scenario.calls.toSorted((a, b) => a.atMs - b.atMs);
  }

  run(): Outcome {
    for (;;) {
      const now = this.#nextAt();
      if (now > this.#scenario.untilMs) break;
      this.#advance(now);
      this.#arrive(now);
      this.#serve(now);
      if (this.#waiting.length > 0 && this.#hasFree(now)) this.#idleWhileWaiting += 1;
    }
    return {
      answered: this.#answered,
      given: this.#given,
      refused: this.#refused,
      loads: this.#seats.reduce((sum, { card }) => sum + card.loads, 0),
      idleWhileWaiting: this.#idleWhileWaiting,
    };
  }

  #nextAt(): number {
    const first = this.#arrivals[0]?.atMs ?? Number.POSITIVE_INFINITY;
    return Math.min(first, ...this.#seats.map(({ card }) => card.nextAt()));
  }

  #advance(now: number): void {
    for (const { card } of this.#seats) {
      for (const running of card.advance(now)) this.#ended(running, now);
    }
  }

  #arrive(now: number): void {
    while ((this.#arrivals[0]?.atMs ?? Number.POSITIVE_INFINITY) <= now) {
      const call = this.#arrivals.shift();
      if (call !== undefined) this.#waiting.push({ call, excluded: new Set() });
    }
  }

  /** The line, the first first. A request that finds every slot taken stays in it. */
  #serve(now: number): void {
    const line = this.#waiting;
    this.#waiting = [];
    for (const asked of line) this.#place(asked, now);
  }

  #place(asked: Asked, now: number): void {
    const { call, excluded } = asked;
    const preferred = (): string | null => this.#served.get(call.conversation) ?? null;
    const found = match(this.#candidates(now), {
      caller: CALLER,
      needs: NO_NEEDS,
      excluded,
      ...(!this.#off.has('affinity') && { preferred }),
    });
    if (found.kind === 'chosen') this.#start(asked, found.choice, now);
    else if (found.kind === 'busy') this.#waiting.push(asked);
    else this.#refuse(call, now);
  }

  #candidates(now: number): Candidate[] {
    return this.#seats
      .filter(({ card }) => card.isThere(now))
      .map(({ candidateOf }) => asSeenWithout(this.#off, candidateOf(now)));
  }

  #start(asked: Asked, choice: Choice, now: number): void {
    const seat = this.#seats.find(({ card }) => card.spec.id === choice.providerId);
    if (seat === undefined) throw new Error(`there is no card ${choice.providerId}`);
    seat.tracks.opened(choice, now);
    const running = seat.card.start(asked.call, now);
    this.#underWay.set(running, { ...asked, seat, choice });
    this.#given.set(choice.providerId, (this.#given.get(choice.providerId) ?? 0) + 1);
  }

  #ended(running: Running, now: number): void {
    const underWay = this.#underWay.get(running);
    if (underWay === undefined) throw new Error('a card ended a call that nobody gave it');
    this.#underWay.delete(running);
    if (running.fails) this.#failed(underWay, now);
    else this.#done(running, underWay, now);
  }

  #failed({ call, excluded, seat, choice }: UnderWay, now: number): void {
    seat.tracks.report(choice, { kind: 'failed' }, now);
    excluded.add(choice.providerId);
    if (excluded.size < MAX_ATTEMPTS) this.#place({ call, excluded }, now);
    else this.#refuse(call, now);
  }

  #done(running: Running, { call, seat, choice }: UnderWay, now: number): void {
    const firstByteMs = (running.firstByteAt ?? now) - running.startedAt;
    const totalMs = now - running.startedAt;
    const measured = { streamed: true, firstByteMs, totalMs, tokens: call.tokens, images: 0 };
    seat.tracks.report(choice, { kind: 'ok', measured }, now);
    this.#served.set(call.conversation, choice.providerId);
    this.#answered.push({
      call,
      cardId: choice.providerId,
      firstByteMs: (running.firstByteAt ?? now) - call.atMs,
      totalMs: now - call.atMs,
      hitsCache: running.hitsCache,
    });
    this.#follow(call, now);
  }

  #refuse(call: SimulatedCall, now: number): void {
    this.#refused += 1;
    this.#follow(call, now);
  }

  #follow(call: SimulatedCall, now: number): void {
    const next = this.#scenario.next?.(call, now) ?? null;
    if (next === null) return;
    const at = this.#arrivals.findIndex(({ atMs }) => atMs > next.atMs);
    this.#arrivals.splice(at === -1 ? this.#arrivals.length : at, 0, next);
  }

  #hasFree(now: number): boolean {
    return this.#candidates(now).some(
      ({ freeSlots, health }) => freeSlots > 0 && health === 'closed',
    );
  }
}

function toSeat(spec: Scenario['cards'][number]): Seat {
  const card = new Card(spec, spec.isLoaded ?? true);
  const tracks = new TrackRecords(OPEN_MS);
  return { card, tracks, candidateOf: (now) => candidateOf(card, tracks, now) };
}

function candidateOf(card: Card, tracks: TrackRecords, now: number): Candidate {
  const { id, slots } = card.spec;
  const loaded = card.isLoaded(now);
  const model = { ...MODEL, loaded };
  const service = { service_id: 'llm', service_type: 'llm' as const, slots, models: [model] };
  const freeSlots = slots - card.busy;
  return {
    ...PLACE,
    providerId: id,
    providerName: id,
    freeSlots,
    freeJobSlots: freeSlots,
    slots,
    busySlots: card.busy,
    ...tracks.tracked(service, model, now),
    // The simulated agent reports loaded models immediately.
    model,
  };
}

const MODEL = {
  id: 'm',
  served_name: 'm',
  context_length: null,
  input_modalities: ['text'],
  output_modalities: ['text'],
  supported_features: [],
};

const PLACE = {
  ownerId: CALLER.memberId,
  closed: false,
  shares: [],
  serviceId: 'llm',
  serviceType: 'llm',
  foreign: true,
  online: true,
  linkId: 'link',
  offlineSince: null,
  draining: false,
  accepts: 'all',
} as const;
