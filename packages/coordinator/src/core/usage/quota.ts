/**
 * Quotas: what a key or a member may use in a day and in a month, both in UTC. Pure rules; `Quotas`
 * keeps the counts.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { filesOf, kindOf } from '@inference-gateway/shared/openai/kinds';
import { askedTokens, promptTokensOf, sizeOf } from './usage-bounds.js';
import type { UsageNumbers } from './usage-bounds.js';

/** What is limited. `audio_s`: seconds of sound, sent or received. */
export const QUOTA_UNITS = ['requests', 'tokens', 'images', 'audio_s'] as const;

export type QuotaUnit = (typeof QUOTA_UNITS)[number];

export const QUOTA_PERIODS = ['day', 'month'] as const;

export type QuotaPeriod = (typeof QUOTA_PERIODS)[number];

/** An absent unit has no limit; 0 allows none. */
export type QuotaLimits = Readonly<Partial<Record<QuotaUnit, number>>>;

export type Quota = Readonly<Record<QuotaPeriod, QuotaLimits>>;

/** The rules of an API key. */
export interface KeyRules extends Quota {
  /** The models that it reaches; null: all that its member may use. */
  readonly models: readonly string[] | null;
  /**
   * The paths at which it may request work, such as `/v1/chat/completions`, with those below them;
   * absent or null: all.
   */
  readonly endpoints?: readonly string[] | null;
}

export interface Amount {
  readonly requests: number;
  /** Of prompts and answers together. */
  readonly tokens: number;
  readonly images: number;
  readonly audioMs: number;
}

export const NOTHING: Amount = { requests: 0, tokens: 0, images: 0, audioMs: 0 };

/** The use in the day and in the month of one moment. */
export type PeriodUse = Readonly<Record<QuotaPeriod, Amount>>;

export function sumOf(one: Amount, other: Amount, sign: 1 | -1 = 1): Amount {
  return {
    requests: one.requests + sign * other.requests,
    tokens: one.tokens + sign * other.tokens,
    images: one.images + sign * other.images,
    audioMs: one.audioMs + sign * other.audioMs,
  };
}

/** What a usage row counts for. */
export function amountOf(row: Omit<UsageNumbers, 'queueMs' | 'firstByteMs' | 'totalMs'>): Amount {
  const { promptTokens, completionTokens, images, audioMs } = row;
  return { requests: 1, tokens: promptTokens + completionTokens, images, audioMs };
}

/** The first millisecond of the period that `at` is in, and the first one after it. */
export function periodAt(period: QuotaPeriod, at: number): { start: number; end: number } {
  const date = new Date(at);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (period === 'month') return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
  const day = date.getUTCDate();
  return { start: Date.UTC(year, month, day), end: Date.UTC(year, month, day + 1) };
}

/** As JSON: what has been used of each unit, limited or not, and when its period ends. */
export function presentUse(use: PeriodUse, now: number) {
  return { day: presentPeriod('day', use, now), month: presentPeriod('month', use, now) };
}

function presentPeriod(period: QuotaPeriod, use: PeriodUse, now: number) {
  const amounts = QUOTA_UNITS.map((unit) => [unit, usedOf(use[period], unit)] as const);
  const used = Object.fromEntries(amounts) as Record<QuotaUnit, number>;
  return { ...used, until: periodAt(period, now).end };
}

function usedOf(amount: Amount, unit: QuotaUnit): number {
  return Math.floor(inUnit(amount, unit));
}

/** The JSON of `presentUse`. */
export type ShownUse = ReturnType<typeof presentUse>;

/** A limit that is reached. */
export interface Spent {
  readonly period: QuotaPeriod;
  readonly unit: QuotaUnit;
  readonly limit: number;
  /** Rounded down for seconds. */
  readonly used: number;
  /** Unix ms of the end of the period. */
  readonly until: number;
  /** The limit is reached only together with what calls under way may still use. */
  readonly isReserved: boolean;
}

interface Standing {
  readonly use: PeriodUse;
  /** What running calls have reserved. */
  readonly reserved: Amount;
  /** What the next call reserves: only units that it uses are checked. */
  readonly asked: Amount;
  /** Unix ms. */
  readonly now: number;
}

/**
 * The limit that refuses one more call; null if none does. A call may start below each limit, so
 * that the last one passes it. Of several, the one that lasts longest.
 */
export function spentLimit(quota: Quota, standing: Standing): Spent | null {
  const { use, reserved, asked, now } = standing;
  let worst: Spent | null = null;
  for (const period of QUOTA_PERIODS) {
    for (const unit of QUOTA_UNITS) {
      const limit = quota[period][unit];
      if (limit === undefined || inUnit(asked, unit) === 0) continue;
      const used = inUnit(use[period], unit);
      if (used + inUnit(reserved, unit) < limit) continue;
      const isReserved = used < limit;
      const until = periodAt(period, now).end;
      const spent = { period, unit, limit, used: Math.floor(used), until, isReserved };
      if (worst === null || outlasts(spent, worst)) worst = spent;
    }
  }
  return worst;
}

function outlasts(one: Spent, other: Spent): boolean {
  if (one.isReserved !== other.isReserved) return other.isReserved;
  return one.until > other.until;
}

/** An amount in the unit of a limit. */
export function inUnit(amount: Amount, unit: QuotaUnit): number {
  return unit === 'audio_s' ? amount.audioMs / 1_000 : amount[unit];
}

/** Each given period replaces all limits of that period. */
export type QuotaChange = { readonly [Period in QuotaPeriod]?: QuotaLimits };

/** Null: no limit is left. */
export function changedQuota(before: Quota | null, change: QuotaChange): Quota | null {
  const { day = before?.day ?? {}, month = before?.month ?? {} } = change;
  const quota = { day, month };
  return isLimited(quota) ? quota : null;
}

