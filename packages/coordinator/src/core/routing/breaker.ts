/**
 * A breaker, one a provider and model: who fails again and again is left alone for a while, and
 * then tried with one call. The state is data, and whoever keeps it tells the time.
 *
 * A caller's own errors and busy answers are never recorded: they tell nothing of the provider.
 * Where all that failed was one member's, it opens for that member alone: nobody can close a card
 * to others, its owner least of all, with requests that make its server fail.
 */

/** So many failures one after the other open it. */
const FAILURES_IN_A_ROW = 5;
/** So do half of the last outcomes, once so many are known. */
const REMEMBERED = 20;
const WORST_SHARE = 0.5;
/** How long it stays open before a call may try, where nobody says otherwise. */
export const OPEN_MS = 30_000;
/** A probe that has not reported by then is over, and another may try. */
export const PROBE_TIMEOUT_MS = 5 * 60_000;

export type CallOutcome = 'ok' | 'failed';

/** `probe`: one call may try. */
export type Standing = 'closed' | 'open' | 'probe';

/** What became of one member's call. */
export interface CallEnd {
  readonly outcome: CallOutcome;
  readonly memberId: string;
}

export interface BreakerState {
  /** The newest is the last; at most `REMEMBERED`. */
  readonly outcomes: readonly CallEnd[];
  readonly failuresInARow: number;
  /** Monotonic ms; null while it is closed. */
  readonly openedAt: number | null;
  /** While it is open: the member for whom alone it is; null if it is for everybody. */
  readonly openFor: string | null;
  /** Monotonic ms at which the probe under way began; null if none is. */
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

/** Whether it stands in this member's way while it is open. */
export function concerns({ openFor }: Pick<BreakerState, 'openFor'>, memberId: string): boolean {
  return openFor === null || openFor === memberId;
}

/** While it is open, what calls from before come to is no news; the probe alone decides. */
export function record(state: BreakerState, end: CallEnd, nowMs: number): BreakerState {
  if (state.openedAt !== null) return recordOpen(state, end, nowMs);
  const outcomes = [...state.outcomes, end].slice(-REMEMBERED);
  const failuresInARow = end.outcome === 'ok' ? 0 : state.failuresInARow + 1;
  const known = { ...state, outcomes, failuresInARow };
  if (failuresInARow >= FAILURES_IN_A_ROW) {
    return opened(known, nowMs, onlyOne(outcomes.slice(-FAILURES_IN_A_ROW)));
  }
  const isBad = outcomes.length === REMEMBERED && failureShare(known) >= WORST_SHARE;
  return isBad ? opened(known, nowMs, onlyOne(outcomes)) : known;
}

/** Another member's failure tells that it was not the first one's requests. */
function recordOpen(state: BreakerState, end: CallEnd, nowMs: number): BreakerState {
  const { outcome, memberId } = end;
  if (!concerns(state, memberId)) return outcome === 'ok' ? state : opened(state, nowMs, null);
  if (!isProbing(state, nowMs)) return state;
  return outcome === 'ok' ? CLOSED_BREAKER : opened(state, nowMs, memberId);
}

/** The one member whose calls failed; null if there are several. */
function onlyOne(outcomes: readonly CallEnd[]): string | null {
  const failed = new Set(outcomes.flatMap((end) => (end.outcome === 'ok' ? [] : end.memberId)));
  const [first = null, ...others] = failed;
  return others.length === 0 ? first : null;
}

/** The one call begins that may try. */
export function takeProbe(state: BreakerState, nowMs: number): BreakerState {
  return { ...state, probeSince: nowMs };
}

/** The call that tried told nothing: its caller left, or made an error. The next one may try. */
export function returnProbe(state: BreakerState): BreakerState {
  return { ...state, probeSince: null };
}

/** Things may have changed, as with a new link: a probe is due at once. */
export function allowProbe(state: BreakerState): BreakerState {
  if (state.openedAt === null) return state;
  return { ...state, openedAt: Number.NEGATIVE_INFINITY, probeSince: null };
}

/** In ms; 0 where a probe is due, or under way. */
export function nextProbeMs({ openedAt }: BreakerState, nowMs: number, openMs = OPEN_MS): number {
  return openedAt === null ? 0 : Math.max(0, openedAt + openMs - nowMs);
}

/** Of the last 20 outcomes, from 0 to 1; those that are not known yet count as good. */
export function failureShare({ outcomes }: Pick<BreakerState, 'outcomes'>): number {
  return outcomes.filter(({ outcome }) => outcome === 'failed').length / REMEMBERED;
}

function isProbing({ probeSince }: BreakerState, nowMs: number): boolean {
  return probeSince !== null && nowMs - probeSince < PROBE_TIMEOUT_MS;
}

function opened(state: BreakerState, nowMs: number, openFor: string | null): BreakerState {
  return { ...state, openedAt: nowMs, openFor, probeSince: null };
}
