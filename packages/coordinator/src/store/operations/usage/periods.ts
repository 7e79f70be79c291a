/** Sums of usage by minute, hour and day, with counts of durations: what charts are drawn from. */
import { BUCKETS, bucketOf } from '../../../core/usage/durations.js';
import { periodOf, periodsBetween } from '../../../core/usage/periods.js';
import type { DurationCounts } from '../../../core/usage/durations.js';
import type {
  DurationName,
  UsageAmount,
  UsageOf,
  UsagePeriod,
  UsagePeriodsQuery,
  UsageRow,
} from '../../port.js';
import type { Operations } from '../operations.js';
import { statement, valueOf } from '../statement.js';
import type { Operation, SqlText, Statement } from '../statement.js';

type PeriodOperations = Pick<Operations, 'usagePeriods' | 'addPendingUsage' | 'deleteOldPeriods'>;

/** Minutes show what happens now. */
const MINUTES_KEPT_MS = 2 * 3_600_000;

/** The year that charts show, and the month that they begin in. Days are kept for good. */
const HOURS_KEPT_MS = 396 * 86_400_000;

export const periodOperations: PeriodOperations = {
  *usagePeriods(query) {
    const { step, since, until, of, model } = query;
    const asked = {
      step: step === 'month' ? 'day' : step,
      periods: JSON.stringify(periodsBetween(step, since, until)),
      subjects: JSON.stringify(yield* subjectsOf(of)),
      model,
    };
    const most = query.models;
    if (most === null) return (yield* readingOf(query).all(asked)).map(toPeriod);
    const models = yield* largestOf(query).all({ ...asked, limit: most.count });
    const rows = yield* readingOf(query).all({ ...asked, models: JSON.stringify(models) });
    return rows.map(toPeriod);
  },

  addPendingUsage: addPending,

  *deleteOldPeriods(now, limit) {
    const minutes = { step: 'minute', before: periodOf('minute', now - MINUTES_KEPT_MS), limit };
    const hours = { step: 'hour', before: periodOf('hour', now - HOURS_KEPT_MS), limit };
    return (yield* deleteOld.run(minutes)) + (yield* deleteOld.run(hours));
  },
};

/** The subject of the sums of all requests. */
const GATEWAY = '';
/** The gateway has sums of all its models, too: it may have hundreds, a member or provider few. */
const ALL_MODELS = '';

const COLUMNS = { firstByte: 'first_byte', queue: 'queue', total: 'total' } as const;

const bucketsOf = (duration: string): string[] =>
  Array.from({ length: BUCKETS }, (_, bucket) => `${duration}_${bucket}`);

const KEY = ['step', 'period', 'subject', 'model'] as const;
const AMOUNTS = [
  'requests',
  'failed',
  'canceled',
  'prompt_tokens',
  'completion_tokens',
  'audio_ms',
  'images',
  'total_ms',
  'generation_ms',
] as const;
const COUNTERS = Object.values(COLUMNS).flatMap(bucketsOf);
const ADDED = [...AMOUNTS, ...COUNTERS];

type Part = Readonly<Record<(typeof KEY)[number], string>>;

const listed = (columns: readonly string[], write: (column: string) => string): string =>
  columns.map(write).join(', ');
/** Null for nothing: most counters of a row are, and as numbers they would be most of its bytes. */
const sumOf = (column: string): string =>
  `nullif(coalesce(usage_periods.${column}, 0) + coalesce(excluded.${column}, 0), 0)`;
const add = statement<Part | Record<string, number | null>>(
  `insert into usage_periods (${[...KEY, ...ADDED].join(', ')})
   values (${listed([...KEY, ...ADDED], (column) => `@${column}`)})
   on conflict (${KEY.join(', ')}) do update set
     ${listed(AMOUNTS, (column) => `${column} = usage_periods.${column} + excluded.${column}`)},
     ${listed(COUNTERS, (column) => `${column} = ${sumOf(column)}`)}`,
);

/** Each row is added for its member, its provider and the gateway. */
export function* addToPeriods(rows: readonly CountedUsage[]): Operation<void> {
  const minutes = new Map<string, Sums<CountedUsage>>();
  for (const row of rows) {
    const minute = Math.floor(row.at / MINUTE_MS);
    const name = `${minute} ${row.memberId} ${row.providerId} ${row.model}`;
    addRow(sumsAt(minutes, name, row), row);
  }
  const periods = new Map<string, Sums<Part>>();
  for (const { of, added } of minutes.values()) {
    for (const part of partsOf(of)) {
      const { added: sums } = sumsAt(periods, placeOf(part), part);
      for (const [i, amount] of added.entries()) sums[i] = (sums[i] ?? 0) + amount;
    }
  }
  const inOrder = [...periods].toSorted(([a], [b]) => (a < b ? -1 : 1));
  yield* add.each(inOrder.map(([, { of, added }]) => ({ ...of, ...columnsOf(added) })));
}

const MINUTE_MS = 60_000;

