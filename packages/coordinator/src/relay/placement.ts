/** Finds a slot for a piece of work, and waits in the queue if every slot is taken. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { mayName } from '../core/access/access.js';
import type { Asking } from '../core/access/access.js';
import type { Caller, ProviderScope } from '../core/access/caller.js';
import { capableCandidates, match, takesWork } from '../core/routing/match.js';
import type { Candidate, Choice, Match, MatchRequest } from '../core/routing/match.js';
import type { Links, Offer, StandIn } from '../core/routing/links.js';
import { modelBroken, modelNotFound, modelOffline } from '../run/absence.js';
import type { Conversations } from './conversations.js';
import { quotaExceeded, shuttingDown, unconfirmed } from '../run/failure.js';
import type { WaitingLine } from './waiting-line.js';
import type { Call } from '../run/work.js';

export interface PlacementTiming {
  /** How long a call waits for a slot. */
  readonly syncWaitMs: number;
  /** How long a call waits for a provider that lost its link moments ago. */
  readonly reconnectWaitMs: number;
}

interface PlacementParts {
  readonly line: WaitingLine;
  readonly timing: PlacementTiming;
  /** Aborted when the coordinator stops: then all waiting calls end. */
  readonly closing: AbortSignal;
  readonly conversations: Pick<Conversations, 'preferred'>;
  /** False while it is not known who may use what. */
  readonly isCurrent: () => boolean;
}

export interface Sought<T> {
  readonly work: Call;
  /** Providers that have failed this work. */
  readonly excluded: ReadonlySet<string>;
  /** Sends the work to the chosen provider; null if its slot has gone since. */
  readonly start: (choice: Choice) => T | null;
}

/** Of one search for a slot. */
interface Bounds {
  readonly where?: ProviderScope;
  /**
   * Other coordinators offer it slots of their agents in turn: it takes none by itself, by what was
   * known of them a moment ago.
   */
  readonly hasTurns?: boolean;
}

/** The result of one search for a slot. */
type Look<T> =
  | { readonly kind: 'started'; readonly value: T }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'busy' | 'offline' };

export class Placement {
  readonly #links: Links;
  readonly #line: WaitingLine;
  readonly #timing: PlacementTiming;
  readonly #closing: AbortSignal;
  readonly #conversations: PlacementParts['conversations'];
  readonly #isCurrent: PlacementParts['isCurrent'];
  /** After a restart of the coordinator, agents need a moment to reconnect. */
  readonly #startedAt = performance.now();
  /** Of calls that wait: each looks whether its key may still call. */
  readonly #confirming = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  /** By service type and model, while the queue is served; otherwise null. */
  #seen: Map<string, readonly Candidate[]> | null = null;

  constructor(links: Links, parts: PlacementParts) {
    this.#links = links;
    this.#line = parts.line;
    this.#timing = parts.timing;
    this.#closing = parts.closing;
    this.#conversations = parts.conversations;
    this.#isCurrent = parts.isCurrent;
  }

  /**
   * Caches the candidates while `act` runs: only started calls change anything meanwhile, and all
   * waiting calls for a model see the same providers. Computing them for each call would stop every
   * stream for 2 s with 500 waiting calls and 1,000 providers.
   */
  atOneMoment(act: () => void): void {
    this.#seen = new Map();
    try {
      act();
    } finally {
      this.#seen = null;
    }
  }

  /** The result of `start`, now or later. Throws, or rejects with, the error for the caller. */
  place<T extends object>(sought: Sought<T>): T | Promise<T> {
    const isNew = sought.excluded.size === 0;
    const mustWait = isNew && !this.#line.isEmpty && this.#line.hasWaiting(keyOf(sought));
    const look: Look<T> = mustWait ? { kind: 'busy' } : this.#look(sought);
    if (look.kind === 'refused') throw look.error;
    if (look.kind === 'started') return look.value;
    if (this.#closing.aborted) throw shuttingDown();
    return this.#wait(sought, keyOf(sought));
  }

  /** See `StandIns`. */
  standIn(call: StandIn): () => void {
    const { caller, serviceType, model, key } = call;
    const tryStart = (where: ProviderScope): boolean => {
      if (!this.#isCurrent()) return false;
      const candidates = this.#candidatesFor(serviceType, model).filter((candidate) => {
        return candidate.isRelayed !== true && (where === 'any' || isOwn(candidate, caller));
      });
      const found = match(candidates, call);
      if (found.kind !== 'chosen' || !call.take(found.choice)) return false;
      this.#seen?.clear();
      return true;
    };
    const waiting = { memberId: caller.memberId, key, tryStart };
    this.#line.join(waiting);
    // What it waits for may be free by now.
    this.#line.wake();
    return () => this.#line.leave(waiting);
  }

