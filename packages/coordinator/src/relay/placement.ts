/** Finds a slot for a piece of work, and waits in the queue if every slot is taken. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { mayName } from '../core/access/access.js';
import type { ProviderScope } from '../core/access/caller.js';
import { match } from '../core/routing/match.js';
import type { Candidate, Choice } from '../core/routing/match.js';
import type { Links } from '../core/routing/links.js';
import { modelBroken, modelNotFound, modelOffline } from '../run/absence.js';
import type { Conversations } from './conversations.js';
import { quotaExceeded, shuttingDown } from '../run/failure.js';
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
}

export interface Sought<T> {
  readonly work: Call;
  /** Providers that have failed this work. */
  readonly excluded: ReadonlySet<string>;
  /** Sends the work to the chosen provider; null if its slot has gone since. */
  readonly start: (choice: Choice) => T | null;
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
  /** After a restart of the coordinator, agents need a moment to reconnect. */
  readonly #startedAt = performance.now();
  /** By service type and model, while the queue is served; otherwise null. */
  #seen: Map<string, readonly Candidate[]> | null = null;

  constructor(links: Links, parts: PlacementParts) {
    this.#links = links;
    this.#line = parts.line;
    this.#timing = parts.timing;
    this.#closing = parts.closing;
    this.#conversations = parts.conversations;
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

  #look<T>({ work, excluded, start }: Sought<T>, where: ProviderScope = 'any'): Look<T> {
    const { caller } = work;
    const all = this.#candidatesFor(work);
    const isOwn = ({ ownerId }: Candidate): boolean => ownerId === caller.memberId;
    const candidates = where === 'own' ? all.filter(isOwn) : all;
    const preferred = (): string | null => this.#conversations.preferred(work);
    const found = match(candidates, { caller, needs: work.needs, excluded, preferred });
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

  #candidatesFor({ endpoint, model }: Call): readonly Candidate[] {
    const { serviceType } = ENDPOINTS[endpoint];
    const key = `${serviceType} ${model}`;
    const candidates = this.#seen?.get(key) ?? this.#links.candidates(serviceType, model);
    this.#seen?.set(key, candidates);
    return candidates;
  }

  /**
   * Waits in the queue. A call leaves it in one of four ways: the queue wakes it and it starts or
   * is refused; its provider has been away for too long; its waiting time ends; its caller leaves
   * or the coordinator stops.
   */
  #wait<T>(sought: Sought<T>, key: string): Promise<T> {
    const { work } = sought;
    const { syncWaitMs, reconnectWaitMs } = this.#timing;
    return new Promise((resolve, reject) => {
      const tryStart = (where: ProviderScope): boolean => {
        if (where === 'own') return startOnOwn();
        const look = this.#look(sought);
        // The provider may be lost at any time during the wait, not only before it.
        clearTimeout(absence);
        if (look.kind === 'offline') absence = setTimeout(lookAgain, reconnectWaitMs);
        if (look.kind === 'started') leave(() => resolve(look.value));
        if (look.kind === 'refused') leave(() => reject(look.error));
        return look.kind === 'started' || look.kind === 'refused';
      };
      const startOnOwn = (): boolean => {
        const look = this.#look(sought, 'own');
        if (look.kind === 'started') leave(() => resolve(look.value));
        return look.kind === 'started';
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
        settle();
      };
      const waiting = { memberId: work.caller.memberId, key, tryStart };
      const patience = setTimeout(giveUp, syncWaitMs);
      let absence = setTimeout(lookAgain, reconnectWaitMs);
      work.signal.addEventListener('abort', giveUp, { once: true });
      this.#closing.addEventListener('abort', giveUp, { once: true });
      this.#line.join(waiting);
    });
  }

  #exhausted(work: Call): ApiError {
    const waited = Math.round(this.#timing.syncWaitMs / 1000);
    const message = `Every slot for '${work.model}' stayed taken for ${waited} s. Try again later.`;
    return new ApiError('capacity_exhausted', message);
  }
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
