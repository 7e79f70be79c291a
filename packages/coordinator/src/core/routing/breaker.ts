/**
 * A circuit breaker for each provider and model: a provider that fails again and again gets no
 * calls for a while, then one probe. The state is data; the caller passes the time.
 *
 * A caller's own errors and busy answers are never recorded: they say nothing about the provider.
 * If all failed calls came from one member, the breaker opens for that member alone: no member, the
 * owner included, can close a card to others with requests that make its server fail.
 */

/** This many failures in a row open it. */
const FAILURES_IN_A_ROW = 5;
/** Half of the last outcomes failing also opens it, once this many are known. */
const REMEMBERED = 20;
const WORST_SHARE = 0.5;
/** Default time that it stays open before a probe. */
export const OPEN_MS = 30_000;
/** A probe that has not reported by then is over, and another call may probe. */
export const PROBE_TIMEOUT_MS = 5 * 60_000;

export type CallOutcome = 'ok' | 'failed';

/** `probe`: one call may try the provider. */
export type Standing = 'closed' | 'open' | 'probe';

/** How one member's call ended. */
export interface CallEnd {
  readonly outcome: CallOutcome;
  readonly memberId: string;
}

export interface BreakerState {
  /** Newest last; at most `REMEMBERED`. */
  readonly outcomes: readonly CallEnd[];
  readonly failuresInARow: number;
  /** Monotonic ms; null while it is closed. */
  readonly openedAt: number | null;
  /** While it is open: the only member that it applies to; null if it applies to all. */
  readonly openFor: string | null;
  /** Monotonic ms at which the running probe began; null if none is running. */
  readonly probeSince: number | null;
}

export const CLOSED_BREAKER: BreakerState = {
  outcomes: [],
  failuresInARow: 0,
  openedAt: null,
  openFor: null,
  probeSince: null,
};

export function standing(state: BreakerState, nowMs: number, openMs = OPEN_MS): Standing {
  const { openedAt } = state;
  if (openedAt === null) return 'closed';
  return nowMs < openedAt + openMs || isProbing(state, nowMs) ? 'open' : 'probe';
}

/** Whether an open breaker applies to this member. */
export function concerns({ openFor }: Pick<BreakerState, 'openFor'>, memberId: string): boolean {
  return openFor === null || openFor === memberId;
}

/** While it is open, results of earlier calls are ignored; only the probe decides. */
export function record(state: BreakerState, end: CallEnd, nowMs: number): BreakerState {
  if (state.openedAt !== null) return recordOpen(state, end, nowMs);
  const outcomes = [...state.outcomes.slice(1 - REMEMBERED), end];
  const failuresInARow = end.outcome === 'ok' ? 0 : state.failuresInARow + 1;
  const known = { ...state, outcomes, failuresInARow };
  if (failuresInARow >= FAILURES_IN_A_ROW) {
    return opened(known, nowMs, onlyOne(outcomes.slice(-FAILURES_IN_A_ROW)));
  }
  const isBad = outcomes.length === REMEMBERED && failureShare(known) >= WORST_SHARE;
  return isBad ? opened(known, nowMs, onlyOne(outcomes)) : known;
}

/** A failure of another member shows that the first member's requests were not the cause. */
function recordOpen(state: BreakerState, end: CallEnd, nowMs: number): BreakerState {
  const { outcome, memberId } = end;
  if (!concerns(state, memberId)) return outcome === 'ok' ? state : opened(state, nowMs, null);
  if (!isProbing(state, nowMs)) return state;
  return outcome === 'ok' ? CLOSED_BREAKER : opened(state, nowMs, memberId);
}

/** The only member whose calls failed; null if there are several. */
function onlyOne(outcomes: readonly CallEnd[]): string | null {
  const failed = new Set(outcomes.flatMap((end) => (end.outcome === 'ok' ? [] : end.memberId)));
  const [first = null, ...others] = failed;
  return others.length === 0 ? first : null;
}

/** The probe begins. */
export function takeProbe(state: BreakerState, nowMs: number): BreakerState {
  return { ...state, probeSince: nowMs };
}

/** The probe was inconclusive: its caller left or made an error. The next call may probe. */
export function returnProbe(state: BreakerState): BreakerState {
  return { ...state, probeSince: null };
}

/** Conditions may have changed, for example by a new link: a probe is due at once. */
export function allowProbe(state: BreakerState): BreakerState {
  if (state.openedAt === null) return state;
  return { ...state, openedAt: Number.NEGATIVE_INFINITY, probeSince: null };
}

/** In ms; 0 if a probe is due or running. */
export function nextProbeMs({ openedAt }: BreakerState, nowMs: number, openMs = OPEN_MS): number {
  return openedAt === null ? 0 : Math.max(0, openedAt + openMs - nowMs);
}

/** Share of failures in the last 20 outcomes, 0 to 1; missing outcomes count as successes. */
export function failureShare({ outcomes }: Pick<BreakerState, 'outcomes'>): number {
  let failed = 0;
  for (const { outcome } of outcomes) if (outcome === 'failed') failed += 1;
  return failed / REMEMBERED;
}

function isProbing({ probeSince }: BreakerState, nowMs: number): boolean {
  return probeSince !== null && nowMs - probeSince < PROBE_TIMEOUT_MS;
}

function opened(state: BreakerState, nowMs: number, openFor: string | null): BreakerState {
  return { ...state, openedAt: nowMs, openFor, probeSince: null };
}