/** What of a usage row is added up. */
export type CountedUsage = Pick<
  UsageRow,
  | 'at'
  | 'memberId'
  | 'providerId'
  | 'model'
  | 'outcome'
  | 'promptTokens'
  | 'completionTokens'
  | 'audioMs'
  | 'images'
  | 'queueMs'
  | 'firstByteMs'
  | 'totalMs'
>;

interface Sums<Of> {
  readonly of: Of;
  /** In the order of `ADDED`. */
  readonly added: number[];
}

function sumsAt<Of>(sums: Map<string, Sums<Of>>, name: string, of: Of): Sums<Of> {
  const known = sums.get(name);
  if (known !== undefined) return known;
  const made = { of, added: Array.from({ length: ADDED.length }, () => 0) };
  sums.set(name, made);
  return made;
}

function columnsOf(added: readonly number[]): Record<string, number | null> {
  const values = ADDED.map((column, i) => {
    const amount = added[i] ?? 0;
    return [column, amount === 0 && i >= AMOUNTS.length ? null : amount] as const;
  });
  return Object.fromEntries(values);
}

function partsOf({ at, memberId, providerId, model }: CountedUsage): Part[] {
  const minute = { step: 'minute', period: periodOf('minute', at) };
  const larger = (['hour', 'day'] as const).flatMap((step) => {
    const place = { step, period: periodOf(step, at) };
    return [
      { ...place, subject: memberId, model },
      ...(providerId === null ? [] : [{ ...place, subject: providerId, model }]),
      { ...place, subject: GATEWAY, model },
      { ...place, subject: GATEWAY, model: ALL_MODELS },
    ];
  });
  return [...larger, { ...minute, subject: GATEWAY, model: ALL_MODELS }];
}

/**
 * All transactions add in this order, and so do not deadlock. The gateway's rows come last: others
 * wait for them only until the commit that follows.
 */
function placeOf({ step, period, subject, model }: Part): string {
  return `${subject === GATEWAY ? 1 : 0} ${step} ${period} ${subject} ${model}`;
}

const PLACES = new Map(ADDED.map((column, i) => [column, i]));

/** Of successful requests alone first byte and total: a failed one may be refused at once. */
function addRow({ added }: Sums<unknown>, row: CountedUsage): void {
  const addTo = (column: string, amount: number): void => {
    const place = PLACES.get(column) ?? 0;
    added[place] = (added[place] ?? 0) + amount;
  };
  const { outcome, queueMs, firstByteMs, totalMs, completionTokens } = row;
  addTo('requests', 1);
  addTo('prompt_tokens', row.promptTokens);
  addTo('completion_tokens', completionTokens);
  addTo('audio_ms', Math.round(row.audioMs));
  addTo('images', row.images);
  addTo('total_ms', Math.round(totalMs));
  addTo(`queue_${bucketOf(queueMs)}`, 1);
  if (completionTokens > 0) addTo('generation_ms', Math.max(0, Math.round(totalMs - queueMs)));
  if (outcome !== 'ok') {
    addTo(outcome, 1);
    return;
  }
  addTo(`total_${bucketOf(totalMs)}`, 1);
  if (firstByteMs !== null) addTo(`first_byte_${bucketOf(firstByteMs)}`, 1);
}

const remember = statement<{ requestId: string }>(
  `insert into usage_pending (request_id) values (@requestId) on conflict (request_id) do nothing`,
);

/**
 * Leaves the rows to `addPendingUsage`: jobs end one by one, and to add each by itself would take
 * more time than its end.
 */
export function* addLater(rows: readonly Pick<UsageRow, 'requestId'>[]): Operation<void> {
  yield* remember.each(rows.map(({ requestId }) => ({ requestId })));
}

const takePending = statement<{ limit: number }, { requestId: string }>(
  `delete from usage_pending where request_id in (
     select request_id from usage_pending order by request_id limit @limit)
   returning request_id as "requestId"`,
);
const pendingRows = statement<{ ids: string }, CountedUsage>(
  `select u.at, u.member_id as "memberId", u.provider_id as "providerId", u.model, u.outcome,
     u.prompt_tokens as "promptTokens", u.completion_tokens as "completionTokens",
     u.audio_ms as "audioMs", u.images, u.queue_ms as "queueMs",
     u.first_byte_ms as "firstByteMs", u.total_ms as "totalMs"
   from json_each(@ids) as ids cross join usage u where u.request_id = ids.value`,
);

function* addPending(limit: number): Operation<number> {
  const taken = yield* takePending.all({ limit });
  if (taken.length === 0) return 0;
  const ids = JSON.stringify(taken.map(({ requestId }) => requestId));
  yield* addToPeriods(yield* pendingRows.all({ ids }));
  return taken.length;
}

const deleteOld = statement<{ step: string; before: string; limit: number }>(
  `delete from usage_periods where (step, period, subject, model) in (
     select step, period, subject, model from usage_periods
     where step = @step and period < @before order by period limit @limit)`,
);

/** Several numbers are one text, `1,2,3`: as columns they would take most of the time of a read. */
interface PeriodRow {
  readonly period: string;
  readonly model: string;
  /** In the order of `AMOUNTS`. */
  readonly amounts: string;
  /** Counts by bucket; absent if the query does not ask for them. */
  readonly first_byte?: string;
  readonly queue?: string;
  readonly total?: string;
}

