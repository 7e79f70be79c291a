/** What the page asks of the store: each span of its charts, the home screen, and its lists. */
import type { Store, UsageOf, UsagePeriodsQuery } from '@inference-gateway/coordinator/store/port';
import type { Seeded } from './seed.js';

interface Question {
  readonly says: string;
  readonly ask: (store: Store, seeded: Seeded) => Promise<unknown>;
}

const DAY_MS = 86_400_000;
const GATEWAY: UsageOf = { kind: 'gateway' };
/** As `usage.series` asks. */
const MODELS = { count: 10, by: 'requests' } as const;
const DURATIONS = ['firstByte', 'queue', 'total'] as const;

type Of = (seeded: Seeded) => UsageOf;
type Asked = Pick<UsagePeriodsQuery, 'step'> & {
  readonly byModel: boolean;
  readonly days: number;
};

const member: Of = ({ memberId }) => ({ kind: 'member', id: memberId });
const owner: Of = ({ ownerId }) => ({ kind: 'owner', id: ownerId });
const gateway: Of = () => GATEWAY;

function periods(says: string, of: Of, { step, byModel, days }: Asked): Question {
  return {
    says,
    ask: (store, seeded) =>
      store.usagePeriods({
        step,
        since: seeded.now - days * DAY_MS,
        until: seeded.now,
        of: of(seeded),
        model: null,
        models: byModel ? MODELS : null,
        durations: byModel ? [] : DURATIONS,
      }),
  };
}

/** By metric. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  memberWeek: periods('a member, 7 days by hour and model', member, hours(7, true)),
  memberWeekTimes: periods('a member, 7 days by hour, durations', member, hours(7, false)),
  memberYear: periods('a member, 12 months by model', member, months(true)),
  memberYearTimes: periods('a member, 12 months, durations', member, months(false)),
  ownerWeek: periods("an owner's 5 providers, 7 days by hour and model", owner, hours(7, true)),
  ownerYear: periods("an owner's 5 providers, 12 months by model", owner, months(true)),
  ownerYearTimes: periods("an owner's 5 providers, 12 months, durations", owner, months(false)),
  gatewayDay: periods('the gateway, 24 hours by model', gateway, hours(1, true)),
  gatewayWeek: periods('the gateway, 7 days by hour and model', gateway, hours(7, true)),
  gatewayWeekTimes: periods('the gateway, 7 days by hour, durations', gateway, hours(7, false)),
  gatewayQuarter: periods('the gateway, 90 days by model', gateway, days(90, true)),
  gatewayYear: periods('the gateway, 12 months by model', gateway, months(true)),
  gatewayYearTimes: periods('the gateway, 12 months, durations', gateway, months(false)),
  gatewayModel: {
    says: 'the gateway, 12 months, durations of one model',
    ask: (store, { now, model }) =>
      store.usagePeriods({
        step: 'month',
        since: now - 365 * DAY_MS,
        until: now,
        of: GATEWAY,
        model,
        models: null,
        durations: DURATIONS,
      }),
  },
  live: {
    says: 'the gateway, 60 minutes',
    ask: (store, { now }) =>
      store.usagePeriods({
        step: 'minute',
        since: now - 3_540_000,
        until: now,
        of: GATEWAY,
        model: null,
        models: null,
        durations: ['firstByte'],
      }),
  },
  home: {
    says: "home's 24 hours of a member",
    ask: (store, seeded) =>
      periods('', member, { step: 'hour', byModel: false, days: 1 }).ask(store, seeded),
  },
  recent: {
    says: 'latest 25 requests, of a million',
    ask: (store, { ownerId: memberId }) => store.recentUsage({ memberId, limit: 26, after: null }),
  },
  sums: {
    says: 'sums of 90 days by model, of a million requests',
    ask: (store, { ownerId: memberId, now }) =>
      store.usageStats({ by: 'model', memberId, since: now - 89 * DAY_MS }),
  },
  activity: {
    says: "home's counts of 24 hours, of a million requests",
    ask: (store, { ownerId, now }) => store.countRequests(ownerId, now - DAY_MS),
  },
};

function hours(count: number, byModel: boolean): Asked {
  return { step: 'hour', byModel, days: count };
}

function days(count: number, byModel: boolean): Asked {
  return { step: 'day', byModel, days: count };
}

function months(byModel: boolean): Asked {
  return { step: 'month', byModel, days: 365 };
}
