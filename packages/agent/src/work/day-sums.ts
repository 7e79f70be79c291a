/** The sums of one day, a row for each caller and model. */
import type { DayRow, Sums } from '../state/today-file.js';
import type { RunOutcome, Use } from './run-record.js';

/** Further callers and models share one row. */
export const MAX_DAY_ROWS = 1_000;

export const NO_SUMS: Sums = {
  requests: 0,
  failed: 0,
  promptTokens: 0,
  completionTokens: 0,
  estimated: 0,
  seconds: 0,
  energyWh: null,
};

const REST = { caller: null, own: null, model: null };

export class DaySums {
  readonly #rows = new Map<string, DayRow>();

  constructor(rows: readonly DayRow[] = []) {
    for (const row of rows) this.#count(row, row);
  }

  /** The longest first. */
  get rows(): readonly DayRow[] {
    return [...this.#rows.values()].toSorted((a, b) => b.seconds - a.seconds);
  }

  get total(): Sums {
    return [...this.#rows.values()].reduce(plus, NO_SUMS);
  }

  add({ caller, own, model, ...use }: Use, outcome: RunOutcome): void {
    this.#count({ caller, own, model }, sumsOf(use, outcome));
  }

  takeBack({ caller, own, model, promptTokens, completionTokens, estimated }: Use): void {
    const tokens = {
      promptTokens: -(promptTokens ?? 0),
      completionTokens: -(completionTokens ?? 0),
      estimated: estimated ? -1 : 0,
    };
    this.#count({ caller, own, model }, { ...NO_SUMS, ...tokens });
  }

  #count({ caller, own, model }: Pick<DayRow, 'caller' | 'own' | 'model'>, sums: Sums): void {
    const key = JSON.stringify([caller, own, model]);
    const isRest = this.#rows.size >= MAX_DAY_ROWS - 1 && !this.#rows.has(key);
    const who = isRest ? REST : { caller, own, model };
    const itsKey = isRest ? JSON.stringify(Object.values(REST)) : key;
    this.#rows.set(itsKey, { ...who, ...plus(this.#rows.get(itsKey) ?? NO_SUMS, sums) });
  }
}

export function sumsOf(
  use: Pick<Use, 'promptTokens' | 'completionTokens' | 'estimated' | 'seconds' | 'energyWh'>,
  outcome: RunOutcome,
): Sums {
  return {
    requests: 1,
    failed: outcome === 'failed' ? 1 : 0,
    promptTokens: use.promptTokens ?? 0,
    completionTokens: use.completionTokens ?? 0,
    estimated: use.estimated ? 1 : 0,
    seconds: use.seconds ?? 0,
    energyWh: use.energyWh,
  };
}

export function plus(a: Sums, b: Sums): Sums {
  return {
    requests: a.requests + b.requests,
    failed: a.failed + b.failed,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    estimated: a.estimated + b.estimated,
    seconds: a.seconds + b.seconds,
    energyWh: a.energyWh === null ? b.energyWh : a.energyWh + (b.energyWh ?? 0),
  };
}