/** `models` and `endpoints`: null for all. */
export type RuleChange = QuotaChange & Partial<Pick<KeyRules, 'models' | 'endpoints'>>;

/** Null: no rule is left. */
export function changedRules(before: KeyRules | null, change: RuleChange): KeyRules | null {
  const quota = changedQuota(before, change);
  const { models = before?.models ?? null, endpoints = before?.endpoints ?? null } = change;
  if (quota === null && models === null && endpoints === null) return null;
  return {
    models: models && [...new Set(models)],
    ...(endpoints && { endpoints: [...new Set(endpoints)] }),
    day: quota?.day ?? {},
    month: quota?.month ?? {},
  };
}

/** For the audit log: as the command line writes them; null: no limit. */
export function writtenRules(rules: KeyRules | Quota | null) {
  const { models = null, endpoints = null } = rules !== null && 'models' in rules ? rules : {};
  return {
    models: models?.join(', ') ?? null,
    ...(endpoints && { endpoints: endpoints.join(', ') }),
    day: writtenLimits(rules?.day),
    month: writtenLimits(rules?.month),
  };
}

function writtenLimits(limits: QuotaLimits = {}): string | null {
  const units = QUOTA_UNITS.filter((unit) => limits[unit] !== undefined);
  return units.length === 0 ? null : units.map((unit) => `${unit}=${limits[unit]}`).join(',');
}

/** As it is typed: `requests=100,tokens=50000`; null if it is not of this form. */
export function parseLimits(written: string): QuotaLimits | null {
  const limits = written.split(',').map((part) => {
    const match = /^(\w+)=(\d{1,15})$/.exec(part);
    const unit = QUOTA_UNITS.find((one) => one === match?.[1]);
    return unit === undefined ? null : ([unit, Number(match?.[2])] as const);
  });
  return limits.includes(null) ? null : Object.fromEntries(limits as Entry[]);
}

type Entry = readonly [QuotaUnit, number];

/** Whether it sets any limit. */
export function isLimited(quota: Quota): boolean {
  return QUOTA_PERIODS.some((period) => Object.keys(quota[period]).length > 0);
}

const NOUNS: Readonly<Record<QuotaUnit, string>> = {
  requests: 'requests',
  tokens: 'tokens',
  images: 'images',
  audio_s: 'seconds of audio',
};

/** A sentence: which limit, how much of it is used, and until when. `subject` begins it. */
export function describeSpent(subject: string, spent: Spent): string {
  const { period, unit, limit, used, until, isReserved } = spent;
  const of = `${grouped(limit)} ${NOUNS[unit]} of this ${period}`;
  const end = new Date(until).toISOString();
  if (!isReserved) return `${subject} has used ${grouped(used)} of its ${of}, until ${end}.`;
  return (
    `${subject} has used ${grouped(used)} of its ${of}, until ${end}; ` +
    'the rest is reserved for calls under way.'
  );
}

/** A limit of which this share is used is near. */
const NEAR_SHARE = 0.8;

export type Near = Omit<Spent, 'isReserved'>;

/** The limits of which most is used, or all. */
export function nearLimits(quota: Quota, use: PeriodUse, now: number): readonly Near[] {
  return QUOTA_PERIODS.flatMap((period) =>
    QUOTA_UNITS.flatMap((unit) => {
      const limit = quota[period][unit] ?? 0;
      const used = usedOf(use[period], unit);
      if (limit === 0 || used < limit * NEAR_SHARE) return [];
      return [{ period, unit, limit, used, until: periodAt(period, now).end }];
    }),
  );
}

export function describeNear({ period, unit, limit, used, until }: Near): string {
  const of = `${grouped(limit)} ${NOUNS[unit]} of this ${period}`;
  return `You have used ${grouped(used)} of your ${of}, until ${new Date(until).toISOString()}.`;
}

function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** Reserved for an answer without a limit of its own, for each answer that is asked for. */
export const DEFAULT_ANSWER_TOKENS = 4_096;

/** Reserved for a call with sound: its length is known only at its end. */
export const DEFAULT_AUDIO_MS = 60_000;

/** What a call may use, from its checked body; only `requests` is exact. */
export function askedAmount(endpoint: EndpointKey, body: Uint8Array, fields: Fields): Amount {
  const { counts } = kindOf(endpoint);
  const asked = askedTokens(endpoint, fields);
  const answers = asked && asked.sequences * (asked.maxTokens ?? DEFAULT_ANSWER_TOKENS);
  return {
    requests: 1,
    tokens: answers === null ? 0 : promptTokensOf(sizeOf(body)) + answers,
    images: counts === 'images' ? filesOf(endpoint, fields) : 0,
    audioMs: hasSound(endpoint) ? DEFAULT_AUDIO_MS : 0,
  };
}

/** The same for a queued job, whose body is not read yet. */
export function askedByJob(endpoint: EndpointKey, bodyBytes: number): Amount {
  const { counts } = kindOf(endpoint);
  const prompt = promptTokensOf({ bytes: bodyBytes, media: 0, mediaBytes: 0 });
  return {
    requests: 1,
    tokens: counts === 'tokens' ? prompt + DEFAULT_ANSWER_TOKENS : 0,
    images: counts === 'images' ? 1 : 0,
    audioMs: hasSound(endpoint) ? DEFAULT_AUDIO_MS : 0,
  };
}

type Fields = () => Readonly<Record<string, unknown>>;

function hasSound(endpoint: EndpointKey): boolean {
  return SOUNDING.has(ENDPOINTS[endpoint].serviceType);
}

const SOUNDING: ReadonlySet<string> = new Set(['stt', 'tts', 'music']);
