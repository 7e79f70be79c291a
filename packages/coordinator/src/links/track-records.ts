/**
 * The track record of one provider, by model: its breakers and its measured speeds. The rules are
 * in `core/routing/breaker.ts` and `core/routing/pace.ts`; this only stores the state.
 */
import type {
  AdvertisedModel,
  AdvertisedService,
} from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import {
  allowProbe,
  CLOSED_BREAKER,
  concerns,
  failureShare,
  nextProbeMs,
  record,
  returnProbe,
  standing,
  takeProbe,
} from '../core/routing/breaker.js';
import type { BreakerState } from '../core/routing/breaker.js';
import type { Candidate, Choice } from '../core/routing/match.js';
import { learn, UNMEASURED } from '../core/routing/pace.js';
import type { Pace } from '../core/routing/pace.js';
import type { CallReport } from '../core/routing/links.js';

/**
 * For one provider; beyond it the oldest are dropped: an agent may send other names each second.
 */
const MAX_MODELS = 2 * LINK.maxModels;
/**
 * An answer loads the model. Agents check every 10 s what is loaded: for this long, an answer is
 * newer than their last list.
 */
const LOADED_BY_ANSWER_MS = 15_000;

/** The part of a candidate that comes from the track record. */
export type Tracked = Pick<Candidate, 'health' | 'openFor' | 'nextProbeMs' | 'failureShare'> &
  Pick<Candidate, 'model' | 'pace' | 'paceAgeMs'>;

interface TrackRecord {
  readonly breaker: BreakerState;
  readonly pace: Pace;
  /** Monotonic ms; null if there was none since the last list. */
  readonly answeredAt: number | null;
}

const EMPTY: TrackRecord = { breaker: CLOSED_BREAKER, pace: UNMEASURED, answeredAt: null };

/** The key of a record: a model under a service type. */
type Key = Pick<Candidate, 'serviceType'> & { readonly model: Pick<AdvertisedModel, 'id'> };

export class TrackRecords {
  readonly #records = new Map<string, TrackRecord>();
  readonly #breakerOpenMs: number;

  /** 0: no breaker ever opens, and failures are not counted. */
  constructor(breakerOpenMs: number) {
    this.#breakerOpenMs = breakerOpenMs;
  }

  /** All times are monotonic ms. */
  tracked(service: AdvertisedService, model: AdvertisedModel, now: number): Tracked {
    const { breaker, pace, answeredAt } = this.#of({ serviceType: service.service_type, model });
    const isLoaded = answeredAt !== null && now - answeredAt < LOADED_BY_ANSWER_MS;
    return {
      model: model.loaded === false && isLoaded ? { ...model, loaded: true } : model,
      health: standing(breaker, now, this.#breakerOpenMs),
      openFor: breaker.openFor,
      nextProbeMs: nextProbeMs(breaker, now, this.#breakerOpenMs),
      failureShare: failureShare(breaker),
      pace,
      paceAgeMs: pace.measuredAt === null ? 0 : now - pace.measuredAt,
    };
  }

  report(chosen: Choice, report: CallReport, now: number): void {
    const before = this.#of(chosen);
    const isCounted = this.#breakerOpenMs > 0;
    const breaker = isCounted
      ? breakerAfter(before.breaker, { chosen, report, now })
      : before.breaker;
    if (report.kind !== 'ok') return this.#set(chosen, { ...before, breaker });
    const { measured } = report;
    const { busySlots: otherCalls, model } = chosen;
    const run = measured && { ...measured, otherCalls, wasLoaded: model.loaded };
    const pace = run === null ? before.pace : learn(before.pace, run, now);
    return this.#set(chosen, { breaker, pace, answeredAt: now });
  }

  /** The chosen provider gets a call. */
  opened(chosen: Choice, now: number): void {
    if (chosen.health !== 'probe') return;
    const before = this.#of(chosen);
    this.#set(chosen, { ...before, breaker: takeProbe(before.breaker, now) });
  }

  /** The agent has reconnected: what failed before may work again. */
  linked(): void {
    for (const [key, before] of this.#records) this.#records.set(key, dueAtOnce(before));
  }

  /** The agent sent a new list; models that were missing may work again. */
  listed({ before, after }: Record<'before' | 'after', readonly AdvertisedService[]>): void {
    const known = new Set(keysOf(before));
    for (const key of keysOf(after)) {
      const kept = this.#records.get(key);
      if (kept === undefined) continue;
      const told = { ...kept, answeredAt: null };
      this.#records.set(key, known.has(key) ? told : dueAtOnce(told));
    }
  }

  #of(key: Key): TrackRecord {
    return this.#records.get(keyOf(key)) ?? EMPTY;
  }

  #set(key: Key, after: TrackRecord): void {
    this.#records.set(keyOf(key), after);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_MODELS) return;
      this.#records.delete(oldest);
    }
  }
}

interface Reported {
  readonly chosen: Choice;
  readonly report: CallReport;
  readonly now: number;
}

/** If it is open for the caller, only the probe counts: other calls began before it opened. */
function breakerAfter(before: BreakerState, { chosen, report, now }: Reported): BreakerState {
  const { callerId: memberId } = chosen;
  const isProbe = chosen.health === 'probe';
  const isOpen = before.openedAt !== null && concerns(before, memberId);
  if (isOpen && !isProbe) return before;
  if (report.kind === 'ok' || report.kind === 'failed') {
    return record(before, { outcome: report.kind, memberId }, now);
  }
  return isProbe ? returnProbe(before) : before;
}

function dueAtOnce(before: TrackRecord): TrackRecord {
  return { ...before, breaker: allowProbe(before.breaker) };
}

function keysOf(services: readonly AdvertisedService[]): string[] {
  return services.flatMap(({ service_type: serviceType, models }) =>
    models.map((model) => keyOf({ serviceType, model })),
  );
}

function keyOf({ serviceType, model }: Key): string {
  return `${serviceType} ${model.id}`;
}
