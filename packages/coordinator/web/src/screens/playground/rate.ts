/** The rate limit of the last answer: the requests left in the window. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { keptCell } from './kept-cell.js';

export interface Rate {
  readonly limit: number;
  readonly remaining: number;
  /** Unix ms at which more requests may be sent. */
  readonly resetAt: number;
}

/** Null until the first answer. */
export const rate = keptCell<Rate | null>(() => null);

/** Null if the answer has no rate limit headers. */
export function readRate(headers: Pick<Headers, 'get'>, now: number): Rate | null {
  const told = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  if (told.includes(null)) return null;
  const [limit = NaN, remaining = NaN, resetS = NaN] = told.map(Number);
  if (![limit, remaining, resetS].every(Number.isFinite)) return null;
  return { limit, remaining, resetAt: now + resetS * 1_000 };
}

export function noteRate(headers: Headers): void {
  rate.value = readRate(headers, SYSTEM_CLOCK.now()) ?? rate.value;
}