  #look<T>(sought: Sought<T>, { where = 'any', hasTurns = false }: Bounds = {}): Look<T> {
    const { work, excluded, start } = sought;
    if (!this.#isCurrent()) return { kind: 'refused', error: unconfirmed() };
    const { caller } = work;
    const all = this.#candidatesOf(work);
    const candidates = where === 'own' ? all.filter((one) => isOwn(one, caller)) : all;
    const preferred = (): string | null => this.#conversations.preferred(work);
    const request = { caller, needs: work.needs, excluded, preferred };
    const matched = match(candidates, request);
    const isOthers = hasTurns && matched.kind === 'chosen' && matched.choice.isRelayed === true;
    const found = isOthers ? matchHere(candidates, request) : matched;
    // Another provider may still serve the caller: only a call that can start now counts.
    if (where === 'own' && found.kind !== 'chosen') return { kind: 'busy' };
    switch (found.kind) {
      case 'chosen': {
        const value = start(found.choice);
        this.#seen?.clear();
        return value === null ? { kind: 'busy' } : { kind: 'started', value };
      }
      case 'busy':
        return { kind: 'busy' };
      case 'broken':
        return { kind: 'refused', error: modelBroken(work, found.retryInMs) };
      case 'spent':
        return { kind: 'refused', error: quotaExceeded(found.refusal) };
      case 'unknown':
        return { kind: 'refused', error: modelNotFound(work, this.#links) };
      case 'offline': {
        const lostAt = Math.max(found.lostAt ?? 0, this.#startedAt);
        const gone = performance.now() - lostAt >= this.#timing.reconnectWaitMs;
        if (!gone && excluded.size === 0) return { kind: 'offline' };
        return { kind: 'refused', error: modelOffline(work, this.#links) };
      }
    }
  }

  #candidatesOf({ endpoint, model }: Call): readonly Candidate[] {
    return this.#candidatesFor(ENDPOINTS[endpoint].serviceType, model);
  }

  #candidatesFor(serviceType: ServiceType, model: string): readonly Candidate[] {
    const key = `${serviceType} ${model}`;
    const candidates = this.#seen?.get(key) ?? this.#links.candidates(serviceType, model);
    this.#seen?.set(key, candidates);
    return candidates;
  }

  /**
   * Waits in the queue. A call leaves it in one of six ways: the queue wakes it and it starts or is
   * refused; another coordinator offers it a slot; its provider has been away for too long; its key
   * may call no more; its waiting time ends; its caller leaves or the coordinator stops.
   */
  #wait<T>(sought: Sought<T>, key: string): Promise<T> {
    const { work } = sought;
    const { syncWaitMs, reconnectWaitMs } = this.#timing;
    return new Promise((resolve, reject) => {
      const tryStart = (where: ProviderScope): boolean => {
        if (where === 'own') return startOnOwn();
        const look = this.#look(sought, { hasTurns: want.isKnown });
        // The provider may be lost at any time during the wait, not only before it.
        clearTimeout(absence);
        if (look.kind === 'offline') absence = setTimeout(lookAgain, reconnectWaitMs);
        if (look.kind === 'started') leave(() => resolve(look.value));
        if (look.kind === 'refused') leave(() => reject(look.error));
        return look.kind === 'started' || look.kind === 'refused';
      };
      const startOnOwn = (): boolean => {
        const look = this.#look(sought, { where: 'own', hasTurns: want.isKnown });
        if (look.kind === 'started') leave(() => resolve(look.value));
        return look.kind === 'started';
      };
      const startOn = (offer: Offer): boolean => {
        const choice = this.#offered(sought, offer);
        const value = choice && sought.start(choice);
        if (value === null) return false;
        this.#line.served(waiting);
        leave(() => resolve(value));
        return true;
      };
      const lookAgain = (): void => void tryStart('any');
      const giveUp = (): void => {
        leave(() => reject(this.#closing.aborted ? shuttingDown() : this.#exhausted(work)));
      };
      const leave = (settle: () => void): void => {
        clearTimeout(patience);
        clearTimeout(absence);
        work.signal.removeEventListener('abort', giveUp);
        this.#closing.removeEventListener('abort', giveUp);
        this.#line.leave(waiting);
        want.end();
        unconfirm();
        settle();
      };
      const waiting = { memberId: work.caller.memberId, key, tryStart };
      const patience = setTimeout(giveUp, syncWaitMs);
      let absence = setTimeout(lookAgain, reconnectWaitMs);
      work.signal.addEventListener('abort', giveUp, { once: true });
      this.#closing.addEventListener('abort', giveUp, { once: true });
      const { caller, model, needs } = work;
      const { serviceType } = ENDPOINTS[work.endpoint];
      const { excluded } = sought;
      const wanted = { caller, serviceType, model, needs, excluded };
      const want = this.#links.want({ ...wanted, take: startOn });
      const unconfirm = this.#confirmOften(caller, (error) => leave(() => reject(error)));
      this.#line.join(waiting);
    });
  }

  /** Until the returned function ends it, or the key may call no more. */
  #confirmOften(
    { confirm }: Pick<Caller, 'confirm'>,
    onEnd: (error: ApiError) => void,
  ): () => void {
    if (confirm === undefined) return () => {};
    const look = (): void => {
      confirm().catch((error: unknown) => {
        // Else the database is away: then nothing starts, either.
        const hasEnded = error instanceof ApiError && error.status < 500;
        if (hasEnded && this.#confirming.has(look)) onEnd(error);
      });
    };
    this.#confirming.add(look);
    this.#timer ??= setInterval(() => this.#confirming.forEach((one) => one()), CONFIRM_MS);
    return () => {
      this.#confirming.delete(look);
      if (this.#confirming.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  /** The choice of a slot that another coordinator holds for it; null if it must not be used. */
  #offered({ work, excluded }: Sought<unknown>, offer: Offer): Choice | null {
    const { want, providerId, serviceId } = offer;
    if (!this.#isCurrent() || excluded.has(providerId)) return null;
    const its = this.#candidatesOf(work).filter((one) => {
      return one.providerId === providerId && one.serviceId === serviceId;
    });
    const [choice] = capableCandidates(its, work);
    if (choice === undefined || !takesWork(choice) || choice.health === 'open') return null;
    // What is known of its slots here is older than the offer.
    return { ...choice, freeSlots: Math.max(1, choice.freeSlots), want };
  }

  #exhausted(work: Call): ApiError {
    const waited = Math.round(this.#timing.syncWaitMs / 1000);
    const message = `Every slot for '${work.model}' stayed taken for ${waited} s. Try again later.`;
    return new ApiError('capacity_exhausted', message);
  }
}

/** With the look at changes of keys, twice a second, far less than the 3 s in which they hold. */
const CONFIRM_MS = 1_000;

/** Of agents that are linked here; `busy` if none of them has a slot. */
function matchHere(candidates: readonly Candidate[], request: MatchRequest): Match {
  const found = match(
    candidates.filter(({ isRelayed }) => isRelayed !== true),
    request,
  );
  return found.kind === 'chosen' ? found : { kind: 'busy' };
}

function isOwn({ ownerId }: Candidate, { memberId }: Asking): boolean {
  return ownerId === memberId;
}

/** Work with the same key can be served by the same providers. */
function keyOf({ work, excluded }: Sought<unknown>): string {
  const { caller, endpoint, model, needs } = work;
  const { serviceType } = ENDPOINTS[endpoint];
  const wanted = [...needs.features, ...needs.voices, ...(needs.inputs ?? [])];
  const isNamed = mayName(caller, model);
  const { memberId, scope } = caller;
  return [memberId, scope, isNamed, serviceType, model, ...wanted, ...excluded].join(' ');
}
