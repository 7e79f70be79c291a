/** All data of the home screen in one answer, which is requested every two seconds. */
import * as z from 'zod';
import { periodsBetween } from '../../core/usage/periods.js';
import type { AdminContext } from '../operation.js';
import { attentionOf, gatherHome } from './attention.js';
import { change, read } from './command.js';

export const MY_HOME = {
  'home.show': read(z.strictObject({}), async (mine) => {
    const [facts, hours] = await Promise.all([
      gatherHome(mine),
      lastHours(mine.context, mine.member.id),
    ]);
    const { queues, providers, keys, activity, steps } = facts;
    const oldest = queues.flatMap(({ oldestQueuedAt }) => oldestQueuedAt ?? []);
    return {
      tiles: {
        running: sum(queues.map(({ processing }) => processing)),
        queued: sum(queues.map(({ queued }) => queued)),
        oldest_queued_at: oldest.length === 0 ? null : Math.min(...oldest),
        providers_online: providers.filter(({ view }) => (view?.link ?? null) !== null).length,
        providers: providers.length,
        requests_24h: activity.requests,
        errors_24h: activity.failed,
      },
      /** The member's last 24 hours, in UTC, one by one; the last one has not ended. */
      hours,
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

/** A member's requests hour by hour, of the last 24, in UTC; the last one has not ended. */
async function lastHours({ store, now }: AdminContext, memberId: string) {
  const until = now();
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
