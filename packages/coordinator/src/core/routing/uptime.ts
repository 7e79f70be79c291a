/** When a provider was online in the last 30 days, by the history of its links. */

/** Why a link ended. */
export type LinkEndReason =
  /** The agent finished its work and closed it. */
  | 'agent_stopped'
  | 'connection_lost'
  /** Nothing was heard for too long. */
  | 'no_heartbeat'
  /** One of the ends broke the protocol. */
  | 'link_error'
  /** A newer link of the agent took over. */
  | 'replaced'
  /** The agent was sent to another coordinator. */
  | 'moved'
  /** An administrator closed it. */
  | 'kicked'
  | 'owner_disabled'
  | 'revoked'
  | 'coordinator_stopped'
  /** It did not say that it stops: found when it starts again. */
  | 'coordinator_crashed';

/** Times are Unix ms. */
export interface LinkPeriod {
  readonly linkedAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
  readonly reason: LinkEndReason | null;
}

export interface LinkHistory {
  /** Since when all links are known; null: none is. */
  readonly since: number | null;
  /** The oldest first. */
  readonly periods: readonly LinkPeriod[];
  /** When the coordinator that holds the open link was last alive; null: no link is open. */
  readonly holderSeenAt: number | null;
}

const DAY_MS = 86_400_000;

export const UPTIME_DAYS = 30;

/** The newest ones are told. */
export const MAX_DISCONNECTIONS = 20;

interface DayUptime {
  /** In UTC: `2026-05-31`. */
  readonly day: string;
  readonly onlineMs: number;
  /** Of this day, without what is not known and what is still to come. */
  readonly knownMs: number;
}

interface Disconnection {
  readonly at: number;
  readonly reason: LinkEndReason;
  /** Null: it has not come back. */
  readonly backAt: number | null;
}

interface Uptime {
  /** The last 30, in order; today is the last one. */
  readonly days: readonly DayUptime[];
  /** The newest first. */
  readonly disconnections: readonly Disconnection[];
}

/** A period without an end lasts until `openUntil`. */
export function uptimeOf(
  { since, periods }: Pick<LinkHistory, 'since' | 'periods'>,
  { now, openUntil }: { readonly now: number; readonly openUntil: number },
): Uptime {
  const today = Math.floor(now / DAY_MS);
  const spans = periods.map(({ linkedAt, endedAt }) => [linkedAt, endedAt ?? openUntil] as const);
  const days = Array.from({ length: UPTIME_DAYS }, (_, index) => {
    const from = (today - UPTIME_DAYS + 1 + index) * DAY_MS;
    const to = Math.min(from + DAY_MS, now);
    const known = Math.max(from, since ?? Infinity);
    const onlineMs = spans.reduce((sum, [start, end]) => {
      return sum + Math.max(0, Math.min(end, to) - Math.max(start, known));
    }, 0);
    const knownMs = Math.max(0, to - known);
    const day = new Date(from).toISOString().slice(0, 10);
    return { day, onlineMs: Math.min(onlineMs, knownMs), knownMs };
  });
  const ended = periods.flatMap(({ endedAt: at, reason }, index) => {
    if (at === null || reason === null) return [];
    return [{ at, reason, backAt: periods[index + 1]?.linkedAt ?? null }];
  });
  return { days, disconnections: ended.slice(-MAX_DISCONNECTIONS).toReversed() };
}
