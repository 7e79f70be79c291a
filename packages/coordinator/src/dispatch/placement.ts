/** Finds a slot for a piece of work, waiting in line for one where every slot is taken. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { match } from '../core/match.js';
import type { Candidate } from '../core/match.js';
import type { Sessions } from '../core/sessions.js';
import { modelNotFound, modelOffline } from './absence.js';
import { shuttingDown } from './failure.js';
import type { WaitingLine } from './waiting-line.js';
import type { Work } from './work.js';

export interface PlacementTiming {
  /** Waiting for a slot. */
  readonly syncWaitMs: number;
  /** Waiting for a provider that dropped its link moments ago. */
  readonly reconnectWaitMs: number;
}

interface PlacementParts {
  readonly line: WaitingLine;
  readonly timing: PlacementTiming;
  /** Aborted when the coordinator stops: nobody waits any longer. */
  readonly closing: AbortSignal;
}

export interface Sought {
  readonly work: Work;
  /** Providers that have failed this work. */
  readonly excluded: ReadonlySet<string>;
  /** Sends the work to the candidate; false where its slot has gone since. */
  readonly start: (candidate: Candidate) => boolean;
}

type Look = { readonly kind: 'started' | 'busy' | 'offline' } | Refused;
interface Refused {
  readonly kind: 'refused';
  readonly error: ApiError;
}

export class Placement {
  readonly #sessions: Sessions;
  readonly #line: WaitingLine;
  readonly #timing: PlacementTiming;
  readonly #closing: AbortSignal;
  /** Agents need a moment to come back after the coordinator's own restart. */
  readonly #startedAt = performance.now();

  constructor(sessions: Sessions, { line, timing, closing }: PlacementParts) {
    this.#sessions = sessions;
    this.#line = line;
    this.#timing = timing;
    this.#closing = closing;
  }

  /**
   * Resolves once the work is sent, with the time it waited; rejects with what the caller is
   * told.
   */
  async place(sought: Sought): Promise<void> {
    const key = keyOf(sought);
    const mustWait = sought.excluded.size === 0 && this.#line.hasWaiting(key);
    const look: Look = mustWait ? { kind: 'busy' } : this.#look(sought);
    if (look.kind === 'refused') throw look.error;
    if (look.kind === 'started') return;
    if (this.#closing.aborted) throw shuttingDown();
    await this.#wait(sought, key);
  }

  #look({ work, excluded, start }: Sought): Look {
    const { serviceType } = ENDPOINTS[work.endpoint];
    const candidates = this.#sessions.candidates(serviceType, work.model);
    const found = match(candidates, { caller: work.caller, excluded });
    switch (found.kind) {
      case 'chosen':
        return { kind: start(found.candidate) ? 'started' : 'busy' };
      case 'busy':
        return { kind: 'busy' };
      case 'unknown':
        return { kind: 'refused', error: modelNotFound(work, this.#sessions) };
      case 'offline': {
        const lostAt = Math.max(found.lostAt ?? 0, this.#startedAt);
        const gone = performance.now() - lostAt >= this.#timing.reconnectWaitMs;
        if (!gone && excluded.size === 0) return { kind: 'offline' };
        return { kind: 'refused', error: modelOffline(work, this.#sessions) };
      }
    }
  }

  #wait(sought: Sought, key: string): Promise<void> {
    const { work } = sought;
    const { syncWaitMs, reconnectWaitMs } = this.#timing;
    return new Promise((resolve, reject) => {
      let reconnection: NodeJS.Timeout | undefined;
      const settle = (act: () => void): true => {
        clearTimeout(patience);
        clearTimeout(reconnection);
        work.signal.removeEventListener('abort', giveUp);
        this.#closing.removeEventListener('abort', giveUp);
        act();
        return true;
      };
      const tryStart = (): boolean => {
        const look = this.#look(sought);
        if (look.kind === 'started') return settle(resolve);
        if (look.kind === 'refused') return settle(() => reject(look.error));
        // The provider may be lost at any time of the wait, not only before it.
        clearTimeout(reconnection);
        if (look.kind === 'offline') reconnection = setTimeout(lookAgain, reconnectWaitMs);
        return false;
      };
      const waiting = { memberId: work.caller.memberId, key, tryStart };
      const giveUp = (): void => {
        this.#line.leave(waiting);
        settle(() => reject(this.#closing.aborted ? shuttingDown() : this.#exhausted(work)));
      };
      const lookAgain = (): void => {
        if (tryStart()) this.#line.leave(waiting);
      };
      const patience = setTimeout(giveUp, syncWaitMs);
      reconnection = setTimeout(lookAgain, reconnectWaitMs);
      work.signal.addEventListener('abort', giveUp, { once: true });
      this.#closing.addEventListener('abort', giveUp, { once: true });
      this.#line.join(waiting);
    });
  }

  #exhausted(work: Work): ApiError {
    const waited = Math.round(this.#timing.syncWaitMs / 1000);
    const message = `Every slot for '${work.model}' stayed taken for ${waited} s. Try again later.`;
    return new ApiError('capacity_exhausted', message);
  }
}

/** Work with one key may be served by the same providers. */
function keyOf({ work, excluded }: Sought): string {
  const { caller, endpoint, model } = work;
  const { serviceType } = ENDPOINTS[endpoint];
  return [caller.memberId, caller.scope, serviceType, model, ...excluded].join(' ');
}