const providersOf = valueOf<{ ownerId: string }, string>(
  'select id from providers where owner_id = @ownerId',
);

function* subjectsOf(of: UsageOf): Operation<readonly string[]> {
  if (of.kind === 'owner') return yield* providersOf.all({ ownerId: of.id });
  return [of.kind === 'gateway' ? GATEWAY : of.id];
}

const readings = new Map<string, Statement<object, PeriodRow>>();
const rankings = new Map<string, Statement<object, string>>();

/** One statement for each form of a query: an engine keeps what it has prepared. */
function readingOf(query: UsagePeriodsQuery): Statement<object, PeriodRow> {
  const { step, models } = query;
  const period = step === 'month' ? 'substr(u.period, 1, 7)' : 'u.period';
  const columns = [
    `${period} as period`,
    `${models === null ? `''` : 'u.model'} as model`,
    `${together(AMOUNTS)} as amounts`,
    ...query.durations.map((name) => `${together(bucketsOf(COLUMNS[name]))} as ${COLUMNS[name]}`),
  ];
  const order = 'group by 1, 2 order by 1, sum(requests) desc, 2';
  const lists = models === null ? LISTS : [...LISTS, ['model', 'models'] as const];
  return made(readings, `${columns.join()} ${conditionOf(query)} ${lists.length}`, () =>
    statement<object, PeriodRow>(
      withRowsOf(lists, (rows) => {
        return `select ${columns.join(', ')} ${rows} ${conditionOf(query)} ${order}`;
      }),
    ),
  );
}

/** The models with the most of something. */
function largestOf(query: UsagePeriodsQuery): Statement<object, string> {
  const amount = query.models === null ? 'requests' : AMOUNT_OF[query.models.by];
  const order = `group by 1 order by sum(${amount}) desc, 1 limit @limit`;
  return made(rankings, `${conditionOf(query)} ${order}`, () =>
    valueOf<object, string>(
      withRowsOf(LISTS, (rows) => `select u.model ${rows} ${conditionOf(query)} ${order}`),
    ),
  );
}

function made<Made>(known: Map<string, Made>, name: string, make: () => Made): Made {
  const found = known.get(name) ?? make();
  known.set(name, found);
  return found;
}

const AMOUNT_OF: Readonly<Record<UsageAmount, string>> = {
  requests: 'requests',
  tokens: 'prompt_tokens + completion_tokens',
  errors: 'failed',
  audio: 'audio_ms',
  images: 'images',
};

function together(columns: readonly string[]): string {
  return columns.map((column) => `coalesce(sum(u.${column}), 0)`).join(` || ',' || `);
}

/** Columns of the key, and the parameters with the lists of their values. */
const LISTS = [
  ['period', 'periods'],
  ['subject', 'subjects'],
] as const;

/**
 * A text about the rows `u` whose columns are in the lists. The rows of a subject in a period are
 * adjacent in the key. SQLite finds them by a join: with the list in a condition it would read
 * those of all subjects. PostgreSQL finds them by the condition: it takes each list of a join for
 * a thousand values, and reads the whole table.
 */
function withRowsOf(
  lists: readonly (readonly [column: string, parameter: string])[],
  textOf: (rows: string) => string,
): SqlText {
  const joined = lists.map(([, list]) => `json_each(@${list}) as ${list} cross join`).join(' ');
  const equal = lists.map(([column, list]) => `and u.${column} = ${list}.value`).join(' ');
  const isIn = lists.map(([column, list]) => {
    return `and u.${column} = any (array(select value from json_each(@${list})))`;
  });
  return {
    sqlite: textOf(`from ${joined} usage_periods u where u.step = @step ${equal}`),
    postgres: textOf(`from usage_periods u where u.step = @step ${isIn.join(' ')}`),
  };
}

function conditionOf({ of, model, models }: UsagePeriodsQuery): string {
  if (model !== null) return 'and u.model = @model';
  if (of.kind !== 'gateway') return '';
  return models === null ? `and u.model = '${ALL_MODELS}'` : `and u.model <> '${ALL_MODELS}'`;
}

function toPeriod({ period, model, amounts, ...counts }: PeriodRow): UsagePeriod {
  const [requests = 0, failed = 0, canceled = 0, promptTokens = 0, ...rest] = numbersOf(amounts);
  const [completionTokens = 0, audioMs = 0, images = 0, totalMs = 0, generationMs = 0] = rest;
  const countsOf = (name: DurationName): DurationCounts | null => {
    const written = counts[COLUMNS[name]];
    return written === undefined ? null : numbersOf(written);
  };
  return {
    period,
    model,
    requests,
    ok: requests - failed - canceled,
    failed,
    canceled,
    promptTokens,
    completionTokens,
    audioMs,
    images,
    totalMs,
    generationMs,
    durations: {
      firstByte: countsOf('firstByte'),
      queue: countsOf('queue'),
      total: countsOf('total'),
    },
  };
}

function numbersOf(list: string): number[] {
  return list.split(',').map(Number);
}
