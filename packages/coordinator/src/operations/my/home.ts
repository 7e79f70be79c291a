/** The data of the home screen: what changes is requested every two seconds, the day less often. */
import * as z from 'zod';
import { periodsBetween } from '../../core/usage/periods.js';
import type { Store } from '../../store/port.js';
import { ACTIVITY_MS, attentionOf, gatherHome } from './attention.js';
import { change, read } from './command.js';
import type { Mine } from './command.js';

export const MY_HOME = {
  'home.show': read(z.strictObject({ day: z.boolean().default(true) }), async (mine, args) => {
    const [facts, day] = await Promise.all([gatherHome(mine), args.day ? lastDay(mine) : null]);
    const { queues, providers, keys, activity, steps } = facts;
    const oldest = queues.flatMap(({ oldestQueuedAt }) => oldestQueuedAt ?? []);
    return {
      tiles: {
        running: sum(queues.map(({ processing }) => processing)),
        queued: sum(queues.map(({ queued }) => queued)),
        oldest_queued_at: oldest.length === 0 ? null : Math.min(...oldest),
        providers_online: providers.filter(({ view }) => (view?.link ?? null) !== null).length,
        providers: providers.length,
        /** Null, as the hours, if the day was not asked for. */
        requests_24h: day?.requests ?? null,
        errors_24h: day?.errors ?? null,
      },
      hours: day?.hours ?? null,
      attention: attentionOf(facts),
      checklist: {
        has_key: keys.some(({ revokedAt }) => revokedAt === null),
        has_provider: providers.length > 0,
        has_called: activity.hasCalled,
        has_shared: steps.hasShared,
        has_invited: steps.hasInvited,
        closed: steps.checklistClosedAt !== null,
      },
    };
  }),
  'home.day': read(z.strictObject({}), lastDay),
  /** Closes the checklist in every browser, or shows it again. */
  'home.checklist': change(
    z.strictObject({ closed: z.boolean() }),
    async ({ context, member }, { closed }) => {
      await context.store.closeChecklist(member.id, closed ? context.now() : null);
      return { closed };
    },
  ),
};

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

const HOURS = 24;
const HOUR_MS = 3_600_000;

/** Reads every request of the member's last 24 hours. */
async function lastDay({ context: { store, now }, member }: Mine) {
  const until = now();
  const [{ requests, failed }, hours] = await Promise.all([
    store.countRequests(member.id, until - ACTIVITY_MS),
    lastHours(store, member.id, until),
  ]);
  return { requests, errors: failed, hours };
}

/** In UTC, one by one; the last one has not ended. */
async function lastHours(store: Pick<Store, 'usagePeriods'>, memberId: string, until: number) {
  const since = until - (HOURS - 1) * HOUR_MS;
  const of = { kind: 'member', id: memberId } as const;
  const about = { step: 'hour', since, until, of, model: null, models: null } as const;
  const rows = await store.usagePeriods({ ...about, durations: [] });
  const byHour = new Map(rows.map((row) => [row.period, row]));
  const found = periodsBetween('hour', since, until).map((hour) => byHour.get(hour));
  return {
    requests: found.map((row) => row?.requests ?? 0),
    errors: found.map((row) => row?.failed ?? 0),
    tokens: found.map((row) => (row === undefined ? 0 : row.promptTokens + row.completionTokens)),
  };
}
